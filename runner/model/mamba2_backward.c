/* The backward pass as a list of op calls: loss, head, layers from the last
 * to the first, input (Mamba-2 specification, section 5).
 *
 * The gradient of the residual stream lives in one slot: a layer's branch is
 * added into it by the block norm. */
#include "model/graph.h"

/* du from the gradient of z|x|B|C|dt, and the weight's gradient. */
static void backward_in_proj(const struct model *model, int64_t layer,
                             struct m2_view u, int64_t b, struct program *out)
{
    const struct gradient_slots *d = &model->slots.d;
    struct projection parts = projection_of(model, layer, &d->projection, b);
    struct m2_view w = layer_value(model, layer, LAYER_IN_PROJ);
    struct m2_view dw = layer_gradient(model, layer, LAYER_IN_PROJ);
    struct m2_view db = layer_gradient(model, layer, LAYER_IN_PROJ_BIAS);
    struct m2_view du = activation(model, &d->u, b);
    int64_t I = model->sizes.I, J = model->sizes.J, L = model->sizes.L;

    if (parts.all.buffer != NULL) {
        program_add(
            out, M2_OP_linear_backward,
            &(struct m2_linear_backward){
                .dy = parts.all, .x = u, .w = w, .dx = du, .dw = dw, .db = db});
        return;
    }
    program_add(out, M2_OP_linear_backward,
                &(struct m2_linear_backward){.dy = parts.rest,
                                             .x = u,
                                             .w = view_rows(w, I, J - I),
                                             .dx = du,
                                             .dw = view_rows(dw, I, J - I),
                                             .db = bias_columns(db, I, J - I)});
    program_add(out, M2_OP_linear_backward,
                &(struct m2_linear_backward){.dy = parts.z,
                                             .x = last_rows(u, L),
                                             .w = view_rows(w, 0, I),
                                             .dx = last_rows(du, L),
                                             .dw = view_rows(dw, 0, I),
                                             .db = bias_columns(db, 0, I),
                                             .accumulate = 1});
}

static void backward_ssd(const struct model *model, int64_t layer, int64_t b,
                         struct program *out)
{
    const struct model_sizes *s = &model->sizes;
    const struct layer_slots *slots = &model->slots.layers[layer];
    const struct gradient_slots *d = &model->slots.d;
    struct slot dy = d->y;
    struct m2_view c = activation(model, &slots->c, b);
    struct m2_view dc = activation(model, &d->c, b);

    dy.per = slots->y.per;
    program_add(out, M2_OP_ssd_backward,
                &(struct m2_ssd_backward){
                    .B = b,
                    .L = s->L,
                    .H = s->H,
                    .P = s->P,
                    .G = s->G,
                    .N = s->N,
                    .Q = s->Q,
                    .last_only = layer_is_split(model, layer),
                    .dy = activation(model, &dy, b),
                    .x = scan_x(model, c),
                    .dt = activation(model, &slots->dt, b),
                    .a_log = layer_value(model, layer, LAYER_A_LOG),
                    .b = scan_b(model, c),
                    .c = scan_c(model, c),
                    .d = layer_value(model, layer, LAYER_D),
                    .states = activation(model, &slots->states, b),
                    .dx = scan_x(model, dc),
                    .ddt = activation(model, &d->dt, b),
                    .da_log = layer_gradient(model, layer, LAYER_A_LOG),
                    .db = scan_b(model, dc),
                    .dc = scan_c(model, dc),
                    .dd = layer_gradient(model, layer, LAYER_D)});
}

/* Scan, step size and convolution: dy -> gradient of x|B|C|dt. */
static void backward_scan(const struct model *model, int64_t layer, int64_t b,
                          struct program *out)
{
    const struct layer_slots *slots = &model->slots.layers[layer];
    const struct gradient_slots *d = &model->slots.d;
    struct projection parts =
        projection_of(model, layer, &slots->projection, b);
    struct projection dparts = projection_of(model, layer, &d->projection, b);

