/* A model: planning, memory, lists, running.
 *
 * Planning and creation assemble the same struct model; a planned one has
 * addresses instead of memory and a program that only counts, so that the
 * plan cannot differ from what is allocated. */
#include "model/graph.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* Everything about a model but its memory. */
static int assemble(struct m2_device *device, enum m2_dtype real,
                    const struct model_spec *spec, struct model *out,
                    struct m2_error *err)
{
    int result;

    *out = (struct model){
        .device = device, .real = real, .spec = *spec, .config = *spec->config};
    out->config.type = out->config.init_from = NULL;
    result = model_sizes_of(spec, &out->sizes, err);
    if (result == 0)
        result =
            parameters_build(&out->sizes, spec->config, &out->parameters, err);
    if (result == 0)
        result = activations_plan(&out->sizes, spec, real, &out->slots, err);
    return result;
}

static void disassemble(struct model *model)
{
    activations_free(&model->slots);
    parameters_free(&model->parameters);
}

static size_t arena_bytes(const struct model *model)
{
    return (size_t)model->parameters.n * m2_dtype_size(model->real);
}

/* Counts the lists of a batch of B windows. */
static int plan_lists(const struct model *model, struct model_plan *out,
                      struct m2_error *err)
{
    struct program forward, backward;
    int result;

    program_init(&forward, model->device, true, err);
    program_init(&backward, model->device, true, err);
    forward_model(model, model->sizes.B, &forward);
    if (model->spec.training && forward.result == 0)
        backward_model(model, model->sizes.B, &backward);
    result = program_check(&forward);
    if (result == 0)
        result = program_check(&backward);
    out->forward_flops = forward.flops;
    out->step_flops = forward.flops + backward.flops;
    out->workspace_bytes = forward.scratch_bytes > backward.scratch_bytes
                               ? forward.scratch_bytes
                               : backward.scratch_bytes;
    program_free(&forward);
    program_free(&backward);
    return result;
}

static int build_lists(struct model *model, struct batch_lists *lists,
                       struct m2_error *err)
{
    int result;

    program_init(&lists->forward, model->device, false, err);
    program_init(&lists->backward, model->device, false, err);
    forward_model(model, lists->b, &lists->forward);
    result = program_check(&lists->forward);
    if (result == 0 && model->spec.training)
        backward_model(model, lists->b, &lists->backward);
    if (result == 0)
        result = program_check(&lists->backward);
    return result == 0 ? device_reserve(model->device, err) : result;
}

static void free_lists(struct batch_lists *lists)
{
    if (lists == NULL)
        return;
    program_free(&lists->forward);
    program_free(&lists->backward);
    free(lists);
}

static struct batch_lists *find_lists(const struct model *model, int64_t b)
{
    for (size_t i = 0; i < model->n_lists; i++) {
        if (model->lists[i]->b == b)
            return model->lists[i];
    }
    return NULL;
}

/* Prepares the lists for b if need be. */
static int lists_for(struct model *model, int64_t b, struct batch_lists **out,
                     struct m2_error *err)
{
    int result = 0;

    *out = find_lists(model, b);
    if (*out == NULL) {
        result = model_prepare(model, b, err);
        *out = result == 0 ? find_lists(model, b) : NULL;
    }
    return result;
}

/* Host zeros into an arena: gradients start from zero. */
static int clear_arena(struct model *model, struct m2_buffer *arena,
                       struct m2_error *err)
{
    int64_t n = model->parameters.n;
    struct m2_fill fill = {.y = view_matrix(arena, 0, 1, n, n, model->real),
                           .value = 0};

    return op_call(model->device, M2_OP_fill, &fill, err);
}

static int allocate(struct model *model, struct m2_error *err)
{
    size_t bytes = arena_bytes(model);
    int result = buffer_alloc(model->device, bytes, &model->values, err);

    if (result == 0)
        result = buffer_alloc(model->device, (size_t)model->slots.bytes,
                              &model->activations, err);
    if (result == 0 && model->spec.training)
        result = buffer_alloc(model->device, bytes, &model->gradients, err);
    if (result == 0 && model->spec.training)
        result = clear_arena(model, model->gradients, err);
    return result;
}

int model_plan(const struct model_spec *spec, struct m2_device *device,
               enum m2_dtype dtype, struct model_plan *out,
               struct m2_error *err)
{
    struct m2_buffer_head somewhere = {0};
    struct m2_buffer *address = (struct m2_buffer *)&somewhere;
    struct model model;
    struct model_plan plan = {0};
    int result = assemble(device, device != NULL ? device_real(device) : dtype,
                          spec, &model, err);

