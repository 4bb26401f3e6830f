/* The forward pass as a list of op calls (Dao & Gu 2024, section 7).
 *
 * Splits of z|x|B|C|dt and x|B|C are column views, so nothing is copied; the
 * residual is added by the output projection. */
#include "model/graph.h"

static void forward_norm(const struct model *model, struct m2_view x,
                         struct m2_view w, const struct m2_view y_rs[2],
                         struct program *out)
{
    program_add(out, M2_OP_rmsnorm,
                &(struct m2_rmsnorm){.groups = 1,
                                     .eps = model->config.norm_eps,
                                     .x = x,
                                     .w = w,
                                     .y = y_rs[0],
                                     .rs = y_rs[1]});
}

/* z|x|B|C|dt = u W^T; in a split layer z of the last rows only. */
static void forward_in_proj(const struct model *model, int64_t layer,
                            struct m2_view u, const struct projection *parts,
                            struct program *out)
{
    struct m2_view w = layer_value(model, layer, LAYER_IN_PROJ);
    struct m2_view bias = layer_value(model, layer, LAYER_IN_PROJ_BIAS);
    int64_t I = model->sizes.I, J = model->sizes.J;

    if (parts->all.buffer != NULL) {
        program_add(
            out, M2_OP_linear,
            &(struct m2_linear){.x = u, .w = w, .b = bias, .y = parts->all});
        return;
    }
    program_add(out, M2_OP_linear,
                &(struct m2_linear){.x = last_rows(u, model->sizes.L),
                                    .w = view_rows(w, 0, I),
                                    .b = bias_columns(bias, 0, I),
                                    .y = parts->z});
    program_add(out, M2_OP_linear,
                &(struct m2_linear){.x = u,
                                    .w = view_rows(w, I, J - I),
                                    .b = bias_columns(bias, I, J - I),
                                    .y = parts->rest});
}

static void forward_conv(const struct model *model, int64_t layer, int64_t b,
                         const struct projection *parts, struct program *out)
{
    const struct model_sizes *s = &model->sizes;
    const struct activation_slots *slots = &model->slots;
    struct m2_view w = layer_value(model, layer, LAYER_CONV);
    struct m2_view bias = layer_value(model, layer, LAYER_CONV_BIAS);
    struct m2_view c = activation(model, &slots->layers[layer].c, b);

    if (slots->states != NULL)
        program_add(
            out, M2_OP_conv1d_step,
            &(struct m2_conv1d_step){
                .K = s->K,
                .x = parts->xbc,
                .w = w,
                .b = bias,
                .state = activation(model, &slots->states[layer].conv, b),
                .y = c});
    else
        program_add(out, M2_OP_conv1d_silu,
                    &(struct m2_conv1d_silu){.B = b,
                                             .L = s->L,
                                             .K = s->K,
                                             .x = parts->xbc,
                                             .w = w,
                                             .b = bias,
                                             .y = c});
}

/* The scan over whole windows. */
static struct m2_ssd scan_windows(const struct model *model, int64_t layer,
                                  int64_t b)
{
    const struct model_sizes *s = &model->sizes;
    const struct layer_slots *slots = &model->slots.layers[layer];
    struct m2_view c = activation(model, &slots->c, b);
    struct m2_view no_states = {.dtype = model->real};

    return (struct m2_ssd){.B = b,
                           .L = s->L,
                           .H = s->H,
                           .P = s->P,
                           .G = s->G,
                           .N = s->N,
                           .Q = s->Q,
                           .last_only = layer_is_split(model, layer),
                           .x = scan_x(model, c),
                           .dt = activation(model, &slots->dt, b),
                           .a_log = layer_value(model, layer, LAYER_A_LOG),
                           .b = scan_b(model, c),
                           .c = scan_c(model, c),
                           .d = layer_value(model, layer, LAYER_D),
                           .y = activation(model, &slots->y, b),
                           .states = slots->states.cols > 0
                                         ? activation(model, &slots->states, b)
                                         : no_states};
}

static void forward_ssd(const struct model *model, int64_t layer, int64_t b,
                        struct program *out)
{
    const struct state_slots *states = model->slots.states;
    struct m2_ssd whole = scan_windows(model, layer, b);

    if (states == NULL)
        program_add(out, M2_OP_ssd, &whole);
    else
        program_add(
            out, M2_OP_ssd_step,
            &(struct m2_ssd_step){.H = whole.H,
                                  .P = whole.P,
                                  .G = whole.G,
                                  .N = whole.N,
                                  .x = whole.x,
                                  .dt = whole.dt,
                                  .a_log = whole.a_log,
                                  .b = whole.b,
                                  .c = whole.c,
                                  .d = whole.d,
                                  .h = activation(model, &states[layer].ssm, b),
                                  .y = whole.y});
}

