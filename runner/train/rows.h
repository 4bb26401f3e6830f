/* The rows of metrics.csv and timing.csv. */
#ifndef M2_TRAIN_ROWS_H
#define M2_TRAIN_ROWS_H

#include "results/csvlog.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"

struct rows; /* opaque: both files of one attempt */

/* Creates the files in the folder, or continues those of `resume_dir` up to
 * the state's byte count.  names: what a validation row holds. */
int rows_open(int dirfd, const char *resume_dir,
              const struct train_state *state, const struct score *names,
              struct rows **out, struct m2_error *err);
void rows_close(struct rows *rows);

/* One row: means since the last row, and the score (NULL: none this time). */
int rows_write(struct rows *rows, const struct train_state *state, double lr,
               const struct score *score, struct m2_error *err);
/* Bytes of metrics.csv so far, all on disk. */
int rows_sync(struct rows *rows, int64_t *bytes_out, struct m2_error *err);

/* Seconds and windows of this process since it began. */
int rows_write_timing(struct rows *rows, int64_t step, double seconds,
                      int64_t samples, struct m2_error *err);

#endif
