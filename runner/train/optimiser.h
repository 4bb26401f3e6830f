/* One optimiser step on a model's arenas: norm, clipping, AdamW with decay
 * groups, the spectral constraint.  Per-step numbers live on the device. */
#ifndef M2_TRAIN_OPTIMISER_H
#define M2_TRAIN_OPTIMISER_H

#include "model/model.h"

struct optimiser; /* opaque */

int optimiser_create(struct m2_device *device, struct model *model,
                     const struct config *config, struct optimiser **out,
                     struct m2_error *err);
void optimiser_free(struct optimiser *optimiser);

/* Both Adam moments, (1, n) real, in the arena's order. */
struct m2_view optimiser_first_moment(const struct optimiser *optimiser);
struct m2_view optimiser_second_moment(const struct optimiser *optimiser);

struct optimiser_result {
    double grad_norm; /* before clipping */
    bool finite;      /* false: nothing was updated */
};

/* Update number `step` (from 1) with the gradients in the model's arena, in two
 * halves, so that nothing is read back within a training step: the calls, then,
 * after device_step_end, their result.  also (NULL: nothing): f64 values, as
 * the losses; unless all of them are finite, nothing is updated. */
int optimiser_queue(struct optimiser *optimiser, int64_t step, double lr,
                    const struct m2_view *also, struct m2_error *err);
int optimiser_read(struct optimiser *optimiser, struct optimiser_result *out,
                   struct m2_error *err);

/* Both halves, with nothing beside the gradients. */
int optimiser_step(struct optimiser *optimiser, int64_t step, double lr,
                   struct optimiser_result *out, struct m2_error *err);

#endif
