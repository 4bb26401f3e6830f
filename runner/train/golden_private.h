/* Golden cases of training: what their two files share. */
#ifndef M2_TRAIN_GOLDEN_PRIVATE_H
#define M2_TRAIN_GOLDEN_PRIVATE_H

#include "model/golden.h"
#include "train/optimiser.h"

/* Batches of a training: nb of them, one after another. */
struct golden_batches {
    int64_t nb, B, L;
    const double *input, *target;
};

/* A training under way: model and optimiser as the case's scalars say. */
struct golden_training {
    struct golden_case *c;
    struct config config; /* what the optimiser reads of it */
    struct model *model;
    struct optimiser *optimiser;
    struct golden_batches batches;
    int64_t steps;
};

/* Optimiser for a model that has its parameters. */
int golden_training_start(struct golden_case *c,
                          const struct golden_model *golden,
                          const struct golden_batches *batches,
                          struct model *model, struct golden_training *out,
                          struct m2_error *err);
void golden_training_end(struct golden_training *training);

/* Uploads batch i to the model. */
int golden_training_batch(const struct golden_training *training, int64_t i,
                          struct m2_error *err);

/* Loss, gradients from zero, backward of what was uploaded; the mean loss. */
int golden_training_gradients(const struct golden_training *training,
                              double *loss, struct m2_error *err);

/* All steps; checks PREFIX + "loss", "grad_norm" and "lr". */
int golden_training_run(struct golden_training *training, const char *prefix,
                        struct m2_error *err);

/* seed_model, in golden_seed_model.c */
int golden_run_seed_model(struct golden_case *c, struct m2_error *err);

#endif
