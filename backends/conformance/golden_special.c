/* Golden kinds that need more than a renaming: losses, the optimiser, and the
 * scan whose inputs are generated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/conformance/generator.h"
#include "backends/conformance/golden_table.h"
#include "backends/conformance/pairs.h"

/* The files hold the mean; the ops give sum and count. */
static void check_mean_loss(struct golden_case *c, const struct trial *trial)
{
    const double *out = trial_result(trial, "out");
    double mean = out[1] > 0.0 ? out[0] / out[1] : 0.0;
    golden_check(c, "loss", &mean, 1);
}

static int run_loss_trial(struct golden_case *c, struct trial *trial,
                          const char *gradient, struct m2_error *err)
{
    trial_output(trial, "out", 1, 3);
    int code = golden_trial(c, trial, err);
    if (code)
        return code;
    const struct trial_view *view = trial_view(trial, gradient);
    check_mean_loss(c, trial);
    golden_check(c, gradient, view->result, view->rows * view->cols);
    return M2_OK;
}

int golden_run_loss(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument pred = {"pred", "pred", 1};
    static const struct golden_argument target = {"target", "target", 1};
    struct trial trial;
    const struct golden_tensor *shape;
    int op = op_by_name(c->kind + strlen("loss_"));
    int code = golden_need(c, "in.pred", &shape, err);
    if (code)
        return code;
    trial_init(&trial, (enum m2_op)op, 0);
    trial.args.mse.delta = golden_number_or(c, "delta", 1.0);
    code = golden_fill(c, "in.pred", &pred, &trial, err);
    if (code == M2_OK)
        code = golden_fill(c, "in.target", &target, &trial, err);
    trial_output(&trial, "dpred", shape->shape[0], shape->shape[1]);
    if (code == M2_OK)
        code = run_loss_trial(c, &trial, "dpred", err);
    trial_free(&trial);
    return code;
}

int golden_run_xent(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument logits = {"logits", "logits", 1};
    static const struct golden_argument labels = {"labels", "labels", 1};
    struct trial trial;
    const struct golden_tensor *shape;
    int code = golden_need(c, "in.logits", &shape, err);
    if (code)
        return code;
    trial_init(&trial, M2_OP_xent, 0);
    trial.args.xent.ignore = (int64_t)golden_number_or(c, "ignore_index", -100);
    code = golden_fill(c, "in.logits", &logits, &trial, err);
    if (code == M2_OK)
        code = golden_fill(c, "in.labels", &labels, &trial, err);
    trial_output(&trial, "dlogits", shape->shape[0], shape->shape[1]);
    if (code == M2_OK)
        code = run_loss_trial(c, &trial, "dlogits", err);
    trial_free(&trial);
    return code;
}

static int adamw_scalars(const struct golden_case *c, struct trial *trial,
                         double *lr, struct m2_error *err)
{
    struct m2_adamw *a = &trial->args.adamw;
    int code = golden_number(c, "lr", lr, err);
    if (code == M2_OK)
        code = golden_number(c, "beta1", &a->beta1, err);
    if (code == M2_OK)
        code = golden_number(c, "beta2", &a->beta2, err);
    if (code == M2_OK)
        code = golden_number(c, "eps", &a->eps, err);
    if (code == M2_OK)
        code = golden_number(c, "weight_decay", &a->weight_decay, err);
    return code;
}

/* What a step left becomes what the next one starts from. */
static void carry(struct trial *trial, const char *name)
{
    const struct trial_view *view = trial_view(trial, name);
    memcpy(view->values, view->result,
           (size_t)(view->rows * view->cols) * sizeof *view->values);
}

static int adamw_step(struct golden_case *c, struct trial *trial, int64_t t,
                      double lr, struct m2_error *err)
{
    const struct golden_tensor *g = golden_find(c, "in.g");
    int64_t n = g->shape[1];
    double *step = trial_values(trial, "step", 1, 3);
    double *gradient = trial_values(trial, "g", 1, n);
    if (step == NULL || gradient == NULL)
        return m2_fail(err, M2_E_MEMORY, "no memory for a golden case");
    step[0] = lr;
    step[1] = 1.0 - pow(trial->args.adamw.beta1, (double)(t + 1));
    step[2] = 1.0 - pow(trial->args.adamw.beta2, (double)(t + 1));
    memcpy(gradient, g->values + t * n, (size_t)n * sizeof *gradient);
    int code = golden_trial(c, trial, err);
    if (code == M2_OK) {
        carry(trial, "p");
        carry(trial, "m");
        carry(trial, "v");
    }
    return code;
}

