/* A process of our own program whose output is read whole: what is to be asked
 * of a device or of data is asked in a process of its own. */
#ifndef M2_SCHEDULE_CHILD_H
#define M2_SCHEDULE_CHILD_H

#include "schedule/worker_process.h"

struct child {
    struct worker_process process; /* pid 0: not started */
    struct text out, messages;     /* its stdout and stderr */
};

/* Starts this program with the words after the first, which is filled in;
 * NULL ends them. */
int child_start(struct child *child, const char **argv, struct m2_error *err);

/* Reads everything that the children say until all have closed their pipes; at
 * most CHILD_MAX of them.  An interrupt that is held (util/interrupt.h) is
 * passed on to them as SIGTERM. */
enum { CHILD_MAX = 64 };
void child_listen(struct child *all, size_t n);

/* Waits for the end of one and returns its wait status.  What it said stays,
 * until child_free. */
int child_wait(struct child *child);
void child_free(struct child *child);

/* The last line of what it wrote to stderr, or "" */
const char *child_last_message(struct child *child);

#endif
