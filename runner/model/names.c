/* From a view of a model's memory to the name of the tensor. */
#include <inttypes.h>
#include <stddef.h>

#include "model/graph.h"

struct named_slot {
    const char *name;
    size_t offset;
};

static const struct named_slot layer_names[] = {
    {"input", offsetof(struct layer_slots, r)},
    {"u", offsetof(struct layer_slots, u)},
    {"rs", offsetof(struct layer_slots, rs)},
    {"zxd", offsetof(struct layer_slots, projection)},
    {"xbc", offsetof(struct layer_slots, c)},
    {"dt", offsetof(struct layer_slots, dt)},
    {"states", offsetof(struct layer_slots, states)},
    {"y", offsetof(struct layer_slots, y)},
    {"v", offsetof(struct layer_slots, v)},
    {"gate_rs", offsetof(struct layer_slots, gate_rs)},
};

#define OF_MODEL(member)    offsetof(struct activation_slots, member)
#define OF_GRADIENT(member) offsetof(struct activation_slots, d.member)

static const struct named_slot model_names[] = {
    {"input", OF_MODEL(input)},
    {"target", OF_MODEL(target)},
    {"output", OF_MODEL(output)},
    {"loss", OF_MODEL(loss)},
    {"resid", OF_MODEL(r_final)},
    {"f", OF_MODEL(f)},
    {"f_rs", OF_MODEL(f_rs)},
    {"fm", OF_MODEL(fm)},
    {"d.output", OF_GRADIENT(output)},
    {"d.f", OF_GRADIENT(f)},
    {"d.fm", OF_GRADIENT(fm)},
    {"d.resid", OF_GRADIENT(r)},
    {"d.resid_last", OF_GRADIENT(r_last)},
    {"d.v", OF_GRADIENT(v)},
    {"d.y", OF_GRADIENT(y)},
    {"d.zxd", OF_GRADIENT(projection)},
    {"d.xbc", OF_GRADIENT(c)},
    {"d.dt", OF_GRADIENT(dt)},
    {"d.u", OF_GRADIENT(u)},
    {"d.input", OF_GRADIENT(input)},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The slot that begins last at or before a byte: they lie one after another. */
struct nearest {
    int64_t at, begin; /* bytes */
    const char *name;
    int64_t layer;
};

static void try_slots(const struct named_slot *names, size_t n,
                      const void *slots, int64_t layer, struct nearest *near)
{
    for (size_t i = 0; i < n; i++) {
        const struct slot *slot =
            (const void *)((const char *)slots + names[i].offset);
        int64_t begin = slot->offset * (int64_t)m2_dtype_size(slot->dtype);

        if (slot->cols == 0 || begin > near->at || begin <= near->begin)
            continue;
        near->begin = begin;
        near->name = names[i].name;
        near->layer = layer;
    }
}

static int64_t name_activation(const struct model *model,
                               const struct m2_view *view, char *name,
                               size_t size)
{
    const struct activation_slots *slots = &model->slots;
    struct nearest near = {
        .at = view->offset * (int64_t)m2_dtype_size(view->dtype),
        .begin = -1,
    };

    try_slots(model_names, COUNT(model_names), slots, -1, &near);
    for (int64_t i = 0; i < model->sizes.n_layer; i++)
        try_slots(layer_names, COUNT(layer_names), &slots->layers[i], i, &near);
    if (near.name != NULL && near.layer < 0)
        snprintf(name, size, "%s", near.name);
    else if (near.name != NULL)
        snprintf(name, size, "layers.%" PRId64 ".%s", near.layer, near.name);
    return near.layer < 0 ? -1 : near.layer;
}

/* The layer in the tensor's own name. */
static int64_t layer_of(const struct model *model, size_t index)
{
    const struct parameter_set *set = &model->parameters;

    for (int64_t i = 0; i < set->n_layer * N_LAYER_TENSORS; i++)
        if (set->of_layer[i] == (int)index)
            return i / N_LAYER_TENSORS;
    return -1;
}

static int64_t name_parameter(const struct model *model,
                              const struct m2_view *view, bool gradient,
                              char *name, size_t size)
{
    const struct parameter_set *set = &model->parameters;
    int64_t end = view->offset + (view->rows - 1) * view->ld + view->cols;

    for (size_t i = 0; i < set->count; i++) {
        const struct parameter *item = &set->items[i];

        if (view->offset < item->offset || end > item->offset + item->n)
            continue;
        snprintf(name, size, "%s%s", gradient ? "gradient of " : "",
                 item->name);
        return layer_of(model, i);
    }
    snprintf(name, size, "%s", gradient ? "gradients" : "parameters");
    return -1;
}

int64_t model_view_name(const struct model *model, const struct m2_view *view,
                        char *name, size_t size)
{
    name[0] = '\0';
    if (view->buffer == NULL)
        return -1;
    if (view->buffer == model->activations)
        return name_activation(model, view, name, size);
    if (view->buffer == model->values)
        return name_parameter(model, view, false, name, size);
    if (view->buffer == model->gradients)
        return name_parameter(model, view, true, name, size);
    return -1;
}
