/* M2_EMU: how the emulator behaves; M2_EMU_STATS: what it counted. */
#include "emu.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <limits>

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

/* A whole number from `low` on, decimal or 0x; nothing before or after it. */
template <class N>
static bool set_number(const std::string &value, N low, N *out)
{
    char *end;
    unsigned long long number = strtoull(value.c_str(), &end, 0);

    if (value.empty() || !isdigit((unsigned char)value[0]) || *end != '\0' ||
        number > (unsigned long long)std::numeric_limits<N>::max() ||
        (N)number < low)
        return false;
    *out = (N)number;
    return true;
}

static bool set_switch(const std::string &value, bool *out)
{
    *out = value == "1";
    return *out || value == "0";
}

/* "rand:7" seeds; gives the part before the colon, "" when it is wrong. */
static std::string take_seed(const std::string &value, std::mt19937 *random)
{
    auto parts = split(value, ':');
    unsigned seed;

    if (parts.size() == 1)
        return parts[0];
    if (parts.size() > 2 || parts[0] != "rand" ||
        !set_number(parts[1], 0u, &seed))
        return "";
    random->seed(seed);
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
    long call;
    int error = 0;

    if (parts.size() < name + 1 || parts.size() > name + 2 ||
        parts[name - 1].empty() || !set_number(parts[name], 1L, &call) ||
        (parts.size() == name + 2 && !set_number(parts[name + 1], 1, &error)))
        return false;
    emu.failures.push_back(
        {name == 2 ? parts[0] + ":" + parts[1] : parts[0], call, error});
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
        return set_switch(value, &emu.replay);
    if (key == "collect")
        return set_switch(value, &emu.collect);
    if (key == "devices")
        return set_number(value, 0, &emu.devices);
    if (key == "cc")
        return set_number(value, 10, &emu.capability);
    if (key == "mem")
        return set_number(value, (size_t)0, &emu.memory);
    return false;
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
