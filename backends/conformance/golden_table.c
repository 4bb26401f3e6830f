/* Golden cases of ops, driven by tables of names. */
#include "backends/conformance/golden_table.h"

#include <string.h>

#include "backends/conformance/pairs.h"

static const struct trial_layout packed = {0, 0, false, 0};

int golden_trial(struct golden_case *c, struct trial *trial,
                 struct m2_error *err)
{
    struct bench bench;
    bench_init(&bench, c->device);
    int code = trial_run(&bench, trial, &packed, err);
    bench_free(&bench);
    return code;
}

/* Rows and columns of a tensor whose last dimensions are merged. */
static void matrix_shape(const struct golden_tensor *tensor, int merged,
                         int64_t *rows, int64_t *cols)
{
    *rows = *cols = 1;
    for (int d = 0; d < tensor->n_dims; d++)
        *(d < tensor->n_dims - merged ? rows : cols) *= tensor->shape[d];
}

int golden_fill(const struct golden_case *c, const char *name,
                const struct golden_argument *to, struct trial *trial,
                struct m2_error *err)
{
    const struct golden_tensor *tensor = golden_find(c, name);
    int64_t rows, cols;
    if (tensor == NULL)
        return M2_OK;
    matrix_shape(tensor, to->merged, &rows, &cols);
    double *values = trial_values(trial, to->argument, rows, cols);
    if (values == NULL)
        return m2_fail(err, M2_E_MEMORY, "golden case %s: no memory", c->name);
    memcpy(values, tensor->values, (size_t)tensor->n * sizeof *values);
    return M2_OK;
}

static bool is_input(const struct trial *trial, const char *argument)
{
    int i = trial_find(trial, argument);
    return i >= 0 && (trial->arguments[i].role == OP_INPUT ||
                      trial->arguments[i].role == OP_IN_OUT);
}

/* Inputs of the file into the trial. */
static int fill_inputs(const struct golden_op *op, const struct golden_case *c,
                       struct trial *trial, struct m2_error *err)
{
    for (const struct golden_argument *t = op->tensors; t->tensor; t++) {
        char name[64];
        snprintf(name, sizeof name, "in.%s", t->tensor);
        if (!is_input(trial, t->argument))
            continue;
        int code = golden_fill(c, name, t, trial, err);
        if (code)
            return code;
    }
    return M2_OK;
}

/* Outputs take the shape of what the file expects. */
static void shape_outputs(const struct golden_op *op,
                          const struct golden_case *c, struct trial *trial)
{
    for (const struct golden_argument *t = op->tensors; t->tensor; t++) {
        char name[64];
        int64_t rows, cols;
        int i = trial_find(trial, t->argument);
        snprintf(name, sizeof name, "out.%s", t->tensor);
        const struct golden_tensor *tensor = golden_find(c, name);
        if (i < 0 || tensor == NULL || trial->arguments[i].role != OP_OUTPUT)
            continue;
        matrix_shape(tensor, t->merged, &rows, &cols);
        trial_output(trial, t->argument, rows, cols);
    }
}

static int run_and_check(const struct golden_op *op, struct golden_case *c,
                         struct trial *trial, struct m2_error *err)
{
    int code = golden_trial(c, trial, err);
    for (const struct golden_argument *t = op->tensors;
         code == M2_OK && t->tensor; t++) {
        const struct trial_view *view = trial_view(trial, t->argument);
        if (view && trial_writes(trial, (size_t)(view - trial->views)))
            golden_check(c, t->tensor, view->result, view->rows * view->cols);
    }
    return code;
}

/* Gradients that arrive come from the file or are absent; those that are
 * added to start at zero. */
static void settle_gradients(const struct trial *forward,
                             struct trial *backward)
{
    for (size_t i = 0; i < backward->n; i++) {
        const char *name = backward->arguments[i].name;
        const struct trial_view *view = &backward->views[i];
        if (!view->present)
            continue;
        if (backward->arguments[i].role == OP_ACCUMULATED)
            trial_values(backward, name, view->rows, view->cols);
        else if (is_input(backward, name) && !trial_view(forward, name))
            trial_drop(backward, name);
    }
}

int golden_run_op(const struct golden_op *op, struct golden_case *c,
                  struct m2_error *err)
{
    struct trial forward, backward = {0};
    trial_init(&forward, op->op, 0);
    int code = fill_inputs(op, c, &forward, err);
    shape_outputs(op, c, &forward);
    if (code == M2_OK && op->prepare)
        code = op->prepare(c, &forward, err);
    if (code == M2_OK)
        code = run_and_check(op, c, &forward, err);
    if (code == M2_OK && pair_backward(op->op) >= 0) {
        pair_derive(&forward, &backward);
        settle_gradients(&forward, &backward);
        code = fill_inputs(op, c, &backward, err);
        if (code == M2_OK)
            code = run_and_check(op, c, &backward, err);
        trial_free(&backward);
    }
    trial_free(&forward);
    return code;
}
