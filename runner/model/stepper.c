/* Recurrent inference: the model's forward list with windows of one row and
 * a state per layer.
 *
 * The stepper's inner model shares the parameters of the model it was made
 * from and has activations of its own, so both may be used in turn. */
#include <stdlib.h>

#include "model/graph.h"
#include "util/memory.h"

struct model_stepper {
    struct model inner; /* sizes with L = 1, B = b */
    struct program step, reset;
};

/* Inner model without memory. */
static int assemble(const struct model *model, int64_t b, struct model *inner,
                    struct m2_error *err)
{
    struct model_spec *spec = &inner->spec;
    int result;

    if (!model->sizes.lm && model->config.readout == READOUT_MEAN)
        return m2_fail(err, M2_E_UNSUPPORTED,
                       "model.readout: mean needs the whole window and has no "
                       "one-step form");
    inner->device = model->device;
    inner->real = model->real;
    inner->config = model->config;
    inner->config.readout = READOUT_ALL;
    *spec = model->spec;
    spec->config = &inner->config;
    spec->B = b;
    spec->L = 1;
    spec->training = spec->input_grad = false;
    inner->values = model->values;
    result = model_sizes_of(spec, &inner->sizes, err);
    if (result == 0)
        result = parameters_build(&inner->sizes, &inner->config,
                                  &inner->parameters, err);
    if (result == 0)
        result = activations_plan(&inner->sizes, spec, inner->real,
                                  &inner->slots, err);
    if (result == 0)
        result = activations_add_states(&inner->sizes, inner->real,
                                        &inner->slots, err);
    return result;
}

static int build_lists(struct model_stepper *stepper, struct m2_error *err)
{
    struct model *inner = &stepper->inner;
    int result;

    program_init(&stepper->step, inner->device, false, err);
    program_init(&stepper->reset, inner->device, false, err);
    forward_model(inner, inner->sizes.B, &stepper->step);
    result = program_check(&stepper->step);
    if (result != 0)
        return result;
    program_add(
        &stepper->reset, M2_OP_fill,
        &(struct m2_fill){.y = activation(inner, &inner->slots.all_states, 1)});
    result = program_check(&stepper->reset);
    return result == 0 ? device_reserve(inner->device, err) : result;
}

int model_stepper_create(struct model *model, int64_t b,
                         struct model_stepper **out, struct m2_error *err)
{
    struct model_stepper *stepper = memory_zeroed(1, sizeof *stepper, err);
    int result;

    if (stepper == NULL)
        return M2_E_MEMORY;
    result = assemble(model, b, &stepper->inner, err);
    if (result == 0)
        result = buffer_alloc(model->device, (size_t)stepper->inner.slots.bytes,
                              &stepper->inner.activations, err);
    if (result == 0)
        result = build_lists(stepper, err);
    if (result == 0)
        result = model_stepper_reset(stepper, err);
    if (result != 0) {
        model_stepper_free(stepper);
        return result;
    }
    *out = stepper;
    return 0;
}

void model_stepper_free(struct model_stepper *stepper)
{
    if (stepper == NULL)
        return;
    program_free(&stepper->step);
    program_free(&stepper->reset);
    if (stepper->inner.activations != NULL)
        buffer_free(stepper->inner.device, stepper->inner.activations);
    activations_free(&stepper->inner.slots);
    parameters_free(&stepper->inner.parameters);
    free(stepper);
}

int model_stepper_reset(struct model_stepper *stepper, struct m2_error *err)
{
    return program_run(&stepper->reset, err);
}

struct m2_view model_stepper_input(const struct model_stepper *stepper)
{
    return model_input(&stepper->inner, stepper->inner.sizes.B);
}

struct m2_view model_stepper_output(const struct model_stepper *stepper)
{
    return model_output(&stepper->inner, stepper->inner.sizes.B);
}

int model_stepper_step(struct model_stepper *stepper, struct m2_error *err)
{
    return program_run(&stepper->step, err);
}

struct m2_view model_stepper_conv_state(const struct model_stepper *stepper,
                                        int64_t layer)
{
    const struct model *inner = &stepper->inner;

    return activation(inner, &inner->slots.states[layer].conv, inner->sizes.B);
}

struct m2_view model_stepper_ssm_state(const struct model_stepper *stepper,
                                       int64_t layer)
{
    const struct model *inner = &stepper->inner;

    return activation(inner, &inner->slots.states[layer].ssm, inner->sizes.B);
}