/* Convolution, step size and scan: x|B|C|dt -> y. */
static void forward_scan(const struct model *model, int64_t layer, int64_t b,
                         const struct projection *parts, struct program *out)
{
    forward_conv(model, layer, b, parts, out);
    program_add(
        out, M2_OP_dt,
        &(struct m2_dt){
            .low = model->config.dt_limit[0],
            .high = model->config.dt_limit[1],
            .raw = parts->dt,
            .bias = layer_value(model, layer, LAYER_DT_BIAS),
            .dt = activation(model, &model->slots.layers[layer].dt, b)});
    forward_ssd(model, layer, b, out);
}

void forward_layer(const struct model *model, int64_t layer, int64_t b,
                   struct program *out)
{
    const struct layer_slots *slots = &model->slots.layers[layer];
    bool last = layer == model->sizes.n_layer - 1;
    bool split = layer_is_split(model, layer);
    const struct slot *next = last ? &model->slots.r_final : &slots[1].r;
    struct m2_view r = activation(model, &slots->r, b);
    struct m2_view u = activation(model, &slots->u, b);
    struct m2_view v = activation(model, &slots->v, b);
    struct projection parts =
        projection_of(model, layer, &slots->projection, b);

    forward_norm(model, r, layer_value(model, layer, LAYER_NORM),
                 (struct m2_view[]){u, activation(model, &slots->rs, b)}, out);
    forward_in_proj(model, layer, u, &parts, out);
    forward_scan(model, layer, b, &parts, out);
    program_add(
        out, M2_OP_rmsnorm,
        &(struct m2_rmsnorm){.groups = model->sizes.Gn,
                             .eps = model->config.norm_eps,
                             .x = activation(model, &slots->y, b),
                             .z = parts.z,
                             .w = layer_value(model, layer, LAYER_GATE_NORM),
                             .y = v,
                             .rs = activation(model, &slots->gate_rs, b)});
    program_add(out, M2_OP_linear,
                &(struct m2_linear){
                    .x = v,
                    .w = layer_value(model, layer, LAYER_OUT_PROJ),
                    .b = layer_value(model, layer, LAYER_OUT_PROJ_BIAS),
                    .residual = split ? last_rows(r, model->sizes.L) : r,
                    .y = activation(model, next, b)});
}

/* Input to the residual stream r0. */
static void forward_input(const struct model *model, int64_t b,
                          struct program *out)
{
    const struct activation_slots *slots = &model->slots;
    const int *of_model = model->parameters.of_model;
    struct m2_view w = value_of(model, of_model[MODEL_INPUT]);
    struct m2_view r0 = activation(model, &slots->layers[0].r, b);

    if (model->sizes.lm)
        program_add(out, M2_OP_embed,
                    &(struct m2_embed){.ids = tokens(model, &slots->input, b),
                                       .w = w,
                                       .y = r0});
    else
        program_add(out, M2_OP_linear,
                    &(struct m2_linear){
                        .x = activation(model, &slots->input, b),
                        .w = w,
                        .b = value_of(model, of_model[MODEL_INPUT_BIAS]),
                        .y = r0});
}

/* Final norm, mean over time where asked for, head. */
static void forward_head(const struct model *model, int64_t b,
                         struct program *out)
{
    const struct activation_slots *slots = &model->slots;
    const int *of_model = model->parameters.of_model;
    struct m2_view f = activation(model, &slots->f, b);
    int head = of_model[MODEL_HEAD];

    forward_norm(model, activation(model, &slots->r_final, b),
                 value_of(model, of_model[MODEL_NORM_F]),
                 (struct m2_view[]){f, activation(model, &slots->f_rs, b)},
                 out);
    if (slots->fm.cols > 0) {
        struct m2_view mean = activation(model, &slots->fm, b);

        program_add(out, M2_OP_mean_time,
                    &(struct m2_mean_time){
                        .B = b, .L = model->sizes.L, .x = f, .y = mean});
        f = mean;
    }
    program_add(
        out, M2_OP_linear,
        &(struct m2_linear){
            .x = f,
            .w = value_of(model, head >= 0 ? head : of_model[MODEL_INPUT]),
            .b = value_of(model, of_model[MODEL_HEAD_BIAS]),
            .y = activation(model, &slots->output, b)});
}

void forward_model(const struct model *model, int64_t b, struct program *out)
{
    forward_input(model, b, out);
    for (int64_t layer = 0; layer < model->sizes.n_layer; layer++)
        forward_layer(model, layer, b, out);
    forward_head(model, b, out);
}
