/* How much there is: memory of this process's machine and of its cgroups,
 * space on a file system. */
#ifndef M2_UTIL_CAPACITY_H
#define M2_UTIL_CAPACITY_H

#include <stdint.h>

/* Bytes; 0 where the system does not tell.  The environment's M2RUN_MEMORY, a
 * number of bytes, makes both smaller. */
struct memory_capacity {
    uint64_t limit;     /* of the machine, or of the tightest cgroup */
    uint64_t available; /* of it, without swapping, at this moment */
};
struct memory_capacity memory_capacity(void);

/* Bytes that may still be written below a path, whose end need not exist yet;
 * 0 where the system does not tell. */
uint64_t disk_available(const char *path);

#endif
