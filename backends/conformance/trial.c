/* Trials as data: arguments by name. */
#include "backends/conformance/trial.h"

#include <stdlib.h>
#include <string.h>

#include "backends/conformance/generator.h"

void trial_init(struct trial *trial, enum m2_op op, uint64_t seed)
{
    memset(trial, 0, sizeof *trial);
    trial->op = op;
    trial->seed = seed;
    trial->n = op_arguments(op, &trial->arguments);
    if (trial->n > TRIAL_ARGUMENTS)
        trial->failed = true;
    for (int i = 0; i < TRIAL_ARGUMENTS; i++)
        trial->views[i].shares = -1;
}

void trial_free(struct trial *trial)
{
    for (int i = 0; i < TRIAL_ARGUMENTS; i++) {
        free(trial->views[i].values);
        free(trial->views[i].result);
        trial->views[i].values = trial->views[i].result = NULL;
    }
}

int trial_find(const struct trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->n; i++)
        if (strcmp(trial->arguments[i].name, name) == 0)
            return (int)i;
    return -1;
}

const struct trial_view *trial_view(const struct trial *trial, const char *name)
{
    int i = trial_find(trial, name);
    return i >= 0 && trial->views[i].present ? &trial->views[i] : NULL;
}

void trial_output(struct trial *trial, const char *name, int64_t rows,
                  int64_t cols)
{
    int i = trial_find(trial, name);
    if (i < 0) {
        trial->failed = true;
        return;
    }
    struct trial_view *view = &trial->views[i];
    free(view->values);
    free(view->result);
    *view = (struct trial_view){.present = true,
                                .dtype = view->dtype,
                                .rows = rows,
                                .cols = cols,
                                .shares = -1};
}

double *trial_values(struct trial *trial, const char *name, int64_t rows,
                     int64_t cols)
{
    trial_output(trial, name, rows, cols);
    if (trial->failed)
        return NULL;
    struct trial_view *view = &trial->views[trial_find(trial, name)];
    view->values = calloc((size_t)(rows * cols) + 1, sizeof *view->values);
    trial->failed = view->values == NULL;
    return view->values;
}

void trial_random(struct trial *trial, const char *name, int64_t rows,
                  int64_t cols, struct span span)
{
    struct generator random =
        generator_start(trial->seed, name, span.low, span.high);
    double *values = trial_values(trial, name, rows, cols);
    for (int64_t i = 0; values && i < rows * cols; i++)
        values[i] = generator_at(&random, i);
}

void trial_drop(struct trial *trial, const char *name)
{
    int i = trial_find(trial, name);
    if (i < 0) {
        trial->failed = true;
        return;
    }
    free(trial->views[i].values);
    free(trial->views[i].result);
    trial->views[i] = (struct trial_view){.shares = -1};
}

void trial_share(struct trial *trial, const char *name, const char *other)
{
    int i = trial_find(trial, name), j = trial_find(trial, other);
    if (i < 0 || j < 0)
        trial->failed = true;
    else
        trial->views[i].shares = j;
}

void trial_round(struct trial *trial, enum m2_dtype real)
{
    for (size_t i = 0; real == M2_F32 && i < trial->n; i++) {
        const struct trial_view *view = &trial->views[i];
        if (view->values == NULL || trial->arguments[i].kind == 'd' ||
            (view->dtype != 0 && view->dtype != M2_F32))
            continue;
        for (int64_t j = 0; j < view->rows * view->cols; j++)
            view->values[j] = (float)view->values[j];
    }
}

bool trial_writes(const struct trial *trial, size_t i)
{
    return trial->views[i].present && trial->arguments[i].role != OP_INPUT;
}

const double *trial_result(const struct trial *trial, const char *name)
{
    const struct trial_view *view = trial_view(trial, name);
    return view ? view->result : NULL;
}

int *trial_accumulate(struct trial *trial, const char **output)
{
    *output = "dx";
    switch (trial->op) {
    case M2_OP_mean_time_backward:
        return &trial->args.mean_time_backward.accumulate;
    case M2_OP_linear_backward:
        return &trial->args.linear_backward.accumulate;
    case M2_OP_rmsnorm_backward:
        return &trial->args.rmsnorm_backward.accumulate;
    case M2_OP_layernorm_backward:
        return &trial->args.layernorm_backward.accumulate;
    case M2_OP_silu_backward:
        return &trial->args.silu_backward.accumulate;
    case M2_OP_sumsq:
        *output = "out";
        return &trial->args.sumsq.accumulate;
    default:
        *output = NULL;
        return NULL;
    }
}

void results_take(struct results *results, struct trial *trial)
{
    for (size_t i = 0; i < TRIAL_ARGUMENTS; i++) {
        results->of[i] = trial->views[i].result;
        trial->views[i].result = NULL;
    }
}

void results_give(struct results *results, struct trial *trial)
{
    for (size_t i = 0; i < TRIAL_ARGUMENTS; i++) {
        free(trial->views[i].result);
        trial->views[i].result = results->of[i];
        results->of[i] = NULL;
    }
}

void results_free(struct results *results)
{
    for (size_t i = 0; i < TRIAL_ARGUMENTS; i++) {
        free(results->of[i]);
        results->of[i] = NULL;
    }
}