    backward_ssd(model, layer, b, out);
    program_add(out, M2_OP_dt_backward,
                &(struct m2_dt_backward){
                    .low = model->config.dt_limit[0],
                    .high = model->config.dt_limit[1],
                    .ddt = activation(model, &d->dt, b),
                    .raw = parts.dt,
                    .bias = layer_value(model, layer, LAYER_DT_BIAS),
                    .draw = dparts.dt,
                    .dbias = layer_gradient(model, layer, LAYER_DT_BIAS)});
    program_add(out, M2_OP_conv1d_silu_backward,
                &(struct m2_conv1d_silu_backward){
                    .B = b,
                    .L = model->sizes.L,
                    .K = model->sizes.K,
                    .dy = activation(model, &d->c, b),
                    .x = parts.xbc,
                    .w = layer_value(model, layer, LAYER_CONV),
                    .b = layer_value(model, layer, LAYER_CONV_BIAS),
                    .dx = dparts.xbc,
                    .dw = layer_gradient(model, layer, LAYER_CONV),
                    .db = layer_gradient(model, layer, LAYER_CONV_BIAS)});
}

/* Output projection and gated norm: dr_out -> dy and the gradient of z. */
static void backward_gate(const struct model *model, int64_t layer, int64_t b,
                          struct m2_view dr_out, struct program *out)
{
    const struct layer_slots *slots = &model->slots.layers[layer];
    const struct gradient_slots *d = &model->slots.d;
    struct slot dv = d->v, dy = d->y;

    dv.per = dy.per = slots->y.per;
    program_add(out, M2_OP_linear_backward,
                &(struct m2_linear_backward){
                    .dy = dr_out,
                    .x = activation(model, &slots->v, b),
                    .w = layer_value(model, layer, LAYER_OUT_PROJ),
                    .dx = activation(model, &dv, b),
                    .dw = layer_gradient(model, layer, LAYER_OUT_PROJ),
                    .db = layer_gradient(model, layer, LAYER_OUT_PROJ_BIAS)});
    program_add(out, M2_OP_rmsnorm_backward,
                &(struct m2_rmsnorm_backward){
                    .groups = model->sizes.Gn,
                    .dy = activation(model, &dv, b),
                    .x = activation(model, &slots->y, b),
                    .z = projection_of(model, layer, &slots->projection, b).z,
                    .w = layer_value(model, layer, LAYER_GATE_NORM),
                    .rs = activation(model, &slots->gate_rs, b),
                    .dx = activation(model, &dy, b),
                    .dz = projection_of(model, layer, &d->projection, b).z,
                    .dw = layer_gradient(model, layer, LAYER_GATE_NORM)});
}

void backward_layer(const struct model *model, int64_t layer, int64_t b,
                    struct m2_view dr_out, struct program *out)
{
    const struct layer_slots *slots = &model->slots.layers[layer];
    const struct gradient_slots *d = &model->slots.d;
    bool split = layer_is_split(model, layer);
    struct m2_view dr = activation(model, &d->r, b);

    backward_gate(model, layer, b, dr_out, out);
    backward_scan(model, layer, b, out);
    backward_in_proj(model, layer, activation(model, &slots->u, b), b, out);
    program_add(out, M2_OP_rmsnorm_backward,
                &(struct m2_rmsnorm_backward){
                    .groups = 1,
                    .dy = activation(model, &d->u, b),
                    .x = activation(model, &slots->r, b),
                    .w = layer_value(model, layer, LAYER_NORM),
                    .rs = activation(model, &slots->rs, b),
                    .dx = dr,
                    .dw = layer_gradient(model, layer, LAYER_NORM),
                    .accumulate = !split});
    if (split) {
        struct m2_view last = last_rows(dr, model->sizes.L);

        program_add(out, M2_OP_add,
                    &(struct m2_add){.a = last, .b = dr_out, .y = last});
    }
}

static void backward_loss(const struct model *model, int64_t b,
                          struct program *out)
{
    static const enum m2_op ops[] = {
        [LOSS_MSE] = M2_OP_mse,
        [LOSS_MAE] = M2_OP_mae,
        [LOSS_HUBER] = M2_OP_huber,
    };
    const struct activation_slots *slots = &model->slots;
    struct m2_view output = activation(model, &slots->output, b);
    struct m2_view loss = activation(model, &slots->loss, 1);
    struct m2_view gradient = activation(model, &slots->d.output, b);

