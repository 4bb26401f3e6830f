/* The end of a run's log. */
#ifndef M2_SCHEDULE_LOG_TAIL_H
#define M2_SCHEDULE_LOG_TAIL_H

#include <stddef.h>

#include "m2_plugin.h"
#include "util/text.h"

/* Adds the last `most` lines of DIR/log.txt that are not empty, oldest first.
 * A log that is not there has none. */
int log_tail(const char *dir, size_t most, struct string_list *out,
             struct m2_error *err);

#endif
