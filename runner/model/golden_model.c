/* Golden cases of whole models and of one step at a time. */
#include <stdlib.h>
#include <string.h>

#include "model/golden.h"
#include "model/golden_private.h"
#include "model/parameters.h"
#include "util/memory.h"

static int upload_batch(const struct golden_case *c, struct model *model,
                        int64_t B, bool lm, struct m2_error *err)
{
    struct m2_view input = model_input(model, B);
    struct m2_view target = model_target(model, B);
    const struct golden_tensor *x = NULL, *y = NULL;
    int result = golden_need(c, lm ? "in.ids" : "in.x", &x, err);

    if (result == 0)
        result = golden_need(c, lm ? "in.labels" : "in.target", &y, err);
    if (result == 0)
        result = golden_upload(c, &input, x->values, err);
    return result == 0 ? golden_upload(c, &target, y->values, err) : result;
}

/* out[0] / out[1] of the loss op: the mean. */
static int check_loss(struct golden_case *c, const struct model *model,
                      struct m2_error *err)
{
    struct m2_view view = model_loss(model);
    double out[3], mean;
    int result = view_download(c->device, &view, out, err);

    if (result != 0)
        return result;
    mean = out[1] > 0 ? out[0] / out[1] : 0;
    golden_check(c, "loss", &mean, 1);
    return 0;
}

/* "resid.i": what leaves layer i, every row.  With readout LAST the model
 * itself computes one row of the last layer, so that a second model, with
 * readout ALL and the same parameters, gives them. */
static int check_residuals(struct golden_case *c, struct golden_model golden,
                           int64_t B, int64_t L, struct m2_error *err)
{
    struct model *model = NULL;
    struct m2_view input;
    const struct golden_tensor *x;
    bool lm = golden.config.head == HEAD_LM;
    int result = golden_need(c, lm ? "in.ids" : "in.x", &x, err);

    golden.config.readout = READOUT_ALL;
    if (result == 0)
        result = golden_model_create(c, &golden, B, L, &model, err);
    if (result == 0)
        result = golden_upload_parameters(c, model, err);
    if (result == 0) {
        input = model_input(model, B);
        result = golden_upload(c, &input, x->values, err);
    }
    if (result == 0)
        result = model_forward(model, B, err);
    for (int64_t i = 0; i < golden.config.n_layer && result == 0; i++) {
        char name[40], activation[40];
        struct m2_view view;

        snprintf(name, sizeof name, "resid.%lld", (long long)i);
        snprintf(activation, sizeof activation, "layers.%lld.resid",
                 (long long)i);
        if (!model_activation(model, B, activation, &view))
            result =
                m2_fail(err, M2_E_INTERNAL, "no activation %s", activation);
        else
            result = golden_check_view(c, name, &view, err);
    }
    model_free(model);
    return result;
}

int golden_run_model(struct golden_case *c, struct m2_error *err)
{
    struct golden_model golden;
    const struct golden_tensor *x;
    struct model *model = NULL;
    struct m2_view view;
    int64_t B, L;
    bool lm;
    int result = golden_model_of(c, &golden, err);

    if (result != 0)
        return result;
    lm = golden.config.head == HEAD_LM;
    result = golden_need(c, lm ? "in.ids" : "in.x", &x, err);
    if (result != 0)
        return result;
    B = x->shape[0];
    L = x->shape[1];
    result = golden_model_create(c, &golden, B, L, &model, err);
    if (result == 0)
        result = golden_upload_parameters(c, model, err);
    if (result == 0)
        result = upload_batch(c, model, B, lm, err);
    if (result == 0)
        result = model_forward_backward(model, B, 0, err);
    if (result == 0)
        result = check_loss(c, model, err);
    if (result == 0) {
        view = model_output(model, B);
        result = golden_check_view(c, "output", &view, err);
    }
    if (result == 0) {
        view = model_gradients(model);
        result = golden_check_arena(c, "grad.", model, &view, err);
    }
    if (result == 0 && !lm) {
        view = model_input_gradient(model, B);
        result = golden_check_view(c, "dx", &view, err);
    }
    model_free(model);
    return result == 0 ? check_residuals(c, golden, B, L, err) : result;
}

/* Column t of x (B, L, width) into out (B, width). */
static void time_slice(const struct golden_tensor *x, int64_t t, double *out)
{
    int64_t B = x->shape[0], L = x->shape[1], width = x->n / (B * L);

    for (int64_t b = 0; b < B; b++)
        memcpy(out + b * width, x->values + (b * L + t) * width,
               (size_t)width * sizeof *out);
}

/* One step with x at time t; the output goes to its rows of all (B, L, width).
 */
