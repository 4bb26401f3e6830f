/* Golden cases of ops whose tensors only need to be renamed.  Private to
 * backends/conformance. */
#ifndef M2_BACKENDS_CONFORMANCE_GOLDEN_TABLE_H
#define M2_BACKENDS_CONFORMANCE_GOLDEN_TABLE_H

#include "backends/conformance/golden.h"
#include "backends/conformance/trial.h"

/* A tensor of the file and the argument that it is.  The last `merged`
 * dimensions become the columns of the view, the ones before its rows. */
struct golden_argument {
    const char *tensor, *argument;
    int merged;
};

/* How one kind maps to an op and, where it has one, its backward op. */
struct golden_op {
    enum m2_op op;
    /* Scalars, and outputs that no golden tensor gives the shape of; called
     * when the inputs are there. */
    int (*prepare)(const struct golden_case *c, struct trial *trial,
                   struct m2_error *err);
    const struct golden_argument *tensors; /* ends with NULL */
};

/* Runs the op with the inputs of the file, checks its outputs, then the same
 * for the backward op, which starts from what the device's forward saved. */
int golden_run_op(const struct golden_op *op, struct golden_case *c,
                  struct m2_error *err);

/* Fills an argument of a trial from tensor `name` of the file ("in.x"); an
 * optional one stays absent when the file has none. */
int golden_fill(const struct golden_case *c, const char *name,
                const struct golden_argument *to, struct trial *trial,
                struct m2_error *err);

/* Kinds that need code of their own, in golden_special.c. */
int golden_run_loss(struct golden_case *c, struct m2_error *err);
int golden_run_xent(struct golden_case *c, struct m2_error *err);
int golden_run_adamw(struct golden_case *c, struct m2_error *err);
int golden_run_clip(struct golden_case *c, struct m2_error *err);
int golden_run_spectral(struct golden_case *c, struct m2_error *err);
int golden_run_ssd_gen(struct golden_case *c, struct m2_error *err);

/* Runs a trial on the case's device, once. */
int golden_trial(struct golden_case *c, struct trial *trial,
                 struct m2_error *err);

#endif
