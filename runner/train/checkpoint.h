/* Checkpoints: everything a run needs to go on as if it had not stopped.
 *
 * A safetensors file: parameters under the state-spaces names, Adam moments
 * as adam_m.NAME and adam_v.NAME, and the rest as metadata: step, epoch,
 * cursor, row accumulators, early stopping, best metric, trace, bytes of
 * metrics.csv, scaling, identity, backend numerics, and the SHA-256 of all of
 * it.  The bytes are a pure function of identity, step and
 * build: no time, host, path or attempt.
 *
 * Other programs read the parameters with any safetensors library. */
#ifndef M2_TRAIN_CHECKPOINT_H
#define M2_TRAIN_CHECKPOINT_H

#include "model/model.h"
#include "model/safetensors.h"
#include "train/optimiser.h"
#include "train/trace.h"

/* Where the loop stands.  All counters are those after the step. */
struct train_state {
    int64_t step;   /* updates done */
    int64_t epoch;  /* epochs begun before the cursor's, from 0 */
    int64_t cursor; /* windows of the epoch already used */
    uint8_t trace[TRACE_BYTES];
    double row_loss, row_norm; /* sums since the last row of metrics.csv */
    int64_t row_steps;
    double best_value; /* of the metric; NaN before the first evaluation */
    int64_t best_step;
    int64_t bad_evaluations; /* since the best one, for early stopping */
    int64_t metrics_bytes;   /* of metrics.csv */
};

struct checkpoint_identity {
    const char *identity; /* 64 hex digits */
    const char *backend;  /* name */
    const char *numerics; /* session.numerics */
    const char *scaling;  /* scaling_table_print */
};

struct checkpoint_writer; /* opaque: host memory for one model */
int checkpoint_writer_create(struct m2_device *device, struct model *model,
                             struct optimiser *optimiser,
                             struct checkpoint_writer **out,
                             struct m2_error *err);
void checkpoint_writer_free(struct checkpoint_writer *writer);

/* Writes the file atomically; the previous one stays until then.  After a
 * failure of the disk errno is its cause. */
int checkpoint_write(struct checkpoint_writer *writer,
                     const struct file_at *file,
                     const struct checkpoint_identity *identity,
                     const struct train_state *state, struct m2_error *err);

/* Text of the scaling table a checkpoint was trained with, or NULL. */
const char *checkpoint_scaling(const struct st_file *file);

/* Reads a file and proves its SHA-256; the tensors stay in *file (st_free).
 * M2_E_RESULTS when it is damaged or belongs to another identity (NULL: any).
 */
int checkpoint_read(const char *path, const char *identity,
                    struct st_file *file, struct train_state *state,
                    struct m2_error *err);

/* Puts a checkpoint's parameters, and moments unless optimiser is NULL, on
 * the device. */
int checkpoint_restore(const struct st_file *file, struct model *model,
                       struct optimiser *optimiser, struct m2_error *err);

#endif
