/* Views of a model's tensors. */
#include "model/graph.h"

struct m2_view value_of(const struct model *model, int index)
{
    return parameter_view(&model->parameters, index, model->values,
                          model->real);
}

struct m2_view gradient_of(const struct model *model, int index)
{
    return parameter_view(&model->parameters, index, model->gradients,
                          model->real);
}

struct m2_view layer_value(const struct model *model, int64_t layer,
                           enum layer_tensor tensor)
{
    return value_of(model,
                    parameter_of_layer(&model->parameters, layer, tensor));
}

struct m2_view layer_gradient(const struct model *model, int64_t layer,
                              enum layer_tensor tensor)
{
    return gradient_of(model,
                       parameter_of_layer(&model->parameters, layer, tensor));
}

struct m2_view activation(const struct model *model, const struct slot *slot,
                          int64_t b)
{
    return slot_view(slot, b, model->activations);
}

struct m2_view tokens(const struct model *model, const struct slot *slot,
                      int64_t b)
{
    int64_t n = b * model->sizes.L;

    return view_matrix(model->activations, slot->offset, 1, n, n, M2_I32);
}

struct m2_view last_rows(struct m2_view view, int64_t L)
{
    view.offset += (L - 1) * view.ld;
    view.rows /= L;
    view.ld *= L;
    return view;
}

struct m2_view view_rows(struct m2_view view, int64_t first, int64_t count)
{
    view.offset += first * view.ld;
    view.rows = count;
    return view;
}

struct m2_view bias_columns(struct m2_view bias, int64_t first, int64_t count)
{
    return bias.buffer == NULL ? bias : view_columns(bias, first, count);
}

bool layer_is_split(const struct model *model, int64_t layer)
{
    return model->sizes.last_only && layer == model->sizes.n_layer - 1;
}

struct projection projection_of(const struct model *model, int64_t layer,
                                const struct slot *slot, int64_t b)
{
    const struct model_sizes *s = &model->sizes;
    struct m2_buffer *buffer = model->activations;
    struct projection parts = {.all = {.dtype = model->real}};
    int64_t rows = b * s->L, width = s->CD + s->H;

    if (layer_is_split(model, layer)) {
        parts.z = view_matrix(buffer, slot->offset, b, s->I, s->I, model->real);
        parts.rest = view_matrix(buffer, slot->offset + s->B * s->I, rows,
                                 width, width, model->real);
    } else {
        parts.all =
            view_matrix(buffer, slot->offset, rows, s->J, s->J, model->real);
        parts.z = view_columns(parts.all, 0, s->I);
        parts.rest = view_columns(parts.all, s->I, width);
    }
    parts.xbc = view_columns(parts.rest, 0, s->CD);
    parts.dt = view_columns(parts.rest, s->CD, s->H);
    return parts;
}

struct m2_view scan_x(const struct model *model, struct m2_view c)
{
    return view_columns(c, 0, model->sizes.I);
}

struct m2_view scan_b(const struct model *model, struct m2_view c)
{
    const struct model_sizes *s = &model->sizes;

    return view_columns(c, s->I, s->G * s->N);
}

struct m2_view scan_c(const struct model *model, struct m2_view c)
{
    const struct model_sizes *s = &model->sizes;

    return view_columns(c, s->I + s->G * s->N, s->G * s->N);
}
