/* The golden case of the original system's model, too large to be stored:
 * its tensors come from a generator, its results are sampled and summed. */
#include <math.h>
#include <stdlib.h>

#include "backends/conformance/generator.h"
#include "model/parameters.h"
#include "train/golden_private.h"
#include "util/memory.h"

enum { GRADIENT_SAMPLES = 256, PARAMETER_SAMPLES = 64 };

static uint64_t seed_of(const struct golden_case *c)
{
    return (uint64_t)golden_number_or(c, "generator_seed", 0);
}

/* Tensor `name` of the manifest's generate block; *n elements; its recorded
 * first values must come out. */
static double *generate(const struct golden_case *c, const char *name,
                        int64_t *n, struct m2_error *err)
{
    const json_t *entry =
        json_object_get(json_object_get(c->entry, "generate"), name);
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *first = json_object_get(entry, "first");
    double low = json_number_value(json_object_get(entry, "lo"));
    double high = json_number_value(json_object_get(entry, "hi"));
    struct generator generator = generator_start(seed_of(c), name, low, high);
    double *values;

    *n = json_is_array(shape) ? 1 : 0;
    for (size_t i = 0; i < json_array_size(shape); i++)
        *n *= json_integer_value(json_array_get(shape, i));
    values = memory_zeroed((size_t)*n + 1, sizeof *values, err);
    for (int64_t i = 0; values != NULL && i < *n; i++) {
        const json_t *recorded = json_array_get(first, (size_t)i);

        values[i] = generator_at(&generator, i);
        if (recorded != NULL && values[i] != json_number_value(recorded)) {
            m2_fail(err, M2_E_DATA,
                    "golden case %s: generator gives %.17g for "
                    "%s[%lld]",
                    c->name, values[i], name, (long long)i);
            free(values);
            return NULL;
        }
    }
    return values;
}

static int upload_generated(const struct golden_case *c, struct model *model,
                            struct m2_error *err)
{
    const struct parameter *items;
    size_t count = model_parameters(model, &items);
    struct m2_view arena = model_values(model);
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        struct m2_view part = view_columns(arena, items[i].offset, items[i].n);
        char name[160];
        double *values;
        int64_t n;

        snprintf(name, sizeof name, "param.%s", items[i].name);
        values = generate(c, name, &n, err);
        if (values == NULL)
            return M2_E_DATA;
        if (n != items[i].n)
            result =
                m2_fail(err, M2_E_DATA,
                        "golden case %s: %s has %lld "
                        "elements, expected %lld",
                        c->name, name, (long long)n, (long long)items[i].n);
        else
            result = view_upload(c->device, &part, values, err);
        free(values);
    }
    return result;
}

/* Elements floor(i n / m), i < m, of values (n). */
static void check_sample(struct golden_case *c, const char *name,
                         const double *values, int64_t n, int64_t m)
{
    double sample[GRADIENT_SAMPLES];

    for (int64_t i = 0; i < m; i++)
        sample[i] = values[i * n / m];
    golden_check(c, name, sample, m);
}

/* L2 norm, largest magnitude, product with a generated probe, which notices
 * a permutation. */
static void check_statistics(struct golden_case *c, const char *parameter,
                             const double *values, int64_t n)
{
    double statistics[3] = {0};
    struct generator probe;
    char name[160];

    snprintf(name, sizeof name, "probe.%s", parameter);
    probe = generator_start(seed_of(c), name, -1, 1);
    for (int64_t i = 0; i < n; i++) {
        statistics[0] += values[i] * values[i];
        statistics[1] = fmax(statistics[1], fabs(values[i]));
        statistics[2] += values[i] * generator_at(&probe, i);
    }
    statistics[0] = sqrt(statistics[0]);
    snprintf(name, sizeof name, "gradstat.%s", parameter);
    golden_check(c, name, statistics, 3);
}

static void check_gradient(struct golden_case *c, const struct parameter *item,
                           const double *values)
{
    char name[160];

    snprintf(name, sizeof name, "grad.%s", item->name);
    golden_check(c, name, values, item->n);
    snprintf(name, sizeof name, "gradsample.%s", item->name);
    check_sample(c, name, values, item->n, GRADIENT_SAMPLES);
    check_statistics(c, item->name, values, item->n);
}

static void check_parameter(struct golden_case *c, const struct parameter *item,
                            const double *values)
{
    int64_t m = item->n < PARAMETER_SAMPLES ? item->n : PARAMETER_SAMPLES;
    char name[160];

    snprintf(name, sizeof name, "train_paramsample.%s", item->name);
    check_sample(c, name, values, item->n, m);
}

/* Downloads an arena and hands each tensor's part to `check`. */
static int check_each(struct golden_case *c, const struct model *model,
                      const struct m2_view *arena,
                      void (*check)(struct golden_case *,
                                    const struct parameter *, const double *),
                      struct m2_error *err)
{
    const struct parameter *items;
    size_t count = model_parameters(model, &items);
    double *values = memory_zeroed((size_t)arena->cols, sizeof *values, err);
    int result = values == NULL ? M2_E_MEMORY
                                : view_download(c->device, arena, values, err);

    for (size_t i = 0; i < count && result == 0; i++)
        check(c, &items[i], values + items[i].offset);
    free(values);
    return result;
}

