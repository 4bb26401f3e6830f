/* The golden case of a scan too large to store: its inputs are generated, and
 * of each output only a sample and three sums are in the file. */
#include <math.h>
#include <stdlib.h>

#include "backends/conformance/generator.h"
#include "backends/conformance/golden_table.h"
#include "backends/conformance/pairs.h"

/* A generated tensor, the argument it is, and how many of its last dimensions
 * are columns; results are named after the tensor, too. */
static const struct golden_argument inputs[] = {
    {"x", "x", 2}, {"dt", "dt", 1}, {"A_log", "a_log", 1}, {"B", "b", 2},
    {"C", "c", 2}, {"D", "d", 1},   {"h0", "h0", 3},       {0},
};
static const struct golden_argument gradients[] = {
    {"dy", "dy", 2},
    {"dhL", "dh_final", 3},
    {0},
};
static const struct golden_argument outputs[] = {
    {"y", "y", 0},           {"hL", "h_final", 0},
    {"dx", "dx", 0},         {"ddt", "ddt", 0},
    {"dA_log", "da_log", 0}, {"dB", "db", 0},
    {"dC", "dc", 0},         {"dD", "dd", 0},
    {"dh0", "dh0", 0},       {0},
};

static int64_t dimension(const json_t *spec, size_t i)
{
    return json_integer_value(
        json_array_get(json_object_get(spec, "shape"), i));
}

static const json_t *spec_of(const struct golden_case *c, const char *tensor)
{
    return json_object_get(json_object_get(c->entry, "generate"), tensor);
}

static int generate(const struct golden_case *c,
                    const struct golden_argument *what, struct trial *trial,
                    struct m2_error *err)
{
    const json_t *spec = spec_of(c, what->tensor);
    size_t dims = json_array_size(json_object_get(spec, "shape"));
    int64_t rows = 1, cols = 1;
    if (dims < (size_t)what->merged || dims == 0)
        return m2_fail(err, M2_E_DATA, "golden case %s: no shape of %s",
                       c->name, what->tensor);
    for (size_t i = 0; i < dims; i++)
        *(i < dims - (size_t)what->merged ? &rows : &cols) *=
            dimension(spec, i);
    struct generator random = generator_start(
        (uint64_t)golden_number_or(c, "generator_seed", 0.0), what->tensor,
        json_number_value(json_object_get(spec, "lo")),
        json_number_value(json_object_get(spec, "hi")));
    double *values = trial_values(trial, what->argument, rows, cols);
    if (values == NULL)
        return m2_fail(err, M2_E_MEMORY, "no memory for a golden case");
    for (int64_t i = 0; i < rows * cols; i++)
        values[i] = generator_at(&random, i);
    return M2_OK;
}

static int generate_all(const struct golden_case *c,
                        const struct golden_argument *list, struct trial *trial,
                        struct m2_error *err)
{
    int code = M2_OK;
    for (; code == M2_OK && list->tensor; list++)
        code = generate(c, list, trial, err);
    return code;
}

/* Every output as up to 512 of its elements, spread evenly, and as norm,
 * largest element and product with a generated probe. */
static void check_summary(struct golden_case *c, const char *tensor,
                          const struct trial_view *view)
{
    char name[64];
    double sample[512], stat[3] = {0.0, 0.0, 0.0};
    int64_t n = view->rows * view->cols, samples = n < 512 ? n : 512;
    snprintf(name, sizeof name, "probe.%s", tensor);
    struct generator probe = generator_start(
        (uint64_t)golden_number_or(c, "generator_seed", 0.0), name, -1.0, 1.0);
    for (int64_t i = 0; i < samples; i++)
        sample[i] = view->result[i * n / samples];
    for (int64_t i = 0; i < n; i++) {
        stat[0] += view->result[i] * view->result[i];
        stat[1] = fmax(stat[1], fabs(view->result[i]));
        stat[2] += view->result[i] * generator_at(&probe, i);
    }
    stat[0] = sqrt(stat[0]);
    snprintf(name, sizeof name, "%s_sample", tensor);
    golden_check(c, name, sample, samples);
    snprintf(name, sizeof name, "%s_stat", tensor);
    golden_check(c, name, stat, 3);
}

static void check_summaries(struct golden_case *c, const struct trial *trial)
{
    for (const struct golden_argument *t = outputs; t->tensor; t++) {
        const struct trial_view *view = trial_view(trial, t->argument);
        if (view && trial_writes(trial, (size_t)(view - trial->views)))
            check_summary(c, t->tensor, view);
    }
}

static void shape_ssd(const struct golden_case *c, struct trial *trial)
{
    struct m2_ssd *a = &trial->args.ssd;
    const json_t *x = spec_of(c, "x"), *b = spec_of(c, "B");
    a->B = dimension(x, 0);
    a->L = dimension(x, 1);
    a->H = dimension(x, 2);
    a->P = dimension(x, 3);
    a->G = dimension(b, 2);
    a->N = dimension(b, 3);
    a->Q = (int64_t)golden_number_or(c, "chunk", 1.0);
    int64_t chunks = (a->L + a->Q - 1) / a->Q, state = a->H * a->P * a->N;
    trial_output(trial, "y", a->B * a->L, a->H * a->P);
    trial_output(trial, "h_final", a->B, state);
    trial_output(trial, "states", a->B, chunks * state);
}

static void clear_accumulated(struct trial *trial)
{
    for (size_t i = 0; i < trial->n; i++)
        if (trial->views[i].present &&
            trial->arguments[i].role == OP_ACCUMULATED)
            trial_values(trial, trial->arguments[i].name, trial->views[i].rows,
                         trial->views[i].cols);
}

static int run_backward(struct golden_case *c, const struct trial *forward,
                        struct m2_error *err)
{
    struct trial backward;
    pair_derive(forward, &backward);
    clear_accumulated(&backward);
    int code = generate_all(c, gradients, &backward, err);
    if (code == M2_OK)
        code = golden_trial(c, &backward, err);
    if (code == M2_OK)
        check_summaries(c, &backward);
    trial_free(&backward);
    return code;
}

int golden_run_ssd_gen(struct golden_case *c, struct m2_error *err)
{
    struct trial forward;
    trial_init(&forward, M2_OP_ssd, 0);
    int code = generate_all(c, inputs, &forward, err);
    if (code == M2_OK) {
        shape_ssd(c, &forward);
        code = golden_trial(c, &forward, err);
    }
    if (code == M2_OK) {
        check_summaries(c, &forward);
        code = run_backward(c, &forward, err);
    }
    trial_free(&forward);
    return code;
}
