/* The progress of a pool: redrawn lines on a terminal, plain lines elsewhere.
 *
 * On a terminal: one line per running job and one for the sweep, at most ten
 * times a second.  Elsewhere: a line per run at most every ten seconds. */
#ifndef M2_SCHEDULE_PROGRESS_H
#define M2_SCHEDULE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/events.h"

struct progress; /* opaque */

/* NULL when out of memory: every function then does nothing. */
struct progress *progress_new(int jobs, size_t n_runs, bool quiet);
void progress_free(struct progress *progress);

/* Slot `slot` works on `label`; NULL: it is free again. */
void progress_start(struct progress *progress, int slot, const char *label);
void progress_update(struct progress *progress, int slot,
                     const struct event *event);
void progress_ended(struct progress *progress, size_t n_ended);

/* A message line for stderr: erases the progress lines first. */
void progress_message(struct progress *progress, const char *line);

#endif
