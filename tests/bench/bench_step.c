/* bench_step: times one training step (forward, backward, clipping, AdamW), or
 * a forward pass, of a forecast model on a backend, without data: the
 * counterpart of pytorch_step.py.
 *
 *   bench_step [KEY=VALUE...]
 *
 * Keys: backend, threads, dtype (32 or 64), steps, forward (1: no training),
 * batch, window, features, d_model, n_layer, d_state, headdim, expand, d_conv;
 * defaults in the table below. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "loader.h"
#include "model/model.h"
#include "train/optimiser.h"

/* On one thread CPU time counts: it means something on a busy machine too. */
static double now_ms(int threads)
{
    struct timespec t;

    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                  &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static const char *backend = "cpu";
static struct {
    const char *key;
    int64_t value;
} keys[] = {
    {"threads", 1}, {"dtype", 32},   {"steps", 8},     {"forward", 0},
    {"batch", 32},  {"window", 60},  {"features", 16}, {"d_model", 256},
    {"n_layer", 6}, {"d_state", 16}, {"headdim", 64},  {"expand", 2},
    {"d_conv", 4},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

static int64_t key(const char *name)
{
    for (int i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].key, name) == 0)
            return keys[i].value;
    abort();
}

static int parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t length = equals == NULL ? 0 : (size_t)(equals - argv[i]);
        int k = 0;

        if (length == 7 && strncmp(argv[i], "backend", 7) == 0) {
            backend = equals + 1;
            continue;
        }
        while (k < N_KEYS && (strlen(keys[k].key) != length ||
                              strncmp(keys[k].key, argv[i], length) != 0))
            k++;
        if (k == N_KEYS || atoll(equals + 1) < 0) {
            fprintf(stderr, "bench_step: what is %s?\n", argv[i]);
            return -1;
        }
        keys[k].value = atoll(equals + 1);
    }
    return 0;
}

static struct config config_of_keys(void)
{
    static char type[] = "mamba2";
    struct config c = {.dtype = key("dtype") == 64 ? M2_F64 : M2_F32,
                       .model = {.type = type,
                                 .d_model = key("d_model"),
                                 .n_layer = key("n_layer"),
                                 .d_state = key("d_state"),
                                 .expand = key("expand"),
                                 .headdim = key("headdim"),
                                 .d_conv = key("d_conv"),
                                 .ngroups = 1,
                                 .norm_groups = 1,
                                 .chunk = 64,
                                 .dt_limit = {1e-6, 1.0},
                                 .norm_eps = 1e-5,
                                 .conv_bias = true,
                                 .head = HEAD_FORECAST,
                                 .readout = READOUT_LAST},
                       .train = {.batch_size = key("batch"),
                                 .loss = LOSS_MSE,
                                 .clip_norm = 1}};

    c.train.optimizer.lr = 1e-4;
    c.train.optimizer.betas[0] = 0.9;
    c.train.optimizer.betas[1] = 0.999;
    c.train.optimizer.eps = 1e-8;
    c.train.optimizer.weight_decay = 0.01;
    return c;
}

struct bench {
    int threads;
    bool forward;
    int64_t batch;
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

static int setup(struct bench *b, const struct config *config,
                 struct m2_error *err)
{
    struct model_spec spec = {.config = &config->model,
                              .n_features = key("features"),
                              .n_outputs = 1,
                              .B = b->batch,
                              .L = key("window"),
                              .training = !b->forward};
    const struct plugin *plugin;
    int code = plugin_load(backend, M2_PLUGIN_BACKEND, &plugin, err);

    if (code == M2_OK)
        code =
            device_open(plugin, 0, config->dtype, b->threads, &b->device, err);
    if (code == M2_OK)
        code = model_plan(&spec, b->device, config->dtype, &b->plan, err);
    if (code == M2_OK)
        code = model_create(b->device, &spec, &b->model, err);
    if (code == M2_OK)
        code = model_prepare(b->model, b->batch, err);
    if (code == M2_OK)
        code = model_initialise(b->model, 0, err);
    if (code == M2_OK && !b->forward)
        code =
            optimiser_create(b->device, b->model, config, &b->optimiser, err);
    if (code == M2_OK)
        code = upload_noise(b->device, model_input(b->model, b->batch), err);
    if (code == M2_OK && !b->forward)
        code = upload_noise(b->device, model_target(b->model, b->batch), err);
    return code;
}

static int step(struct bench *b, int64_t number, struct m2_error *err)
{
    struct optimiser_result result;
    struct m2_fill zero = {0};
    int code;

    if (b->forward) {
        code = model_forward(b->model, b->batch, err);
        return code == M2_OK ? device_sync(b->device, err) : code;
    }
    zero.y = model_gradients(b->model);
    code = op_call(b->device, M2_OP_fill, &zero, err);
    if (code == M2_OK)
        code = model_forward_backward(b->model, b->batch, 0, err);
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

static int run(struct bench *b, struct m2_error *err)
{
    int64_t steps = key("steps");
    double *times = calloc((size_t)steps + 1, sizeof *times);
    double flops = b->forward ? b->plan.forward_flops : b->plan.step_flops;
    int code = times == NULL ? M2_E_MEMORY : M2_OK;

    for (int64_t i = -2; i < steps && code == M2_OK; i++) {
        double start = now_ms(b->threads);

        code = step(b, i + 3, err);
        if (i >= 0)
            times[i] = now_ms(b->threads) - start;
    }
    if (code == M2_OK && steps > 0) {
        qsort(times, (size_t)steps, sizeof times[0], ascending);
        printf("m2run %s f%d threads %d best %.4g median %.4g ms "
               "(%.1f GFLOP/s of %.4g GFLOP)\n",
               backend, (int)key("dtype"), b->threads, times[0],
               times[steps / 2], 1e-6 * flops / times[0], 1e-9 * flops);
    }
    free(times);
    return code;
}

int main(int argc, char **argv)
{
    struct config config;
    struct bench b = {0};
    struct m2_error err = {0};
    int code;

    if (parse(argc, argv) != 0)
        return 2;
    config = config_of_keys();
    b.threads = (int)key("threads");
    b.forward = key("forward") != 0;
    b.batch = key("batch");
    code = setup(&b, &config, &err);
    if (code == M2_OK)
        code = run(&b, &err);
    if (code != M2_OK)
        fprintf(stderr, "bench_step: %s\n", err.text);
    optimiser_free(b.optimiser);
    model_free(b.model);
    device_close(b.device);
    return code != M2_OK;
}
