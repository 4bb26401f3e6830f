/* What the system knows of this process. */
#ifndef M2_UTIL_PROCESS_H
#define M2_UTIL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Resident memory in bytes, now and at most so far; 0 where /proc does not
 * tell. */
struct process_memory {
    uint64_t now, peak;
};
struct process_memory process_memory(void);

/* Forgets the peak, where the system allows it; false otherwise. */
bool process_memory_reset_peak(void);

/* Seconds since the process was started, to 0.01 s; NaN where /proc does not
 * tell. */
double process_age(void);

#endif
