/* Golden cases of whole models: kinds for the conformance suite (block,
 * model_regression, model_lm, step_inference, inverse_softplus) and what the
 * training kinds (train/golden_kinds.h) share with them. */
#ifndef M2_MODEL_GOLDEN_H
#define M2_MODEL_GOLDEN_H

#include "backends/conformance/golden.h"
#include "model/model.h"

const struct golden_kind *model_golden_kinds(size_t *n);

/* The configuration in a case's manifest entry. */
struct golden_model {
    struct config_model config;
    int64_t n_features, n_outputs, n_vocab;
};
int golden_model_of(const struct golden_case *c, struct golden_model *out,
                    struct m2_error *err);

/* "loss" of the scalars; mse when there is none. */
int golden_loss_of(const struct golden_case *c, enum loss_kind *out,
                   struct m2_error *err);

/* A model for windows of (B, L) that computes everything golden vectors hold,
 * its input gradient too. */
int golden_model_create(const struct golden_case *c,
                        const struct golden_model *golden, int64_t B, int64_t L,
                        struct model **out, struct m2_error *err);

/* Downloads a real or f64 view and compares it with output `name`. */
int golden_check_view(struct golden_case *c, const char *name,
                      const struct m2_view *view, struct m2_error *err);
/* The same for each parameter's part of an arena, as PREFIX + its name. */
int golden_check_arena(struct golden_case *c, const char *prefix,
                       const struct model *model, const struct m2_view *arena,
                       struct m2_error *err);

/* Uploads "in.param.NAME" for every parameter. */
int golden_upload_parameters(const struct golden_case *c, struct model *model,
                             struct m2_error *err);

/* Uploads values, or token numbers given as doubles, where view's type says
 * so.  values has rows*cols elements. */
int golden_upload(const struct golden_case *c, const struct m2_view *view,
                  const double *values, struct m2_error *err);

#endif