/* Norm of what leaves layer i (every row) and its last rows. */
static int check_residual(struct golden_case *c, const struct model *model,
                          int64_t i, double *norm, struct m2_error *err)
{
    struct m2_view view;
    struct golden_tensor const *last;
    int64_t B, L, n;
    char name[40];
    double *values;
    int result;

    snprintf(name, sizeof name, "out.resid_last.%lld", (long long)i);
    result = golden_need(c, name, &last, err);
    if (result != 0)
        return result;
    B = last->shape[0];
    snprintf(name, sizeof name, "layers.%lld.resid", (long long)i);
    if (!model_activation(model, B, name, &view))
        return m2_fail(err, M2_E_INTERNAL, "no activation %s", name);
    n = view.rows * view.cols;
    L = view.rows / B;
    values = memory_zeroed((size_t)n, sizeof *values, err);
    if (values == NULL)
        return M2_E_MEMORY;
    result = view_download(c->device, &view, values, err);
    *norm = 0;
    for (int64_t j = 0; j < n && result == 0; j++)
        *norm += values[j] * values[j];
    *norm = sqrt(*norm);
    for (int64_t b = 1; b <= B; b++) /* row b*L - 1 to row b - 1 */
        for (int64_t j = 0; j < view.cols; j++)
            values[(b - 1) * view.cols + j] =
                values[(b * L - 1) * view.cols + j];
    snprintf(name, sizeof name, "resid_last.%lld", (long long)i);
    if (result == 0)
        golden_check(c, name, values, B * view.cols);
    free(values);
    return result;
}

/* Residuals of every row, from a model that reads every row out. */
static int check_residuals(struct golden_case *c, struct golden_model golden,
                           const struct golden_batches *batches,
                           struct m2_error *err)
{
    struct model *model = NULL;
    struct m2_view input;
    double *norms = NULL;
    int64_t n_layer = golden.config.n_layer;
    int result;

    golden.config.readout = READOUT_ALL;
    result =
        golden_model_create(c, &golden, batches->B, batches->L, &model, err);
    if (result == 0)
        result = upload_generated(c, model, err);
    if (result == 0) {
        input = model_input(model, batches->B);
        result = view_upload(c->device, &input, batches->input, err);
    }
    if (result == 0)
        result = model_forward(model, batches->B, err);
    if (result == 0) {
        norms = memory_zeroed((size_t)n_layer, sizeof *norms, err);
        result = norms == NULL ? M2_E_MEMORY : 0;
    }
    for (int64_t i = 0; i < n_layer && result == 0; i++)
        result = check_residual(c, model, i, &norms[i], err);
    if (result == 0)
        golden_check(c, "resid_l2", norms, n_layer);
    free(norms);
    model_free(model);
    return result;
}

/* Loss, prediction and gradients of batch 0 with the first parameters. */
static int check_first(struct golden_training *training, struct m2_error *err)
{
    struct golden_case *c = training->c;
    struct model *model = training->model;
    struct m2_view output = model_output(model, training->batches.B);
    struct m2_view dx = model_input_gradient(model, training->batches.B);
    struct m2_view gradients = model_gradients(model);
    double loss;
    int result = golden_training_batch(training, 0, err);

    if (result == 0)
        result = golden_training_gradients(training, &loss, err);
    if (result != 0)
        return result;
    golden_check(c, "loss", &loss, 1);
    result = golden_check_view(c, "output", &output, err);
    if (result == 0)
        result = golden_check_view(c, "dx", &dx, err);
    if (result == 0)
        result = check_each(c, model, &gradients, check_gradient, err);
    return result;
}

static int run_batches(struct golden_case *c, const struct golden_model *golden,
                       const struct golden_batches *batches,
                       struct m2_error *err)
{
    struct golden_training training = {0};
    struct model *model = NULL;
    struct m2_view values;
    int result =
        golden_model_create(c, golden, batches->B, batches->L, &model, err);

    if (result == 0)
        result = upload_generated(c, model, err);
    if (result == 0)
        result =
            golden_training_start(c, golden, batches, model, &training, err);
    if (result == 0)
        result = check_first(&training, err);
    if (result == 0)
        result = golden_training_run(&training, "train_", err);
    if (result == 0) {
        values = model_values(model);
        result = check_each(c, model, &values, check_parameter, err);
    }
    golden_training_end(&training);
    model_free(model);
    return result == 0 ? check_residuals(c, *golden, batches, err) : result;
}

/* Sizes of x (nb, B, L, F). */
static int batches_of(const struct golden_case *c, struct golden_batches *out,
                      struct m2_error *err)
{
    const json_t *generate_block = json_object_get(c->entry, "generate");
    const json_t *shape =
        json_object_get(json_object_get(generate_block, "x"), "shape");

    if (json_array_size(shape) != 4)
        return m2_fail(err, M2_E_DATA, "golden case %s has no x", c->name);
    out->nb = json_integer_value(json_array_get(shape, 0));
    out->B = json_integer_value(json_array_get(shape, 1));
    out->L = json_integer_value(json_array_get(shape, 2));
    return 0;
}

int golden_run_seed_model(struct golden_case *c, struct m2_error *err)
{
    struct golden_model golden;
    struct golden_batches batches = {0};
    double *x = NULL, *target = NULL;
    int64_t n;
    int result = golden_model_of(c, &golden, err);

    if (result == 0)
        result = batches_of(c, &batches, err);
    if (result != 0)
        return result;
    x = generate(c, "x", &n, err);
    target = generate(c, "target", &n, err);
    batches.input = x;
    batches.target = target;
    result = x == NULL || target == NULL
                 ? M2_E_DATA
                 : run_batches(c, &golden, &batches, err);
    free(x);
    free(target);
    return result;
}
