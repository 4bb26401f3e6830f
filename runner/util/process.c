/* Facts from /proc/self, and what a process inherits. */
#include "util/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void process_begin(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    /* open() takes the lowest number that is free. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            break;
    signal(SIGXFSZ, SIG_IGN);
}

struct process_memory process_memory(void)
{
    struct process_memory memory = {0};
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmRSS: %" SCNu64, &kib) == 1)
            memory.now = kib * 1024;
        if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1)
            memory.peak = kib * 1024;
    }
    if (file != NULL)
        fclose(file);
    return memory;
}

bool process_memory_reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file == NULL)
        return false;
    fputs("5", file);
    return fclose(file) == 0;
}

/* Field 22 of stat: ticks between boot and start.  The second field, the
 * name in parentheses, may hold blanks. */
double process_age(void)
{
    FILE *file = fopen("/proc/self/stat", "r");
    char line[1024] = "";
    uint64_t ticks = 0;
    struct timespec now;
    const char *at;

    if (file == NULL)
        return NAN;
    at = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
    fclose(file);
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL || sscanf(at, "%" SCNu64, &ticks) != 1 ||
        clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return NAN;
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 -
           (double)ticks / (double)sysconf(_SC_CLK_TCK);
}
