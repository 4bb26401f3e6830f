/* Memory and disk that there are. */
#include "util/capacity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "util/file.h"
#include "util/number.h"
#include "util/text.h"

/* A line "NAME:  1234 kB" of /proc/meminfo. */
static uint64_t read_meminfo(const struct text *text, const char *name)
{
    const char *line = strstr(text_string(text), name);
    uint64_t kib;

    if (line == NULL || sscanf(line + strlen(name), ": %" SCNu64, &kib) != 1)
        return 0;
    return kib << 10;
}

/* A file with one number; false for "max", and where it is missing. */
static bool read_number(const char *dir, const char *name, uint64_t *out)
{
    struct text path = {0}, text = {0};
    bool found;

    text_addf(&path, "%s/%s", dir, name);
    found =
        file_read(text_string(&path), 4096, M2_E_RESULTS, &text, NULL) == 0 &&
        sscanf(text_string(&text), "%" SCNu64, out) == 1;
    text_free(&path);
    text_free(&text);
    return found;
}

/* What the file cache holds would be given back. */
static uint64_t read_cache(const char *dir)
{
    struct text path = {0}, text = {0};
    const char *line = NULL;
    uint64_t bytes = 0;

    text_addf(&path, "%s/memory.stat", dir);
    if (file_read(text_string(&path), 1 << 16, M2_E_RESULTS, &text, NULL) == 0)
        line = strstr(text_string(&text), "\ninactive_file ");
    if (line != NULL)
        sscanf(line, "\ninactive_file %" SCNu64, &bytes);
    text_free(&path);
    text_free(&text);
    return bytes;
}

/* One cgroup, of version 2 or 1. */
static void apply_cgroup(const char *dir, struct memory_capacity *out)
{
    uint64_t limit, used, cache = read_cache(dir);
    bool has_use;

    if (!read_number(dir, "memory.max", &limit) &&
        !read_number(dir, "memory.limit_in_bytes", &limit))
        return;
    has_use = read_number(dir, "memory.current", &used) ||
              read_number(dir, "memory.usage_in_bytes", &used);
    if (limit < out->limit)
        out->limit = limit;
    if (!has_use)
        return;
    used -= cache < used ? cache : used;
    limit -= used < limit ? used : limit;
    if (limit < out->available)
        out->available = limit;
}

/* The process's own cgroup in a line of /proc/self/cgroup, and all above. */
static void apply_cgroups(const char *mount, char *dir,
                          struct memory_capacity *out)
{
    struct text path = {0};
    char *end;

    dir[strcspn(dir, "\n")] = '\0';
    do {
        text_clear(&path);
        text_addf(&path, "%s%s", mount, dir);
        apply_cgroup(text_string(&path), out);
        end = strrchr(dir, '/');
        if (end != NULL)
            *end = '\0';
    } while (end != NULL);
    text_free(&path);
}

/* What the user gives us, of what there is. */
static void apply_wish(struct memory_capacity *out)
{
    const char *wish = getenv("M2RUN_MEMORY");
    int64_t bytes;

    if (wish == NULL || !number_parse_int(wish, &bytes) || bytes <= 0)
        return;
    if ((uint64_t)bytes < out->limit)
        out->limit = (uint64_t)bytes;
    if ((uint64_t)bytes < out->available)
        out->available = (uint64_t)bytes;
}

struct memory_capacity memory_capacity(void)
{
    struct memory_capacity out = {0};
    struct text text = {0};
    char *old, *unified;

    if (file_read("/proc/meminfo", 1 << 16, M2_E_RESULTS, &text, NULL) == 0) {
        out.limit = read_meminfo(&text, "MemTotal");
        out.available = read_meminfo(&text, "MemAvailable");
    }
    text_clear(&text);
    if (file_read("/proc/self/cgroup", 1 << 16, M2_E_RESULTS, &text, NULL) ==
            0 &&
        text.bytes != NULL) {
        old = strstr(text.bytes, ":memory:/");
        unified = strstr(text.bytes, "0::/");
        if (old != NULL)
            apply_cgroups("/sys/fs/cgroup/memory", old + strlen(":memory:"),
                          &out);
        if (unified != NULL)
            apply_cgroups("/sys/fs/cgroup", unified + strlen("0::"), &out);
    }
    text_free(&text);
    apply_wish(&out);
    return out;
}

uint64_t disk_available(const char *path)
{
    struct statvfs facts;
    struct text dir = {0};
    bool found;

    text_add(&dir, path);
    found = statvfs(text_string(&dir), &facts) == 0;
    while (!found && dir.bytes != NULL) {
        char *end = strrchr(dir.bytes, '/');

        if (end == NULL || end == dir.bytes)
            break;
        *end = '\0';
        found = statvfs(dir.bytes, &facts) == 0;
    }
    if (!found)
        found = statvfs(*path == '/' ? "/" : ".", &facts) == 0;
    text_free(&dir);
    return found ? (uint64_t)facts.f_bavail * facts.f_frsize : 0;
}