static int step(const struct golden_case *c, struct model_stepper *stepper,
                const struct golden_tensor *x, int64_t t, double *all,
                struct m2_error *err)
{
    struct m2_view input = model_stepper_input(stepper);
    struct m2_view output = model_stepper_output(stepper);
    int64_t L = x->shape[1], width = output.cols;
    size_t n = (size_t)(output.rows * width + input.rows * input.cols);
    double *values = memory_zeroed(n, sizeof *values, err);
    int result;

    if (values == NULL)
        return M2_E_MEMORY;
    time_slice(x, t, values);
    result = golden_upload(c, &input, values, err);
    if (result == 0)
        result = model_stepper_step(stepper, err);
    if (result == 0)
        result = view_download(c->device, &output, values, err);
    for (int64_t b = 0; b < output.rows && result == 0; b++)
        memcpy(all + (b * L + t) * width, values + b * width,
               (size_t)width * sizeof *values);
    free(values);
    return result;
}

static int check_states(struct golden_case *c,
                        const struct model_stepper *stepper, int64_t n_layer,
                        struct m2_error *err)
{
    int result = 0;

    for (int64_t i = 0; i < n_layer && result == 0; i++) {
        struct m2_view conv = model_stepper_conv_state(stepper, i);
        struct m2_view ssm = model_stepper_ssm_state(stepper, i);
        char name[32];

        snprintf(name, sizeof name, "conv_state.%lld", (long long)i);
        result = golden_check_view(c, name, &conv, err);
        snprintf(name, sizeof name, "ssm_state.%lld", (long long)i);
        if (result == 0)
            result = golden_check_view(c, name, &ssm, err);
    }
    return result;
}

static int run_stepper(struct golden_case *c, struct model *model,
                       const struct golden_tensor *x, int64_t n_layer,
                       struct m2_error *err)
{
    struct model_stepper *stepper;
    struct m2_view output;
    int64_t n = 0;
    double *all = NULL;
    int result = model_stepper_create(model, x->shape[0], &stepper, err);

    if (result != 0)
        return result;
    output = model_stepper_output(stepper);
    n = output.rows * x->shape[1] * output.cols;
    all = memory_zeroed((size_t)n, sizeof *all, err);
    result = all == NULL ? M2_E_MEMORY : 0;
    for (int64_t t = 0; t < x->shape[1] && result == 0; t++)
        result = step(c, stepper, x, t, all, err);
    if (result == 0)
        golden_check(c, "output_each_step", all, n);
    if (result == 0)
        result = check_states(c, stepper, n_layer, err);
    free(all);
    model_stepper_free(stepper);
    return result;
}

int golden_run_steps(struct golden_case *c, struct m2_error *err)
{
    struct golden_model golden;
    const struct golden_tensor *x = NULL;
    struct model *model = NULL;
    struct m2_view view;
    int result = golden_model_of(c, &golden, err);

    if (result == 0)
        result = golden_need(
            c, golden.config.head == HEAD_LM ? "in.ids" : "in.x", &x, err);
    if (result == 0)
        result = golden_model_create(c, &golden, x->shape[0], x->shape[1],
                                     &model, err);
    if (result == 0)
        result = golden_upload_parameters(c, model, err);
    if (result == 0) {
        view = model_input(model, x->shape[0]);
        result = golden_upload(c, &view, x->values, err);
    }
    if (result == 0)
        result = model_forward(model, x->shape[0], err);
    if (result == 0) {
        view = model_output(model, x->shape[0]);
        result = golden_check_view(c, "output_full", &view, err);
    }
    if (result == 0)
        result = run_stepper(c, model, x, golden.config.n_layer, err);
    model_free(model);
    return result;
}

static int run_inverse_softplus(struct golden_case *c, struct m2_error *err)
{
    const struct golden_tensor *dt;
    double *bias;
    int result = golden_need(c, "in.dt", &dt, err);

    if (result != 0)
        return result;
    bias = memory_zeroed((size_t)dt->n, sizeof *bias, err);
    if (bias == NULL)
        return M2_E_MEMORY;
    for (int64_t i = 0; i < dt->n; i++)
        bias[i] = inverse_softplus(dt->values[i]);
    golden_check(c, "dt_bias", bias, dt->n);
    free(bias);
    return 0;
}

const struct golden_kind *model_golden_kinds(size_t *n)
{
    static const struct golden_kind kinds[] = {
        {"block", golden_run_block, NULL},
        {"model_regression", golden_run_model, NULL},
        {"model_lm", golden_run_model, NULL},
        {"step_inference", golden_run_steps, NULL},
        {"inverse_softplus", run_inverse_softplus, NULL},
    };

    *n = sizeof kinds / sizeof *kinds;
    return kinds;
}
