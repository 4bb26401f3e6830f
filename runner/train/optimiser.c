/* Norm, clip, AdamW, spectral: the calls of one update, checked once. */
#include "train/optimiser.h"

#include <math.h>
#include <stdlib.h>

#include "util/memory.h"

/* Doubles on the device, by place. */
enum { AT_STEP = 0, AT_SUMSQ = 3, AT_CLIP = 4, N_VALUES = 7 };

struct optimiser {
    struct m2_device *device;
    struct m2_buffer *moments, *values;
    int64_t n, n_decayed, n_layer;
    double betas[2];
    struct m2_sumsq sumsq;
    struct m2_clip clip;
    struct m2_adamw decayed, plain;
    struct m2_spectral *spectral; /* (n_layer), or NULL */
};

static struct m2_view values_view(const struct optimiser *optimiser,
                                  int64_t first, int64_t count)
{
    return view_matrix(optimiser->values, first, 1, count, count, M2_F64);
}

struct m2_view optimiser_first_moment(const struct optimiser *optimiser)
{
    return view_matrix(optimiser->moments, 0, 1, optimiser->n, optimiser->n,
                       device_real(optimiser->device));
}

struct m2_view optimiser_second_moment(const struct optimiser *optimiser)
{
    return view_matrix(optimiser->moments, optimiser->n, 1, optimiser->n,
                       optimiser->n, device_real(optimiser->device));
}

static struct m2_adamw group(const struct optimiser *optimiser,
                             const struct model *model,
                             const struct config_train *config, bool decayed)
{
    int64_t first = decayed ? 0 : optimiser->n_decayed;
    int64_t count =
        decayed ? optimiser->n_decayed : optimiser->n - optimiser->n_decayed;

    return (struct m2_adamw){
        .beta1 = config->optimizer.betas[0],
        .beta2 = config->optimizer.betas[1],
        .eps = config->optimizer.eps,
        .weight_decay = decayed ? config->optimizer.weight_decay : 0.0,
        .p = view_columns(model_values(model), first, count),
        .g = view_columns(model_gradients(model), first, count),
        .m = view_columns(optimiser_first_moment(optimiser), first, count),
        .v = view_columns(optimiser_second_moment(optimiser), first, count),
        .step = values_view(optimiser, AT_STEP, 3),
        .finite = values_view(optimiser, AT_CLIP + 2, 1),
    };
}

static int prepare_spectral(struct optimiser *optimiser,
                            const struct model *model,
                            const struct config_train *config,
                            struct m2_error *err)
{
    int code = 0;

    if (config->spectral_radius.mode == SPECTRAL_OFF)
        return 0;
    optimiser->spectral = memory_zeroed((size_t)optimiser->n_layer,
                                        sizeof *optimiser->spectral, err);
    if (optimiser->spectral == NULL)
        return M2_E_MEMORY;
    for (int64_t i = 0; code == 0 && i < optimiser->n_layer; i++) {
        optimiser->spectral[i] = (struct m2_spectral){
            .mode = config->spectral_radius.mode == SPECTRAL_DISCRETE
                        ? M2_SPECTRAL_DISCRETE
                        : M2_SPECTRAL_CONTINUOUS,
            .rho = config->spectral_radius.rho,
            .dt_ref = config->spectral_radius.dt_ref,
            .a_log = model_a_log(model, i),
            .finite = values_view(optimiser, AT_CLIP + 2, 1),
        };
        code = op_prepare(optimiser->device, M2_OP_spectral,
                          &optimiser->spectral[i], err);
    }
    return code;
}

static int prepare(struct optimiser *optimiser, const struct model *model,
                   const struct config_train *config, struct m2_error *err)
{
    struct m2_device *device = optimiser->device;
    int code;

    optimiser->sumsq = (struct m2_sumsq){
        .x = model_gradients(model),
        .out = values_view(optimiser, AT_SUMSQ, 1),
    };
    optimiser->clip = (struct m2_clip){
        .max_norm = config->clip_norm,
        .x = model_gradients(model),
        .sumsq = optimiser->sumsq.out,
        .out = values_view(optimiser, AT_CLIP, 3),
    };
    optimiser->decayed = group(optimiser, model, config, true);
    optimiser->plain = group(optimiser, model, config, false);
    code = op_prepare(device, M2_OP_sumsq, &optimiser->sumsq, err);
    if (code == 0)
        code = op_prepare(device, M2_OP_clip, &optimiser->clip, err);
    if (code == 0)
        code = op_prepare(device, M2_OP_adamw, &optimiser->decayed, err);
    if (code == 0)
        code = op_prepare(device, M2_OP_adamw, &optimiser->plain, err);
    if (code == 0)
        code = prepare_spectral(optimiser, model, config, err);
    return code != 0 ? code : device_reserve(device, err);
}

