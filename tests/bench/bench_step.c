/* bench_step: times one training step (forward, backward, clipping, AdamW) of
 * a forecast model on a backend, without data: the counterpart of
 * pytorch_step.py.
 *
 *   bench_step [BACKEND] [THREADS] [f32|f64] [STEPS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "loader.h"
#include "model/model.h"
#include "train/optimiser.h"

enum { BATCH = 32, WINDOW = 60, FEATURES = 16 };

/* On one thread CPU time counts: it means something on a busy machine too. */
static double now_ms(int threads)
{
    struct timespec t;

    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                  &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static struct config config_s(enum m2_dtype dtype)
{
    static char type[] = "mamba2";
    struct config c = {
        .dtype = dtype,
        .model = {.type = type,
                  .d_model = 256,
                  .n_layer = 6,
                  .d_state = 16,
                  .expand = 2,
                  .headdim = 64,
                  .d_conv = 4,
                  .ngroups = 1,
                  .norm_groups = 1,
                  .chunk = 64,
                  .dt_limit = {1e-6, 1.0},
                  .norm_eps = 1e-5,
                  .conv_bias = true,
                  .head = HEAD_FORECAST,
                  .readout = READOUT_LAST},
        .train = {.batch_size = BATCH, .loss = LOSS_MSE, .clip_norm = 1}};

    c.train.optimizer.lr = 1e-4;
    c.train.optimizer.betas[0] = 0.9;
    c.train.optimizer.betas[1] = 0.999;
    c.train.optimizer.eps = 1e-8;
    c.train.optimizer.weight_decay = 0.01;
    return c;
}

struct bench {
    int threads;
    struct m2_device *device;
    struct model *model;
    struct optimiser *optimiser;
    struct model_plan plan;
};

static int upload_noise(struct m2_device *device, struct m2_view view,
                        struct m2_error *err)
{
    size_t count = (size_t)(view.rows * view.cols);
    double *host = malloc(count * sizeof *host);
    uint32_t state = 1;
    int code;

    if (host == NULL)
        return m2_fail(err, M2_E_MEMORY, "no memory for %zu numbers", count);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        host[i] = (double)state / 2147483648.0 - 1.0;
    }
    code = view_upload(device, &view, host, err);
    free(host);
    return code;
}

static int setup(struct bench *b, const struct plugin *plugin,
                 const struct config *config, int threads, struct m2_error *err)
{
    struct model_spec spec = {.config = &config->model,
                              .n_features = FEATURES,
                              .n_outputs = 1,
                              .B = BATCH,
                              .L = WINDOW,
                              .training = true};

    int code;

    b->threads = threads;
    code = device_open(plugin, 0, config->dtype, threads, &b->device, err);
    if (code == M2_OK)
        code = model_plan(&spec, b->device, config->dtype, &b->plan, err);
    if (code == M2_OK)
        code = model_create(b->device, &spec, &b->model, err);
    if (code == M2_OK)
        code = model_prepare(b->model, BATCH, err);
    if (code == M2_OK)
        code = model_initialise(b->model, 0, err);
    if (code == M2_OK)
        code =
            optimiser_create(b->device, b->model, config, &b->optimiser, err);
    if (code == M2_OK)
        code = upload_noise(b->device, model_input(b->model, BATCH), err);
    if (code == M2_OK)
        code = upload_noise(b->device, model_target(b->model, BATCH), err);
    return code;
}

static int step(struct bench *b, int64_t number, struct m2_error *err)
{
    struct optimiser_result result;
    struct m2_fill zero = {.y = model_gradients(b->model)};
    int code = op_call(b->device, M2_OP_fill, &zero, err);

    if (code == M2_OK)
        code = model_forward_backward(b->model, BATCH, 0, err);
    if (code == M2_OK)
        code = optimiser_step(b->optimiser, number, 1e-4, &result, err);
    if (code == M2_OK)
        code = device_sync(b->device, err);
    return code;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int run(struct bench *b, int steps, const char *title,
               struct m2_error *err)
{
    double times[1000];

    for (int i = -2; i < steps; i++) {
        double start = now_ms(b->threads);
        int code = step(b, i + 3, err);

        if (code != M2_OK)
            return code;
        if (i >= 0)
            times[i] = now_ms(b->threads) - start;
    }
    qsort(times, (size_t)steps, sizeof times[0], ascending);
    printf("m2run %s best %.1f median %.1f ms (%.1f GFLOP/s of %.2f GFLOP)\n",
           title, times[0], times[steps / 2],
           1e-6 * b->plan.step_flops / times[0], 1e-9 * b->plan.step_flops);
    return M2_OK;
}

int main(int argc, char **argv)
{
    const char *backend = argc > 1 ? argv[1] : "cpu";
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    enum m2_dtype dtype =
        argc > 3 && strcmp(argv[3], "f64") == 0 ? M2_F64 : M2_F32;
    int steps = argc > 4 ? atoi(argv[4]) : 8;
    const struct plugin *plugin;
    struct config config = config_s(dtype);
    struct bench b = {0};
    struct m2_error err = {0};
    char title[200];
    int code = plugin_load(backend, M2_PLUGIN_BACKEND, &plugin, &err);

    if (steps < 1 || steps > 1000)
        steps = 8;
    snprintf(title, sizeof title, "%s %s threads %d", backend,
             dtype == M2_F32 ? "f32" : "f64", threads);
    if (code == M2_OK)
        code = setup(&b, plugin, &config, threads, &err);
    if (code == M2_OK)
        code = run(&b, steps, title, &err);
    if (code != M2_OK)
        fprintf(stderr, "bench_step: %s\n", err.text);
    optimiser_free(b.optimiser);
    model_free(b.model);
    device_close(b.device);
    return code != M2_OK;
}
