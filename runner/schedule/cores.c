/* How many cores this process may use. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "schedule/pool.h"
#include "util/file.h"
#include "util/text.h"

/* cpu.max of a cgroup: "QUOTA PERIOD" in microseconds, or "max PERIOD". */
static int quota_in(const char *dir, int cores)
{
    struct text path = {0}, text = {0};
    long quota, period;

    text_addf(&path, "/sys/fs/cgroup%s/cpu.max", dir);
    if (file_read(text_string(&path), 4096, M2_E_RESULTS, &text, NULL) == 0 &&
        sscanf(text_string(&text), "%ld %ld", &quota, &period) == 2 &&
        quota > 0 && period > 0 && quota / period < cores)
        cores = quota < period ? 1 : (int)(quota / period);
    text_free(&path);
    text_free(&text);
    return cores;
}

/* The quota of the process's own cgroup and of every one above it. */
static int apply_cgroup(int cores)
{
    struct text text = {0};
    char *dir, *end;

    /* without cgroups the file is missing, or empty: then there are no bytes */
    if (file_read("/proc/self/cgroup", 1 << 16, M2_E_RESULTS, &text, NULL) ==
            0 &&
        text.bytes != NULL && (dir = strstr(text.bytes, "0::/")) != NULL) {
        dir += 3;
        dir[strcspn(dir, "\n")] = '\0';
        for (;;) {
            cores = quota_in(dir, cores);
            end = strrchr(dir, '/');
            if (end == NULL)
                break;
            *end = '\0';
        }
    }
    text_free(&text);
    return cores;
}

int cores_allowed(void)
{
    cpu_set_t set;
    int cores = 1;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cores = CPU_COUNT(&set);
    return apply_cgroup(cores > 0 ? cores : 1);
}
