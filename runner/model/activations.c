/* Planning of the activation memory. */
#include "model/activations.h"

#include <stdlib.h>

#include "util/memory.h"

enum { ALIGNMENT = 64 };

struct planner {
    const struct model_sizes *s;
    enum m2_dtype real;
    size_t bytes; /* so far */
    bool overflow;
};

/* The next slot: per rows of cols elements for each of n windows. */
static struct slot take_of(struct planner *planner, int64_t n, int64_t per,
                           int64_t cols, enum m2_dtype dtype)
{
    struct slot slot = {
        .offset = (int64_t)(planner->bytes / m2_dtype_size(dtype)),
        .per = per,
        .cols = cols,
        .dtype = dtype,
    };
    size_t bytes = m2_dtype_size(dtype);

    if (!size_multiply(bytes, (size_t)n, &bytes) ||
        !size_multiply(bytes, (size_t)per, &bytes) ||
        !size_multiply(bytes, (size_t)cols, &bytes) ||
        !size_add(bytes, ALIGNMENT - 1, &bytes) ||
        !size_add(planner->bytes, bytes / ALIGNMENT * ALIGNMENT,
                  &planner->bytes) ||
        planner->bytes > INT64_MAX)
        planner->overflow = true;
    return slot;
}

static struct slot take(struct planner *planner, int64_t per, int64_t cols)
{
    return take_of(planner, planner->s->B, per, cols, planner->real);
}

/* All slots of a layer but r. */
static void take_layer(struct planner *planner, struct layer_slots *layer,
                       bool split, bool training)
{
    const struct model_sizes *s = planner->s;
    int64_t rows = split ? 1 : s->L;

    layer->u = take(planner, s->L, s->D);
    layer->rs = take(planner, s->L, 1);
    if (split)
        layer->projection = take(planner, 1, s->I + s->L * (s->CD + s->H));
    else
        layer->projection = take(planner, s->L, s->J);
    layer->c = take(planner, s->L, s->CD);
    layer->dt = take(planner, s->L, s->H);
    if (training)
        layer->states = take(planner, 1, s->n_chunks * s->I * s->N);
    layer->y = take(planner, rows, s->I);
    layer->v = take(planner, rows, s->I);
    layer->gate_rs = take(planner, rows, s->Gn);
}

static void take_training_layers(struct planner *planner,
                                 struct activation_slots *out)
{
    const struct model_sizes *s = planner->s;

    for (int64_t i = 0; i < s->n_layer; i++) {
        bool split = s->last_only && i == s->n_layer - 1;

        out->layers[i].r = take(planner, s->L, s->D);
        take_layer(planner, &out->layers[i], split, true);
    }
    out->r_final = take(planner, s->last_only ? 1 : s->L, s->D);
}

static void take_shared_layers(struct planner *planner,
                               struct activation_slots *out)
{
    const struct model_sizes *s = planner->s;
    struct layer_slots shared = {0};

    shared.r = take(planner, s->L, s->D);
    take_layer(planner, &shared, s->last_only && s->n_layer == 1, false);
    for (int64_t i = 0; i < s->n_layer; i++)
        out->layers[i] = shared;
    if (s->last_only) {
        struct layer_slots *last = &out->layers[s->n_layer - 1];

        last->y.per = last->v.per = last->gate_rs.per = 1;
        out->r_final = take(planner, 1, s->D);
    } else {
        out->r_final = shared.r;
    }
}

static void take_gradients(struct planner *planner,
                           const struct model_spec *spec,
                           const struct activation_slots *kept,
                           struct gradient_slots *d)
{
    const struct model_sizes *s = planner->s;
    int64_t full = s->last_only && s->n_layer == 1 ? 1 : s->L;