    if (model->sizes.lm)
        program_add(
            out, M2_OP_xent,
            &(struct m2_xent){.ignore = MODEL_IGNORED_LABEL,
                              .logits = output,
                              .labels = tokens(model, &slots->target, b),
                              .out = loss,
                              .dlogits = gradient});
    else
        program_add(
            out, ops[model->spec.loss],
            &(struct m2_loss){.delta = model->spec.huber_delta,
                              .pred = output,
                              .target = activation(model, &slots->target, b),
                              .out = loss,
                              .dpred = gradient});
}

/* Head, mean over time, final norm: gradient of what left the last layer. */
static void backward_head(const struct model *model, int64_t b,
                          struct m2_view dr_final, struct program *out)
{
    const struct activation_slots *slots = &model->slots;
    const int *of_model = model->parameters.of_model;
    bool mean = slots->fm.cols > 0;
    struct m2_view df = activation(model, &slots->d.f, b);
    struct m2_view dfm = activation(model, &slots->d.fm, b);
    int head = of_model[MODEL_HEAD];
    int weight = head >= 0 ? head : of_model[MODEL_INPUT];

    program_add(out, M2_OP_linear_backward,
                &(struct m2_linear_backward){
                    .dy = activation(model, &slots->d.output, b),
                    .x = activation(model, mean ? &slots->fm : &slots->f, b),
                    .w = value_of(model, weight),
                    .dx = mean ? dfm : df,
                    .dw = gradient_of(model, weight),
                    .db = gradient_of(model, of_model[MODEL_HEAD_BIAS])});
    if (mean)
        program_add(out, M2_OP_mean_time_backward,
                    &(struct m2_mean_time_backward){
                        .B = b, .L = model->sizes.L, .dy = dfm, .dx = df});
    program_add(out, M2_OP_rmsnorm_backward,
                &(struct m2_rmsnorm_backward){
                    .groups = 1,
                    .dy = df,
                    .x = activation(model, &slots->r_final, b),
                    .w = value_of(model, of_model[MODEL_NORM_F]),
                    .rs = activation(model, &slots->f_rs, b),
                    .dx = dr_final,
                    .dw = gradient_of(model, of_model[MODEL_NORM_F])});
}

static void backward_input(const struct model *model, int64_t b,
                           struct program *out)
{
    const struct activation_slots *slots = &model->slots;
    const int *of_model = model->parameters.of_model;
    struct m2_view dr = activation(model, &slots->d.r, b);
    struct m2_view dw = gradient_of(model, of_model[MODEL_INPUT]);
    struct m2_linear_backward linear;

    if (model->sizes.lm) {
        program_add(
            out, M2_OP_embed_backward,
            &(struct m2_embed_backward){
                .ids = tokens(model, &slots->input, b), .dy = dr, .dw = dw});
        return;
    }
    linear = (struct m2_linear_backward){
        .dy = dr,
        .x = activation(model, &slots->input, b),
        .dw = dw,
        .db = gradient_of(model, of_model[MODEL_INPUT_BIAS])};
    if (slots->d.input.cols > 0) {
        linear.w = value_of(model, of_model[MODEL_INPUT]);
        linear.dx = activation(model, &slots->d.input, b);
    }
    program_add(out, M2_OP_linear_backward, &linear);
}

void backward_model(const struct model *model, int64_t b, struct program *out)
{
    const struct gradient_slots *d = &model->slots.d;
    struct m2_view dr = activation(model, &d->r, b);
    bool last_only = model->sizes.last_only;
    struct m2_view dr_final = last_only ? activation(model, &d->r_last, b) : dr;

    backward_loss(model, b, out);
    backward_head(model, b, dr_final, out);
    for (int64_t layer = model->sizes.n_layer - 1; layer >= 0; layer--) {
        backward_layer(model, layer, b,
                       layer_is_split(model, layer) ? dr_final : dr, out);
    }
    backward_input(model, b, out);
}
