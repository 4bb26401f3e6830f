/* What the system knows of this process, and what this process inherits. */
#ifndef M2_UTIL_PROCESS_H
#define M2_UTIL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Before anything is opened: standard streams that are closed are opened so
 * that using them fails, for no file may take their numbers and then get what
 * is printed; and a file beyond the limit of sizes fails to be written, as on
 * a full disk, instead of ending the process. */
void process_begin(void);

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
