/* Golden cases: configurations and transfers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/golden.h"
#include "util/memory.h"

/* Reads a number of the configuration; absent or null leaves *out. */
static void number(const json_t *config, const char *name, double *out)
{
    const json_t *value = json_object_get(config, name);

    if (json_is_number(value))
        *out = json_number_value(value);
    else if (json_is_boolean(value))
        *out = json_is_true(value);
}

static int64_t integer(const json_t *config, const char *name)
{
    double value = 0;

    number(config, name, &value);
    return (int64_t)value;
}

static int readout_of(const struct golden_case *c, const json_t *config,
                      enum readout *out, struct m2_error *err)
{
    static const char *const names[] = {[READOUT_LAST] = "last",
                                        [READOUT_MEAN] = "mean",
                                        [READOUT_ALL] = "all"};
    const char *text = json_string_value(json_object_get(config, "readout"));

    for (int i = 0; text != NULL && i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum readout)i;
            return 0;
        }
    }
    return m2_fail(err, M2_E_DATA, "golden case %s: unknown readout", c->name);
}

int golden_model_of(const struct golden_case *c, struct golden_model *out,
                    struct m2_error *err)
{
    const json_t *config = json_object_get(c->entry, "config");
    const json_t *limits = json_object_get(config, "dt_limit");
    const char *task = json_string_value(json_object_get(config, "task"));
    const json_t *high = json_array_get(limits, 1);
    double eps = 0;

    if (task == NULL || json_array_size(limits) != 2)
        return m2_fail(err, M2_E_DATA, "golden case %s has no model config",
                       c->name);
    number(config, "norm_eps", &eps);
    *out = (struct golden_model){
        .config =
            {
                .d_model = integer(config, "d_model"),
                .n_layer = integer(config, "n_layer"),
                .d_state = integer(config, "d_state"),
                .expand = integer(config, "expand"),
                .headdim = integer(config, "headdim"),
                .d_conv = integer(config, "d_conv"),
                .ngroups = integer(config, "ngroups"),
                .norm_groups = integer(config, "norm_groups"),
                .chunk = integer(config, "chunk_size"),
                .dt_limit = {json_number_value(json_array_get(limits, 0)),
                             json_is_null(high) ? INFINITY
                                                : json_number_value(high)},
                .norm_eps = eps,
                .conv_bias = integer(config, "conv_bias") != 0,
                .proj_bias = integer(config, "proj_bias") != 0,
                .head = strcmp(task, "lm") == 0 ? HEAD_LM : HEAD_FORECAST,
                .tie_embedding = integer(config, "tie_embeddings") != 0,
            },
        .n_features = integer(config, "n_features"),
        .n_outputs = integer(config, "n_outputs"),
        .n_vocab = integer(config, "vocab_size"),
    };
    return out->config.head == HEAD_LM
               ? 0
               : readout_of(c, config, &out->config.readout, err);
}

int golden_loss_of(const struct golden_case *c, enum loss_kind *out,
                   struct m2_error *err)
{
    static const char *const names[] = {
        [LOSS_MSE] = "mse", [LOSS_MAE] = "mae", [LOSS_HUBER] = "huber"};
    const json_t *scalars = json_object_get(c->entry, "scalars");
    const char *text = json_string_value(json_object_get(scalars, "loss"));

    *out = LOSS_MSE;
    for (int i = 0; text != NULL && i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum loss_kind)i;
            return 0;
        }
    }
    return text == NULL ? 0
                        : m2_fail(err, M2_E_DATA, "golden case %s: loss %s",
                                  c->name, text);
}

int golden_model_create(const struct golden_case *c,
                        const struct golden_model *golden, int64_t B, int64_t L,
                        struct model **out, struct m2_error *err)
{
    struct model_spec spec = {
        .config = &golden->config,
        .n_features = golden->n_features,
        .n_outputs = golden->n_outputs,
        .n_vocab = golden->n_vocab,
        .B = B,
        .L = L,
        .huber_delta = golden_number_or(c, "delta", 1),
        .training = true,
        .input_grad = true,
    };
    int result = golden_loss_of(c, &spec.loss, err);

    return result == 0 ? model_create(c->device, &spec, out, err) : result;
}

int golden_check_view(struct golden_case *c, const char *name,
                      const struct m2_view *view, struct m2_error *err)
{
    size_t n = (size_t)(view->rows * view->cols);
    double *values = memory_zeroed(n, sizeof *values, err);
    int result = values == NULL ? M2_E_MEMORY
                                : view_download(c->device, view, values, err);

    if (result == 0)
        golden_check(c, name, values, (int64_t)n);
    free(values);
    return result;
}

int golden_check_arena(struct golden_case *c, const char *prefix,
                       const struct model *model, const struct m2_view *arena,
                       struct m2_error *err)
{
    const struct parameter *items;
    size_t count = model_parameters(model, &items);
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        struct m2_view part = view_columns(*arena, items[i].offset, items[i].n);
        char name[160];

        snprintf(name, sizeof name, "%s%s", prefix, items[i].name);
        result = golden_check_view(c, name, &part, err);
    }
    return result;
}

int golden_upload_parameters(const struct golden_case *c, struct model *model,
                             struct m2_error *err)
{
    const struct parameter *items;
    size_t count = model_parameters(model, &items);
    struct m2_view arena = model_values(model);

    for (size_t i = 0; i < count; i++) {
        struct m2_view part = view_columns(arena, items[i].offset, items[i].n);
        const struct golden_tensor *tensor;
        char name[160];
        int result;

        snprintf(name, sizeof name, "in.param.%s", items[i].name);
        result = golden_need(c, name, &tensor, err);
        if (result == 0 && tensor->n != items[i].n)
            result = m2_fail(err, M2_E_DATA,
                             "golden case %s: %s has %lld "
                             "elements, expected %lld",
                             c->name, name, (long long)tensor->n,
                             (long long)items[i].n);
        if (result == 0)
            result = view_upload(c->device, &part, tensor->values, err);
        if (result != 0)
            return result;
    }
    return 0;
}

int golden_upload(const struct golden_case *c, const struct m2_view *view,
                  const double *values, struct m2_error *err)
{
    size_t n = (size_t)(view->rows * view->cols);
    int32_t *integers;
    int result;

    if (view->dtype != M2_I32)
        return view_upload(c->device, view, values, err);
    integers = memory_zeroed(n, sizeof *integers, err);
    if (integers == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        integers[i] = (int32_t)values[i];
    result = view_upload_i32(c->device, view, integers, err);
    free(integers);
    return result;
}
