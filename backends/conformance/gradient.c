/* Central differences of fourth order.
 *
 * The objective is the sum over the forward op's outputs of output times the
 * gradient that arrives through it; its derivative by an input is what the
 * backward op must return. */
#include "backends/conformance/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 16 };

/* Truncation grows as step^4, rounding as 1 / step. */
static const double step = 1e-3;

/* The error is relative to the largest element of the gradient, or to this:
 * below it rounding in the objective, whose terms are about 1, would show. */
static const double least_scale = 1e-4;

static const struct trial_layout packed = {0, 0, false, 0};

/* One gradient tensor under test. */
struct tensor {
    const char *name;
    struct trial_view *input; /* what it is the gradient of */
    double *gradient;         /* a copy: the op's result is overwritten */
    int64_t n;
};

static double inner(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Loss ops: the sum of the losses times the scale of the gradient. */
static double loss_objective(const struct trial *forward)
{
    const double *out = trial_result(forward, "out");
    double scale = forward->op == M2_OP_xent ? forward->args.xent.scale
                                             : forward->args.mse.scale;
    if (scale == 0.0)
        scale = out[1] > 0.0 ? 1.0 / out[1] : 0.0;
    return scale * out[0];
}

static double objective(const struct trial *forward,
                        const struct trial *backward)
{
    double sum = 0.0;
    if (backward == NULL)
        return loss_objective(forward);
    for (size_t i = 0; i < forward->n; i++) {
        char name[32];
        snprintf(name, sizeof name, "d%s", forward->arguments[i].name);
        const struct trial_view *arrives = trial_view(backward, name);
        const struct trial_view *output = &forward->views[i];
        int at = trial_find(backward, name);
        if (arrives == NULL || !trial_writes(forward, i) ||
            backward->arguments[at].role != OP_INPUT)
            continue;
        sum +=
            inner(arrives->values, output->result, output->rows * output->cols);
    }
    return sum;
}

/* What is differentiated, and where. */
struct probe {
    struct bench *bench;
    struct trial *forward;
    const struct trial *backward;
};

/* The objective with one input element moved by offset. */
static int shifted(const struct probe *probe, double *element, double offset,
                   double *out, struct m2_error *err)
{
    double before = *element;
    *element = before + offset;
    int code = trial_run(probe->bench, probe->forward, &packed, err);
    *element = before;
    if (code == M2_OK)
        *out = objective(probe->forward, probe->backward);
    return code;
}

static int difference_at(const struct probe *probe, double *element,
                         double *out, struct m2_error *err)
{
    static const double offsets[4] = {-2, -1, 1, 2};
    static const double weights[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        double value;
        int code = shifted(probe, element, offsets[i] * step, &value, err);
        if (code)
            return code;
        sum += weights[i] * value;
    }
    *out = sum / step;
    return M2_OK;
}

static int measure_tensor(const struct probe *probe,
                          const struct tensor *tensor,
                          struct gradient_error *out, struct m2_error *err)
{
    int64_t samples = tensor->n < SAMPLES ? tensor->n : SAMPLES;
    double scale = least_scale;
    for (int64_t i = 0; i < tensor->n; i++)
        scale = fmax(scale, fabs(tensor->gradient[i]));
    for (int64_t k = 0; k < samples; k++) {
        int64_t i = k * tensor->n / samples;
        double want;
        int code = difference_at(probe, &tensor->input->values[i], &want, err);
        if (code)
            return code;
        double error = fabs(tensor->gradient[i] - want) / scale;
        if (!isfinite(error))
            error = INFINITY;
        if (out->tensor && error <= out->worst.error)
            continue;
        out->tensor = tensor->name;
        out->worst = (struct difference){error, i, tensor->gradient[i], want};
    }
    return M2_OK;
}

/* The result of argument i of the op with the gradients, without what was in
 * the tensor before when it is added to. */
static double *copy_gradient(const struct trial *trial, size_t i)
{
    const struct trial_view *view = &trial->views[i];
    int64_t n = view->rows * view->cols;
    double *copy = malloc(((size_t)n + 1) * sizeof *copy);
    bool added = trial->arguments[i].role == OP_ACCUMULATED;
    for (int64_t j = 0; copy && j < n; j++)
        copy[j] = view->result[j] - (added ? view->values[j] : 0.0);
    return copy;
}

int gradient_measure(struct bench *bench, struct trial *forward,
                     struct trial *backward, struct gradient_error *out,
                     struct m2_error *err)
{
    struct trial *gradients = backward ? backward : forward;
    const struct probe probe = {bench, forward, backward};
    *out = (struct gradient_error){.tensor = NULL};
    int code = trial_run(bench, gradients, &packed, err);
    for (size_t i = 0; code == M2_OK && i < gradients->n; i++) {
        const char *name = gradients->arguments[i].name;
        int of = name[0] == 'd' ? trial_find(forward, name + 1) : -1;
        if (of < 0 || !trial_writes(gradients, i) ||
            forward->views[of].values == NULL)
            continue;
        struct tensor tensor = {
            .name = name,
            .input = &forward->views[of],
            .gradient = copy_gradient(gradients, i),
            .n = gradients->views[i].rows * gradients->views[i].cols,
        };
        if (tensor.gradient == NULL)
            return m2_fail(err, M2_E_MEMORY, "no memory for a gradient");
        code = measure_tensor(&probe, &tensor, out, err);
        free(tensor.gradient);
    }
    return code;
}