    if (result == 0) {
        model.values = model.gradients = model.activations = address;
        plan.n_parameters = (uint64_t)model.parameters.n;
        plan.parameter_bytes = arena_bytes(&model);
        plan.gradient_bytes = spec->training ? arena_bytes(&model) : 0;
        plan.moment_bytes = 2 * plan.gradient_bytes;
        plan.activation_bytes = model.slots.bytes;
        result = plan_lists(&model, &plan, err);
    }
    disassemble(&model);
    if (result == 0)
        *out = plan;
    return result;
}

int model_create(struct m2_device *device, const struct model_spec *spec,
                 struct model **out, struct m2_error *err)
{
    struct model *model = memory_zeroed(1, sizeof *model, err);
    int result;

    if (model == NULL)
        return M2_E_MEMORY;
    result = assemble(device, device_real(device), spec, model, err);
    model->spec.config = &model->config;
    if (result == 0)
        result = allocate(model, err);
    if (result == 0)
        result = model_prepare(model, model->sizes.B, err);
    if (result != 0) {
        model_free(model);
        return result;
    }
    *out = model;
    return 0;
}

void model_free(struct model *model)
{
    if (model == NULL)
        return;
    for (size_t i = 0; i < model->n_lists; i++)
        free_lists(model->lists[i]);
    free(model->lists);
    if (model->values != NULL)
        buffer_free(model->device, model->values);
    if (model->gradients != NULL)
        buffer_free(model->device, model->gradients);
    if (model->activations != NULL)
        buffer_free(model->device, model->activations);
    disassemble(model);
    free(model);
}

size_t model_parameters(const struct model *model, const struct parameter **out)
{
    *out = model->parameters.items;
    return model->parameters.count;
}

int64_t model_arena_size(const struct model *model, int64_t *n_decayed)
{
    if (n_decayed != NULL)
        *n_decayed = model->parameters.n_decayed;
    return model->parameters.n;
}

static struct m2_view arena_view(const struct model *model,
                                 struct m2_buffer *arena)
{
    return view_matrix(arena, 0, 1, model->parameters.n, model->parameters.n,
                       model->real);
}

struct m2_view model_values(const struct model *model)
{
    return arena_view(model, model->values);
}

struct m2_view model_gradients(const struct model *model)
{
    return arena_view(model, model->gradients);
}

struct m2_view model_a_log(const struct model *model, int64_t layer)
{
    return layer_value(model, layer, LAYER_A_LOG);
}

struct m2_view model_input(const struct model *model, int64_t b)
{
    return model->sizes.lm ? tokens(model, &model->slots.input, b)
                           : activation(model, &model->slots.input, b);
}

struct m2_view model_target(const struct model *model, int64_t b)
{
    return model->sizes.lm ? tokens(model, &model->slots.target, b)
                           : activation(model, &model->slots.target, b);
}

struct m2_view model_output(const struct model *model, int64_t b)
{
    return activation(model, &model->slots.output, b);
}

struct m2_view model_input_gradient(const struct model *model, int64_t b)
{
    return activation(model, &model->slots.d.input, b);
}

struct m2_view model_loss(const struct model *model)
{
    return activation(model, &model->slots.loss, 1);
}

int model_prepare(struct model *model, int64_t b, struct m2_error *err)
{
    struct batch_lists *lists;
    int result;

    if (b < 1 || b > model->sizes.B)
        return m2_fail(err, M2_E_ARGUMENT,
                       "model: a batch of %lld windows, expected 1 to %lld",
                       (long long)b, (long long)model->sizes.B);
    if (find_lists(model, b) != NULL)
        return 0;
    if (array_reserve(&model->lists, &model->lists_capacity, model->n_lists + 1,
                      sizeof *model->lists, err) != 0)
        return M2_E_MEMORY;
    lists = memory_zeroed(1, sizeof *lists, err);
    if (lists == NULL)
        return M2_E_MEMORY;
    lists->b = b;
    result = build_lists(model, lists, err);
    if (result != 0) {
        free_lists(lists);
        return result;
    }
    model->lists[model->n_lists++] = lists;
    return 0;
}

int model_forward(struct model *model, int64_t b, struct m2_error *err)
{
    struct batch_lists *lists;
    int result = lists_for(model, b, &lists, err);

    return result == 0 ? program_run(&lists->forward, err) : result;
}

int model_forward_backward(struct model *model, int64_t b, double scale,
                           struct m2_error *err)
{
    struct batch_lists *lists;
    int result = lists_for(model, b, &lists, err);
    void *loss;

    if (result != 0)
        return result;
    if (!model->spec.training)
        return m2_fail(err, M2_E_INTERNAL,
                       "model: no backward pass in a forward-only model");
    loss = program_args(&lists->backward, 0);
    if (model->sizes.lm)
        ((struct m2_xent *)loss)->scale = scale;
    else
        ((struct m2_loss *)loss)->scale = scale;
    result = program_run(&lists->forward, err);
    return result == 0 ? program_run(&lists->backward, err) : result;
}
