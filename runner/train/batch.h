/* A dataset on the device, and batches of windows cut from it.
 *
 * The series are uploaded once; a batch is the list of its first rows.  For
 * readout ALL every row of a window has its own target (the horizon after
 * it), cut as B*L windows of length 1. */
#ifndef M2_TRAIN_BATCH_H
#define M2_TRAIN_BATCH_H

#include "data/dataset.h"
#include "model/model.h"

#define BATCH_NORM_EPS 1e-5 /* inside the root of window_norm: zscore */

struct batcher; /* opaque */

/* Batches of up to B windows for a model with this config. */
int batcher_create(struct m2_device *device, const struct dataset *dataset,
                   const struct config *config, int64_t B, struct batcher **out,
                   struct m2_error *err);
void batcher_free(struct batcher *batcher);

/* Cuts the b windows that start at `starts` into the model's input and, when
 * with_target is true, its target.  Live windows have no complete target. */
int batcher_gather(struct batcher *batcher, struct model *model,
                   const int32_t *starts, int64_t b, bool with_target,
                   struct m2_error *err);

/* Undoes window_norm on predictions (b, width), in place, for the batch that
 * was gathered last. */
int batcher_undo_norm(struct batcher *batcher, double *predictions, int64_t b,
                      struct m2_error *err);

/* Bytes on the device that a dataset of S rows takes. */
uint64_t batcher_bytes(const struct dataset *dataset,
                       const struct config *config, int64_t B);

/* Predictions in scaled units of n windows: out (n, width), rows in the order
 * of starts, batches of the batcher's B (a microbatch while training, which is
 * what there is memory for), the last one partial.  With
 * readout ALL the prediction is that of the last row. */
int predict_windows(struct batcher *batcher, struct model *model,
                    const int32_t *starts, int64_t n, double *out,
                    struct m2_error *err);

#endif