    d->output = take(planner, kept->output.per, kept->output.cols);
    d->f = take(planner, kept->f.per, s->D);
    if (kept->fm.cols > 0)
        d->fm = take(planner, 1, s->D);
    d->r = take(planner, s->L, s->D);
    if (s->last_only)
        d->r_last = take(planner, 1, s->D);
    d->v = take(planner, full, s->I);
    d->y = take(planner, full, s->I);
    d->projection = take(planner, s->L, s->J);
    d->c = take(planner, s->L, s->CD);
    d->dt = take(planner, s->L, s->H);
    d->u = take(planner, s->L, s->D);
    if (spec->input_grad && !s->lm)
        d->input = take(planner, s->L, s->F);
}

static void take_ends(struct planner *planner, const struct model_spec *spec,
                      struct activation_slots *out)
{
    const struct model_sizes *s = planner->s;
    bool every_row = s->lm || spec->config->readout == READOUT_ALL;

    out->loss = take_of(planner, 1, 1, 3, M2_F64);
    if (s->lm) {
        out->input = take_of(planner, s->B, 1, s->L, M2_I32);
        out->target = take_of(planner, s->B, 1, s->L, M2_I32);
    } else {
        out->input = take(planner, s->L, s->F);
        out->target = take(planner, every_row ? s->L : 1, s->Y);
    }
    out->output = take(planner, every_row ? s->L : 1, s->lm ? s->V : s->Y);
}

static int too_large(struct m2_error *err)
{
    return m2_fail(err, M2_E_MEMORY,
                   "model: its activations are beyond the address space");
}

int activations_plan(const struct model_sizes *sizes,
                     const struct model_spec *spec, enum m2_dtype real,
                     struct activation_slots *out, struct m2_error *err)
{
    struct planner planner = {.s = sizes, .real = real};
    struct activation_slots slots = {0};
    int64_t rows = sizes->last_only ? 1 : sizes->L;

    slots.layers =
        memory_zeroed((size_t)sizes->n_layer, sizeof *slots.layers, err);
    if (slots.layers == NULL)
        return M2_E_MEMORY;
    take_ends(&planner, spec, &slots);
    if (spec->training)
        take_training_layers(&planner, &slots);
    else
        take_shared_layers(&planner, &slots);
    slots.f = take(&planner, rows, sizes->D);
    slots.f_rs = take(&planner, rows, 1);
    if (!sizes->lm && spec->config->readout == READOUT_MEAN)
        slots.fm = take(&planner, 1, sizes->D);
    if (spec->training)
        take_gradients(&planner, spec, &slots, &slots.d);
    if (planner.overflow) {
        activations_free(&slots);
        return too_large(err);
    }
    slots.bytes = planner.bytes;
    *out = slots;
    return 0;
}

int activations_add_states(const struct model_sizes *sizes, enum m2_dtype real,
                           struct activation_slots *slots, struct m2_error *err)
{
    struct planner planner = {
        .s = sizes, .real = real, .bytes = (size_t)slots->bytes};

    slots->states =
        memory_zeroed((size_t)sizes->n_layer, sizeof *slots->states, err);
    if (slots->states == NULL)
        return M2_E_MEMORY;
    for (int64_t i = 0; i < sizes->n_layer; i++) {
        slots->states[i].conv = take(&planner, 1, sizes->CD * sizes->K);
        slots->states[i].ssm = take(&planner, 1, sizes->I * sizes->N);
    }
    if (planner.overflow)
        return too_large(err);
    slots->all_states = slots->states[0].conv;
    slots->all_states.cols =
        (int64_t)((planner.bytes - slots->bytes) / m2_dtype_size(real));
    slots->bytes = planner.bytes;
    return 0;
}

void activations_free(struct activation_slots *slots)
{
    free(slots->states);
    free(slots->layers);
    *slots = (struct activation_slots){0};
}

struct m2_view slot_view(const struct slot *slot, int64_t b,
                         struct m2_buffer *buffer)
{
    return view_matrix(buffer, slot->offset, b * slot->per, slot->cols,
                       slot->cols, slot->dtype);
}
