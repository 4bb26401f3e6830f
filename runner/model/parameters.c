/* The named tensors of a model and the values they start with. */
#include "model/parameters.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/random.h"

enum init {
    INIT_UNIFORM,        /* +- 1 / sqrt(fan in) */
    INIT_UNIFORM_SCALED, /* the same / sqrt(n_layer) */
    INIT_CONV_BIAS,      /* +- 1 / sqrt(K) */
    INIT_NORMAL,
    INIT_DT_BIAS,
    INIT_A_LOG,
    INIT_ZERO,
    INIT_ONE,
};

/* One tensor before it has a place: dims 0 end the shape. */
struct entry {
    const char *name; /* after the layer's prefix */
    int64_t shape[3];
    enum init init;
    bool present;
};

/* Range of the step size that dt_bias starts with, and its floor. */
static const double DT_MIN = 1e-3, DT_MAX = 1e-1, DT_FLOOR = 1e-4;
static const double A_MAX = 16, EMBEDDING_DEVIATION = 0.02;

static void layer_entries(const struct model_sizes *s,
                          const struct config_model *config,
                          struct entry out[N_LAYER_TENSORS])
{
    const struct entry entries[N_LAYER_TENSORS] = {
        [LAYER_NORM] = {"norm.weight", {s->D}, INIT_ONE, true},
        [LAYER_DT_BIAS] = {"mixer.dt_bias", {s->H}, INIT_DT_BIAS, true},
        [LAYER_A_LOG] = {"mixer.A_log", {s->H}, INIT_A_LOG, true},
        [LAYER_D] = {"mixer.D", {s->H}, INIT_ONE, true},
        [LAYER_IN_PROJ] = {"mixer.in_proj.weight",
                           {s->J, s->D},
                           INIT_UNIFORM,
                           true},
        [LAYER_IN_PROJ_BIAS] = {"mixer.in_proj.bias",
                                {s->J},
                                INIT_ZERO,
                                config->proj_bias},
        [LAYER_CONV] = {"mixer.conv1d.weight",
                        {s->CD, 1, s->K},
                        INIT_UNIFORM,
                        true},
        [LAYER_CONV_BIAS] = {"mixer.conv1d.bias",
                             {s->CD},
                             INIT_CONV_BIAS,
                             config->conv_bias},
        [LAYER_GATE_NORM] = {"mixer.norm.weight", {s->I}, INIT_ONE, true},
        [LAYER_OUT_PROJ] = {"mixer.out_proj.weight",
                            {s->D, s->I},
                            INIT_UNIFORM_SCALED,
                            true},
        [LAYER_OUT_PROJ_BIAS] = {"mixer.out_proj.bias",
                                 {s->D},
                                 INIT_ZERO,
                                 config->proj_bias},
    };

    memcpy(out, entries, sizeof entries);
}

static void model_entries(const struct model_sizes *s,
                          const struct config_model *config,
                          struct entry out[N_MODEL_TENSORS])
{
    const struct entry forecast[N_MODEL_TENSORS] = {
        [MODEL_INPUT] = {"input_proj.weight", {s->D, s->F}, INIT_UNIFORM, true},
        [MODEL_INPUT_BIAS] = {"input_proj.bias", {s->D}, INIT_ZERO, true},
        [MODEL_NORM_F] = {"backbone.norm_f.weight", {s->D}, INIT_ONE, true},
        [MODEL_HEAD] = {"head.weight", {s->Y, s->D}, INIT_UNIFORM, true},
        [MODEL_HEAD_BIAS] = {"head.bias", {s->Y}, INIT_ZERO, true},
    };
    const struct entry lm[N_MODEL_TENSORS] = {
        [MODEL_INPUT] = {"backbone.embedding.weight",
                         {s->V, s->D},
                         INIT_NORMAL,
                         true},
        [MODEL_NORM_F] = {"backbone.norm_f.weight", {s->D}, INIT_ONE, true},
        [MODEL_HEAD] = {"lm_head.weight",
                        {s->V, s->D},
                        INIT_UNIFORM,
                        !config->tie_embedding},
    };

    memcpy(out, s->lm ? lm : forecast, sizeof forecast);
}

/* Gives one tensor its place; decayed says which pass over all this is. */
static void place(struct parameter_set *set, const struct entry *entry,
                  int64_t layer, bool decayed, int *index)
{
    struct parameter *item = &set->items[set->count];

    if (!entry->present || (entry->shape[1] != 0) != decayed)
        return;
    if (layer >= 0)
        snprintf(item->name, sizeof item->name, "backbone.layers.%lld.%s",
                 (long long)layer, entry->name);
    else
        snprintf(item->name, sizeof item->name, "%s", entry->name);
    item->n = 1;
    for (int i = 0; i < 3 && entry->shape[i] != 0; i++) {
        item->shape[i] = entry->shape[i];
        item->n *= entry->shape[i];
        item->n_dims = i + 1;
    }
    item->offset = set->n;
    item->decayed = decayed;
    set->inits[set->count] = (unsigned char)entry->init;
    set->n += item->n;
    *index = (int)set->count++;
}

