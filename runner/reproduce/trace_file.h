/* The trace of every step of a run: line N of the file is the trace after step
 * N, as in metrics.csv.  Every line has the same length, so that a process that
 * goes on from a checkpoint overwrites what follows it. */
#ifndef M2_REPRODUCE_TRACE_FILE_H
#define M2_REPRODUCE_TRACE_FILE_H

#include <stdbool.h>

#include "train/trace.h"

/* Opens for writing, created when it is not there; the caller closes *fd. */
int trace_file_open(const char *path, int *fd_out, struct m2_error *err);
int trace_file_write(int fd, int64_t step, const uint8_t trace[TRACE_BYTES],
                     struct m2_error *err);

/* The trace of a step; false when the file has none. */
bool trace_file_find(const char *path, int64_t step, char out[TRACE_TEXT]);

#endif
