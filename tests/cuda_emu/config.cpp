/* M2_EMU: how the emulator behaves; M2_EMU_STATS: what it counted. */
#include "emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

emu_config emu;
emu_counts emu_count;

static std::vector<std::string> split(const std::string &text, char at)
{
    std::vector<std::string> parts(1);

    for (char c : text)
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

/* "rand:7" seeds; gives the part before the colon. */
static std::string take_seed(const std::string &value, std::mt19937 *random)
{
    auto parts = split(value, ':');

    if (parts.size() > 1)
        random->seed((unsigned)atoi(parts[1].c_str()));
    return parts[0];
}

static bool set_order(const std::string &value)
{
    std::string order = take_seed(value, &emu.order_random);

    if (order != "asc" && order != "desc" && order != "rand")
        return false;
    emu.order = order == "asc"    ? ORDER_ASCENDING
                : order == "desc" ? ORDER_DESCENDING
                                  : ORDER_RANDOM;
    return true;
}

static bool set_async(const std::string &value)
{
    std::string async = take_seed(value, &emu.async_random);

    if (async != "eager" && async != "lazy" && async != "rand")
        return false;
    emu.async = async == "eager"  ? ASYNC_EAGER
                : async == "lazy" ? ASYNC_LAZY
                                  : ASYNC_RANDOM;
    return true;
}

static bool set_driver(const std::string &value)
{
    if (value != "good" && value != "none" && value != "old")
        return false;
    emu.driver = value == "good"   ? DRIVER_GOOD
                 : value == "none" ? DRIVER_NONE
                                   : DRIVER_OLD;
    return true;
}

/* CALL:K, CALL:K:ERROR, kernel:NAME:K, kernel:NAME:K:ERROR. */
static bool add_failure(const std::string &value)
{
    auto parts = split(value, ':');
    size_t name = parts[0] == "kernel" ? 2 : 1;

    if (parts.size() < name + 1 || parts.size() > name + 2)
        return false;
    emu.failures.push_back(
        {name == 2 ? parts[0] + ":" + parts[1] : parts[0],
         atol(parts[name].c_str()),
         parts.size() == name + 2 ? atoi(parts[name + 1].c_str()) : 0});
    return true;
}

bool emu_set(const std::string &key, const std::string &value)
{
    if (key == "order")
        return set_order(value);
    if (key == "async")
        return set_async(value);
    if (key == "driver")
        return set_driver(value);
    if (key == "fail")
        return add_failure(value);
    if (key == "replay")
        emu.replay = value == "1";
    else if (key == "collect")
        emu.collect = value == "1";
    else if (key == "devices")
        emu.devices = atoi(value.c_str());
    else if (key == "cc")
        emu.capability = atoi(value.c_str());
    else if (key == "mem")
        emu.memory = strtoull(value.c_str(), NULL, 0);
    else
        return false;
    return true;
}

/* Before main: a wrong setting must not run as if it were the default. */
static bool read_environment(void)
{
    const char *text = getenv("M2_EMU");

    if (text == NULL || *text == '\0')
        return true;
    for (const auto &setting : split(text, ',')) {
        size_t equals = setting.find('=');

        if (equals == std::string::npos ||
            !emu_set(setting.substr(0, equals), setting.substr(equals + 1))) {
            fprintf(stderr, "cuda_emu: M2_EMU: '%s' is not understood\n",
                    setting.c_str());
            _Exit(86);
        }
    }
    return true;
}

/* An object's initialiser, because it runs after that of `emu`: a function
 * with the attribute constructor runs before, and is undone by it. */
static const bool environment_is_read = read_environment();

/* A line, because a program may be several processes. */
void emu_write_counts(void)
{
    const char *path = getenv("M2_EMU_STATS");
    FILE *file = path == NULL ? NULL : fopen(path, "a");

    if (file == NULL)
        return;
    fprintf(
        file,
        "{\"calls\": %llu, \"launches\": %llu, \"graph_launches\": %llu, "
        "\"graph_nodes\": %llu, \"mistakes\": %llu, \"live_allocations\": "
        "%zu, \"live_bytes\": %zu, \"pinned\": %zu, \"streams\": %zu, "
        "\"events\": %zu, \"graphs\": %zu, \"blas\": %zu, \"threads\": %llu, "
        "\"accesses\": %llu, \"checks\": %s}\n",
        (unsigned long long)emu_calls("any"),
        (unsigned long long)emu_count.launches,
        (unsigned long long)emu_count.graph_launches,
        (unsigned long long)emu_count.graph_nodes,
        (unsigned long long)emu_count.mistakes, emu_live_count(),
        emu_live_bytes(), emu_pinned_count(), emu_stream_count(),
        emu_event_count(), emu_graph_count(), emu_blas_count(),
        (unsigned long long)emu_count.threads,
        (unsigned long long)emu_count.accesses, emu_checks ? "true" : "false");
    fclose(file);
}