static void place_all(struct parameter_set *set,
                      const struct entry layer[N_LAYER_TENSORS],
                      const struct entry model[N_MODEL_TENSORS], bool decayed)
{
    for (int i = MODEL_INPUT; i < MODEL_NORM_F; i++)
        place(set, &model[i], -1, decayed, &set->of_model[i]);
    for (int64_t l = 0; l < set->n_layer; l++) {
        for (int i = 0; i < N_LAYER_TENSORS; i++)
            place(set, &layer[i], l, decayed,
                  &set->of_layer[l * N_LAYER_TENSORS + i]);
    }
    for (int i = MODEL_NORM_F; i < N_MODEL_TENSORS; i++)
        place(set, &model[i], -1, decayed, &set->of_model[i]);
}

/* Fan in of a weight: what one of its outputs sums over. */
static double fan_in(const struct parameter *item)
{
    return (double)(item->n / item->shape[0]);
}

static double draw(const struct parameter_set *set, size_t index,
                   struct random_stream stream, int64_t i)
{
    uint64_t at = (uint64_t)i;
    double dt;

    switch ((enum init)set->inits[index]) {
    case INIT_UNIFORM:
    case INIT_UNIFORM_SCALED:
    case INIT_CONV_BIAS:
        return 2 * random_uniform(stream, at) - 1;
    case INIT_NORMAL:
        return EMBEDDING_DEVIATION * random_normal(stream, at);
    case INIT_DT_BIAS:
        dt = DT_MIN * pow(DT_MAX / DT_MIN, random_uniform(stream, at));
        return inverse_softplus(fmax(dt, DT_FLOOR));
    case INIT_A_LOG:
        return log(1 + (A_MAX - 1) * random_uniform(stream, at));
    case INIT_ZERO:
    case INIT_ONE:
        break;
    }
    return set->inits[index] == INIT_ONE ? 1 : 0;
}

/* What a draw of (-1, 1) is multiplied by. */
static double bound_of(const struct parameter_set *set, size_t index)
{
    const struct parameter *conv =
        &set->items[parameter_of_layer(set, 0, LAYER_CONV)];

    switch ((enum init)set->inits[index]) {
    case INIT_UNIFORM:
        return 1 / sqrt(fan_in(&set->items[index]));
    case INIT_UNIFORM_SCALED:
        return 1 / sqrt(fan_in(&set->items[index])) /
               sqrt((double)set->n_layer);
    case INIT_CONV_BIAS:
        return 1 / sqrt(fan_in(conv));
    case INIT_NORMAL:
    case INIT_DT_BIAS:
    case INIT_A_LOG:
    case INIT_ZERO:
    case INIT_ONE:
        break;
    }
    return 1;
}

int parameters_build(const struct model_sizes *sizes,
                     const struct config_model *config,
                     struct parameter_set *out, struct m2_error *err)
{
    struct parameter_set set = {.n_layer = sizes->n_layer};
    size_t most, per_layer;
    struct entry layer[N_LAYER_TENSORS], model[N_MODEL_TENSORS];

    if (!size_multiply((size_t)sizes->n_layer, N_LAYER_TENSORS, &per_layer) ||
        !size_add(per_layer, N_MODEL_TENSORS, &most) || most > INT32_MAX)
        return m2_fail(err, M2_E_CONFIG, "model.n_layer: %lld is too large",
                       (long long)sizes->n_layer);
    set.items = memory_zeroed(most, sizeof *set.items, err);
    set.inits = memory_zeroed(most, sizeof *set.inits, err);
    set.of_layer = memory_zeroed(per_layer, sizeof *set.of_layer, err);
    if (set.items == NULL || set.inits == NULL || set.of_layer == NULL) {
        parameters_free(&set);
        return M2_E_MEMORY;
    }
    for (size_t i = 0; i < per_layer; i++)
        set.of_layer[i] = -1;
    for (int i = 0; i < N_MODEL_TENSORS; i++)
        set.of_model[i] = -1;
    layer_entries(sizes, config, layer);
    model_entries(sizes, config, model);
    place_all(&set, layer, model, true);
    set.n_decayed = set.n;
    place_all(&set, layer, model, false);
    *out = set;
    return 0;
}

void parameters_free(struct parameter_set *set)
{
    free(set->items);
    free(set->inits);
    free(set->of_layer);
    *set = (struct parameter_set){0};
}

struct m2_view parameter_view(const struct parameter_set *set, int index,
                              struct m2_buffer *buffer, enum m2_dtype dtype)
{
    const struct parameter *item;
    int64_t rows;

    if (index < 0)
        return (struct m2_view){.buffer = NULL, .dtype = dtype};
    item = &set->items[index];
    rows = item->n_dims > 1 ? item->shape[0] : 1;
    return view_matrix(buffer, item->offset, rows, item->n / rows,
                       item->n / rows, dtype);
}

int parameter_of_layer(const struct parameter_set *set, int64_t layer,
                       enum layer_tensor tensor)
{
    assert(layer >= 0 && layer < set->n_layer);
    return set->of_layer[layer * N_LAYER_TENSORS + tensor];
}

void parameter_start(const struct parameter_set *set, size_t index,
                     uint64_t seed, int64_t first, int64_t count, double *out)
{
    struct random_stream stream = random_stream(seed, set->items[index].name);
    double bound = bound_of(set, index);

    for (int64_t i = 0; i < count; i++)
        out[i] = bound * draw(set, index, stream, first + i);
}

double inverse_softplus(double dt)
{
    return dt + log(-expm1(-dt));
}
