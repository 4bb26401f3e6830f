/* One step of training: the next batch of the epoch's order, its gradient as
 * the fixed tree of its microbatches, one optimiser step. */
#ifndef M2_TRAIN_UPDATE_H
#define M2_TRAIN_UPDATE_H

#include "train/optimiser.h"
#include "train/session.h"

struct updater; /* opaque */

int updater_create(struct session *session, int64_t total_steps,
                   struct updater **out, struct m2_error *err);
void updater_free(struct updater *updater);

struct optimiser *updater_optimiser(const struct updater *updater);

/* Learning rate of step `step`, from 0. */
double updater_learning_rate(const struct updater *updater, int64_t step);

/* What a step did. */
struct update {
    int64_t n;        /* windows of the batch */
    double loss;      /* their mean loss, before the update */
    double grad_norm; /* before clipping */
};

/* Update number step (from 0) with the windows of `epoch` that begin at
 * `cursor`.  M2_E_DIVERGED when the loss or a gradient is not finite: err
 * names the first tensor that went bad; AdamW has left the parameters alone
 * if it was a gradient. */
int updater_run(struct updater *updater, int64_t step, int64_t epoch,
                int64_t cursor, struct update *out, struct m2_error *err);

#endif
