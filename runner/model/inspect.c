/* Looking into a model: starting values, activations by name, bad numbers. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/graph.h"
#include "util/memory.h"

/* Elements that go to or come from the device at a time: a large model costs
 * no second copy on the host. */
enum { BLOCK = 1 << 16 };

/* Elements [first, first + count) of an arena. */
static struct m2_view part_of(const struct m2_view *arena, int64_t first,
                              int64_t count)
{
    return view_columns(*arena, first, count);
}

static int64_t block_at(const struct parameter *item, int64_t first)
{
    return item->n - first < BLOCK ? item->n - first : BLOCK;
}

static int start_one(struct model *model, size_t index, uint64_t seed,
                     double *block, struct m2_error *err)
{
    const struct parameter *item = &model->parameters.items[index];
    struct m2_view arena = model_values(model);

    for (int64_t first = 0; first < item->n; first += BLOCK) {
        int64_t count = block_at(item, first);
        struct m2_view part = part_of(&arena, item->offset + first, count);
        int result;

        parameter_start(&model->parameters, index, seed, first, count, block);
        result = view_upload(model->device, &part, block, err);
        if (result != 0)
            return result;
    }
    return 0;
}

int model_initialise(struct model *model, uint64_t seed, struct m2_error *err)
{
    double *block = memory_zeroed(BLOCK, sizeof *block, err);
    int result = block == NULL ? M2_E_MEMORY : 0;

    for (size_t i = 0; i < model->parameters.count && result == 0; i++)
        result = start_one(model, i, seed, block, err);
    free(block);
    return result;
}

static bool all_finite(const double *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            return false;
    }
    return true;
}

static int check_one(struct model *model, const struct m2_view *arena,
                     const struct parameter *item, double *block, bool *finite,
                     struct m2_error *err)
{
    *finite = true;
    for (int64_t first = 0; first < item->n && *finite; first += BLOCK) {
        int64_t count = block_at(item, first);
        struct m2_view part = part_of(arena, item->offset + first, count);
        int result = view_download(model->device, &part, block, err);

        if (result != 0)
            return result;
        *finite = all_finite(block, count);
    }
    return 0;
}

int model_first_not_finite(struct model *model, bool gradients,
                           const char **name, struct m2_error *err)
{
    struct m2_view arena =
        gradients ? model_gradients(model) : model_values(model);
    double *block = memory_zeroed(BLOCK, sizeof *block, err);
    const char *found = NULL;
    int result = block == NULL ? M2_E_MEMORY : 0;

    for (size_t i = 0; i < model->parameters.count && result == 0; i++) {
        const struct parameter *item = &model->parameters.items[i];
        bool finite;

        result = check_one(model, &arena, item, block, &finite, err);
        if (result == 0 && !finite) {
            found = item->name;
            break;
        }
    }
    free(block);
    if (result == 0)
        *name = found;
    return result;
}

/* The part of `name` after "layers.N.", and N; NULL when it is not of that
 * form or there is no such layer. */
static const char *layer_part(const struct model *model, const char *name,
                              int64_t *layer)
{
    char *end;

    if (strncmp(name, "layers.", 7) != 0 || name[7] < '0' || name[7] > '9')
        return NULL;
    *layer = strtoll(name + 7, &end, 10);
    if (*end != '.' || *layer >= model->sizes.n_layer)
        return NULL;
    return end + 1;
}

static bool layer_activation(const struct model *model, int64_t b,
                             int64_t layer, const char *part,
                             struct m2_view *out)
{
    static const struct {
        const char *name;
        size_t offset;
    } slots[] = {
        {"input", offsetof(struct layer_slots, r)},
        {"u", offsetof(struct layer_slots, u)},
        {"xbc", offsetof(struct layer_slots, c)},
        {"dt", offsetof(struct layer_slots, dt)},
        {"y", offsetof(struct layer_slots, y)},
        {"v", offsetof(struct layer_slots, v)},
        {"states", offsetof(struct layer_slots, states)},
    };
    const struct layer_slots *kept = &model->slots.layers[layer];
    struct projection parts = projection_of(model, layer, &kept->projection, b);

    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        if (strcmp(part, slots[i].name) == 0) {
            *out = activation(
                model,
                (const struct slot *)((const char *)kept + slots[i].offset), b);
            return true;
        }
    }
    if (strcmp(part, "resid") == 0)
        *out =
            activation(model,
                       layer == model->sizes.n_layer - 1 ? &model->slots.r_final
                                                         : &kept[1].r,
                       b);
    else if (strcmp(part, "zxd") == 0 && parts.all.buffer != NULL)
        *out = parts.all;
    else if (strcmp(part, "z") == 0)
        *out = parts.z;
    else if (strcmp(part, "xbc_raw") == 0)
        *out = parts.xbc;
    else if (strcmp(part, "dt_raw") == 0)
        *out = parts.dt;
    else
        return false;
    return true;
}

bool model_activation(const struct model *model, int64_t b, const char *name,
                      struct m2_view *out)
{
    int64_t layer;
    const char *part = layer_part(model, name, &layer);

    if (part != NULL)
        return model->spec.training &&
               layer_activation(model, b, layer, part, out);
    if (strcmp(name, "f") == 0)
        *out = activation(model, &model->slots.f, b);
    else if (strcmp(name, "output") == 0)
        *out = model_output(model, b);
    else
        return false;
    return true;
}
