/* Golden cases of one block: its lists run alone, from a residual and a
 * gradient that the case gives. */
#include <stdlib.h>
#include <string.h>

#include "model/golden.h"
#include "model/golden_private.h"
#include "model/graph.h"
#include "util/memory.h"

/* The name a block's case gives a parameter: without "backbone.layers.0.";
 * NULL when the block has it not. */
static const char *short_name(const struct parameter *item)
{
    static const char prefix[] = "backbone.layers.0.";

    return strncmp(item->name, prefix, sizeof prefix - 1) == 0
               ? item->name + sizeof prefix - 1
               : NULL;
}

static int upload_block(const struct golden_case *c, struct model *model,
                        struct m2_error *err)
{
    for (size_t i = 0; i < model->parameters.count; i++) {
        const struct parameter *item = &model->parameters.items[i];
        struct m2_view view = value_of(model, (int)i);
        const struct golden_tensor *tensor;
        char name[160];
        int result;

        if (short_name(item) == NULL)
            continue;
        snprintf(name, sizeof name, "in.param.%s", short_name(item));
        result = golden_need(c, name, &tensor, err);
        if (result == 0)
            result = view_upload(c->device, &view, tensor->values, err);
        if (result != 0)
            return result;
    }
    return 0;
}

/* Forward and backward of layer 0, dout already in the slot d.r. */
static int run_lists(const struct model *model, struct m2_error *err)
{
    int64_t B = model->sizes.B;
    struct m2_view dr = activation(model, &model->slots.d.r, B);
    struct program program;
    int result;

    program_init(&program, model->device, false, err);
    forward_layer(model, 0, B, &program);
    backward_layer(model, 0, B, dr, &program);
    result = program_check(&program);
    if (result == 0)
        result = device_reserve(model->device, err);
    if (result == 0)
        result = program_run(&program, err);
    program_free(&program);
    return result;
}

/* The states that the block would hand to the next step: the convolution's
 * and the scan's, through the ops' optional outputs. */
static int check_states(struct golden_case *c, const struct model *model,
                        struct m2_error *err)
{
    const struct model_sizes *s = &model->sizes;
    const struct layer_slots *slots = &model->slots.layers[0];
    struct m2_view xbc_c = activation(model, &slots->c, s->B);
    int64_t conv = s->CD * s->K, ssm = s->I * s->N;
    size_t bytes = (size_t)(s->B * (conv + ssm)) * m2_dtype_size(model->real);
    struct m2_conv1d_silu conv_args = {
        .B = s->B,
        .L = s->L,
        .K = s->K,
        .x = projection_of(model, 0, &slots->projection, s->B).xbc,
        .w = layer_value(model, 0, LAYER_CONV),
        .b = layer_value(model, 0, LAYER_CONV_BIAS),
        .y = xbc_c};
    struct m2_ssd ssd_args = {.B = s->B,
                              .L = s->L,
                              .H = s->H,
                              .P = s->P,
                              .G = s->G,
                              .N = s->N,
                              .Q = s->Q,
                              .x = scan_x(model, xbc_c),
                              .dt = activation(model, &slots->dt, s->B),
                              .a_log = layer_value(model, 0, LAYER_A_LOG),
                              .b = scan_b(model, xbc_c),
                              .c = scan_c(model, xbc_c),
                              .d = layer_value(model, 0, LAYER_D),
                              .y = activation(model, &slots->y, s->B)};
    struct m2_buffer *buffer;
    int result = buffer_alloc(model->device, bytes, &buffer, err);

    if (result != 0)
        return result;
    conv_args.state_out = view_matrix(buffer, 0, s->B, conv, conv, model->real);
    ssd_args.h_final =
        view_matrix(buffer, s->B * conv, s->B, ssm, ssm, model->real);
    result = op_call(model->device, M2_OP_conv1d_silu, &conv_args, err);
    if (result == 0)
        result = op_call(model->device, M2_OP_ssd, &ssd_args, err);
    if (result == 0)
        result = golden_check_view(c, "conv_state", &conv_args.state_out, err);
    if (result == 0)
        result = golden_check_view(c, "ssm_state", &ssd_args.h_final, err);
    buffer_free(model->device, buffer);
    return result;
}

static int check_activations(struct golden_case *c, const struct model *model,
                             struct m2_error *err)
{
    static const char *const names[][2] = {
        {"out", "layers.0.resid"}, {"mid_u", "layers.0.u"},
        {"mid_z", "layers.0.z"},   {"mid_xbc", "layers.0.xbc"},
        {"mid_dt", "layers.0.dt"}, {"mid_y", "layers.0.y"},
        {"mid_v", "layers.0.v"},
    };
    struct m2_view dr = activation(model, &model->slots.d.r, model->sizes.B);
    int result = golden_check_view(c, "dr", &dr, err);

    for (size_t i = 0; i < sizeof names / sizeof *names && result == 0; i++) {
        struct m2_view view;

        if (!model_activation(model, model->sizes.B, names[i][1], &view))
            result =
                m2_fail(err, M2_E_INTERNAL, "no activation %s", names[i][1]);
        else
            result = golden_check_view(c, names[i][0], &view, err);
    }
    return result;
}

static int check_gradients(struct golden_case *c, const struct model *model,
                           struct m2_error *err)
{
    int result = 0;

    for (size_t i = 0; i < model->parameters.count && result == 0; i++) {
        const struct parameter *item = &model->parameters.items[i];
        struct m2_view view = gradient_of(model, (int)i);
        char name[160];

        if (short_name(item) == NULL)
            continue;
        snprintf(name, sizeof name, "grad.%s", short_name(item));
        result = golden_check_view(c, name, &view, err);
    }
    return result;
}

int golden_run_block(struct golden_case *c, struct m2_error *err)
{
    struct golden_model golden;
    const struct golden_tensor *r, *dout;
    struct m2_view view;
    struct model *model = NULL;
    int result = golden_model_of(c, &golden, err);

    golden.config.readout = READOUT_ALL; /* every row of the block */
    if (result == 0)
        result = golden_need(c, "in.r", &r, err);
    if (result == 0)
        result = golden_need(c, "in.dout", &dout, err);
    if (result == 0)
        result = golden_model_create(c, &golden, r->shape[0], r->shape[1],
                                     &model, err);
    if (result == 0)
        result = upload_block(c, model, err);
    if (result == 0) {
        view = activation(model, &model->slots.layers[0].r, model->sizes.B);
        result = view_upload(c->device, &view, r->values, err);
    }
    if (result == 0) {
        view = activation(model, &model->slots.d.r, model->sizes.B);
        result = view_upload(c->device, &view, dout->values, err);
    }
    if (result == 0)
        result = run_lists(model, err);
    if (result == 0)
        result = check_activations(c, model, err);
    if (result == 0)
        result = check_gradients(c, model, err);
    if (result == 0)
        result = check_states(c, model, err);
    model_free(model);
    return result;
}