/* All steps; each (steps, n) takes the parameters after every one. */
static int adamw_steps(struct golden_case *c, struct trial *trial, double *each,
                       struct m2_error *err)
{
    const struct golden_tensor *g = golden_find(c, "in.g");
    int64_t steps = g->shape[0], n = g->shape[1];
    double lr;
    int code = adamw_scalars(c, trial, &lr, err);
    for (int64_t t = 0; code == M2_OK && t < steps; t++) {
        code = adamw_step(c, trial, t, lr, err);
        if (code == M2_OK)
            memcpy(each + t * n, trial_result(trial, "p"),
                   (size_t)n * sizeof *each);
    }
    if (code)
        return code;
    golden_check(c, "p_each", each, steps * n);
    golden_check(c, "m", trial_result(trial, "m"), n);
    golden_check(c, "v", trial_result(trial, "v"), n);
    return M2_OK;
}

int golden_run_adamw(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument p = {"p", "p", 1};
    struct trial trial;
    const struct golden_tensor *g;
    int code = golden_need(c, "in.g", &g, err);
    if (code)
        return code;
    trial_init(&trial, M2_OP_adamw, 0);
    trial_values(&trial, "m", 1, g->shape[1]);
    trial_values(&trial, "v", 1, g->shape[1]);
    double *finite = trial_values(&trial, "finite", 1, 1);
    double *each = calloc((size_t)g->n + 1, sizeof *each);
    if (finite == NULL || each == NULL)
        code = m2_fail(err, M2_E_MEMORY, "no memory for a golden case");
    else
        *finite = 1.0;
    if (code == M2_OK)
        code = golden_fill(c, "in.p", &p, &trial, err);
    if (code == M2_OK)
        code = adamw_steps(c, &trial, each, err);
    free(each);
    trial_free(&trial);
    return code;
}

/* Adds one gradient to the sum of squares. */
static int clip_sum(struct golden_case *c, const struct golden_tensor *g,
                    double *sumsq, struct m2_error *err)
{
    const struct golden_argument x = {"", "x", 1};
    struct trial trial;
    trial_init(&trial, M2_OP_sumsq, 0);
    trial.args.sumsq.accumulate = 1;
    int code = golden_fill(c, g->name, &x, &trial, err);
    double *out = trial_values(&trial, "out", 1, 1);
    if (code == M2_OK && out != NULL) {
        *out = *sumsq;
        code = golden_trial(c, &trial, err);
    }
    if (code == M2_OK)
        *sumsq = *trial_result(&trial, "out");
    trial_free(&trial);
    return code;
}

static int clip_one(struct golden_case *c, const struct golden_tensor *g,
                    double sumsq, struct m2_error *err)
{
    const struct golden_argument x = {"", "x", 1};
    struct trial trial;
    trial_init(&trial, M2_OP_clip, 0);
    int code = golden_number(c, "max_norm", &trial.args.clip.max_norm, err);
    if (code == M2_OK)
        code = golden_fill(c, g->name, &x, &trial, err);
    double *value = trial_values(&trial, "sumsq", 1, 1);
    trial_output(&trial, "out", 1, 3);
    if (code == M2_OK && value != NULL) {
        *value = sumsq;
        code = golden_trial(c, &trial, err);
    }
    if (code == M2_OK) {
        golden_check(c, g->name + strlen("in."), trial_result(&trial, "x"),
                     g->n);
        golden_check(c, "norm", trial_result(&trial, "out"), 1);
    }
    trial_free(&trial);
    return code;
}

int golden_run_clip(struct golden_case *c, struct m2_error *err)
{
    double sumsq = 0.0;
    int code = M2_OK;
    for (size_t i = 0; code == M2_OK && i < c->file.n; i++)
        if (strncmp(c->file.tensors[i].name, "in.", 3) == 0)
            code = clip_sum(c, &c->file.tensors[i], &sumsq, err);
    for (size_t i = 0; code == M2_OK && i < c->file.n; i++)
        if (strncmp(c->file.tensors[i].name, "in.", 3) == 0)
            code = clip_one(c, &c->file.tensors[i], sumsq, err);
    return code;
}

/* Without a reference step the files mean the continuous constraint. */
int golden_run_spectral(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument a_log = {"A_log", "a_log", 1};
    struct trial trial;
    trial_init(&trial, M2_OP_spectral, 0);
    struct m2_spectral *a = &trial.args.spectral;
    int code = golden_number(c, "rho", &a->rho, err);
    if (code == M2_OK)
        code = golden_number(c, "dt_ref", &a->dt_ref, err);
    if (code == M2_OK)
        code = golden_fill(c, "in.A_log", &a_log, &trial, err);
    a->mode = M2_SPECTRAL_DISCRETE;
    if (isinf(a->dt_ref)) {
        a->mode = M2_SPECTRAL_CONTINUOUS;
        a->dt_ref = 0.01; /* not used */
    }
    if (code == M2_OK)
        code = golden_trial(c, &trial, err);
    const struct trial_view *view = trial_view(&trial, "a_log");
    if (code == M2_OK)
        golden_check(c, "A_log", view->result, view->cols);
    trial_free(&trial);
    return code;
}