static int zero_moments(struct optimiser *optimiser, struct m2_error *err)
{
    struct m2_fill fill = {.y = optimiser_first_moment(optimiser)};
    int code = op_call(optimiser->device, M2_OP_fill, &fill, err);

    fill.y = optimiser_second_moment(optimiser);
    return code != 0 ? code
                     : op_call(optimiser->device, M2_OP_fill, &fill, err);
}

int optimiser_create(struct m2_device *device, struct model *model,
                     const struct config *config, struct optimiser **out,
                     struct m2_error *err)
{
    struct optimiser *optimiser = memory_zeroed(1, sizeof *optimiser, err);
    size_t bytes;
    int code;

    if (optimiser == NULL)
        return M2_E_MEMORY;
    optimiser->device = device;
    optimiser->n = model_arena_size(model, &optimiser->n_decayed);
    optimiser->n_layer = config->model.n_layer;
    optimiser->betas[0] = config->train.optimizer.betas[0];
    optimiser->betas[1] = config->train.optimizer.betas[1];
    bytes = 2 * (size_t)optimiser->n * m2_dtype_size(device_real(device));
    code = buffer_alloc(device, bytes, &optimiser->moments, err);
    if (code == 0)
        code = buffer_alloc(device, N_VALUES * sizeof(double),
                            &optimiser->values, err);
    if (code == 0)
        code = prepare(optimiser, model, &config->train, err);
    if (code == 0)
        code = zero_moments(optimiser, err);
    if (code != 0) {
        optimiser_free(optimiser);
        return code;
    }
    *out = optimiser;
    return 0;
}

void optimiser_free(struct optimiser *optimiser)
{
    if (optimiser == NULL)
        return;
    if (optimiser->moments != NULL)
        buffer_free(optimiser->device, optimiser->moments);
    if (optimiser->values != NULL)
        buffer_free(optimiser->device, optimiser->values);
    free(optimiser->spectral);
    free(optimiser);
}

/* Most often the same view as the step before. */
static int set_also(struct optimiser *optimiser, const struct m2_view *also,
                    struct m2_error *err)
{
    const struct m2_view wanted = also != NULL ? *also : (struct m2_view){0};
    struct m2_clip *clip = &optimiser->clip;
    int code;

    if (clip->also.buffer == wanted.buffer &&
        clip->also.offset == wanted.offset && clip->also.rows == wanted.rows &&
        clip->also.cols == wanted.cols && clip->also.ld == wanted.ld)
        return 0;
    clip->also = wanted;
    code = op_prepare(optimiser->device, M2_OP_clip, clip, err);
    return code != 0 ? code : device_reserve(optimiser->device, err);
}

static int run_spectral(struct optimiser *optimiser, struct m2_error *err)
{
    int code = 0;

    for (int64_t i = 0;
         code == 0 && optimiser->spectral != NULL && i < optimiser->n_layer;
         i++)
        code = op_run(optimiser->device, M2_OP_spectral,
                      &optimiser->spectral[i], err);
    return code;
}

int optimiser_queue(struct optimiser *optimiser, int64_t step, double lr,
                    const struct m2_view *also, struct m2_error *err)
{
    struct m2_device *device = optimiser->device;
    double values[3] = {
        lr,
        1.0 - pow(optimiser->betas[0], (double)step),
        1.0 - pow(optimiser->betas[1], (double)step),
    };
    int code = set_also(optimiser, also, err);

    if (code == 0)
        code =
            buffer_upload(device, optimiser->values, AT_STEP * sizeof(double),
                          values, sizeof values, err);
    if (code == 0)
        code = op_run(device, M2_OP_sumsq, &optimiser->sumsq, err);
    if (code == 0)
        code = op_run(device, M2_OP_clip, &optimiser->clip, err);
    if (code == 0)
        code = op_run(device, M2_OP_adamw, &optimiser->decayed, err);
    if (code == 0)
        code = op_run(device, M2_OP_adamw, &optimiser->plain, err);
    return code != 0 ? code : run_spectral(optimiser, err);
}

int optimiser_read(struct optimiser *optimiser, struct optimiser_result *out,
                   struct m2_error *err)
{
    double clip[3];
    int code =
        buffer_download(optimiser->device, optimiser->values,
                        AT_CLIP * sizeof(double), clip, sizeof clip, err);

    if (code == 0)
        *out = (struct optimiser_result){clip[0], clip[2] != 0.0};
    return code;
}

int optimiser_step(struct optimiser *optimiser, int64_t step, double lr,
                   struct optimiser_result *out, struct m2_error *err)
{
    int code = optimiser_queue(optimiser, step, lr, NULL, err);

    return code != 0 ? code : optimiser_read(optimiser, out, err);
}
