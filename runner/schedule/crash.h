/* A worker that crashed (SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE), or whose
 * run kills one worker after the other, cannot publish its run: its parent
 * does, with state "failed" and the signal as the reason. */
#ifndef M2_SCHEDULE_CRASH_H
#define M2_SCHEDULE_CRASH_H

#include "results/store.h"

struct crash {
    const char *reason;
    const char *last_words; /* what it wrote to stderr: lines that are not in
                               log.txt are added */
};

/* Claims the run, takes over the dead attempt's files, publishes "failed".
 * *path_out is the published folder, which may be another process's and of any
 * state; NULL when somebody else works on the run. */
int crash_publish(const struct run_place *place, const struct crash *crash,
                  char **path_out, struct m2_error *err);

#endif
