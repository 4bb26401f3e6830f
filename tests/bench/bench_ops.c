/* bench_ops: times every op of a training step at the shapes of the model
 * that pytorch_step.py and bench_step.c train, one call at a time.
 *
 *   bench_ops [BACKEND] [THREADS] [f32|f64] [SECONDS per op] [PART of a name]
 *
 * Prints milliseconds of the fastest call, GFLOP/s and its share of the FMA
 * peak.  One thread is timed by its CPU time, more by the wall clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loader.h"
#include "ops.h"
#include "util/fma_peak.h"
#include "util/timefmt.h"

enum {
    B = 32,
    L = 60,
    T = B * L,
    D = 256,
    I = 512,
    H = 8,
    P = 64,
    N = 16,
    K = 4,
    Q = 64,
    CD = I + 2 * N,
    J = I + CD + H,
    NP = 2442577, /* parameters of six layers */
};

/* A shape; ld 0: packed. */
#define V(rows, cols)                                                          \
    {                                                                          \
        NULL, 0, rows, cols, cols, 0                                           \
    }
#define VL(rows, cols, ld)                                                     \
    {                                                                          \
        NULL, 0, rows, cols, ld, 0                                             \
    }

static const struct m2_linear in_proj = {.x = V(T, D),
                                         .w = V(J, D),
                                         .y = V(T, J)};
static const struct m2_linear_backward in_proj_dx = {.dy = V(T, J),
                                                     .w = V(J, D),
                                                     .dx = V(T, D)};
static const struct m2_linear_backward in_proj_dw = {.dy = V(T, J),
                                                     .x = V(T, D),
                                                     .dw = V(J, D)};
static const struct m2_linear out_proj = {.x = V(T, I),
                                          .w = V(D, I),
                                          .residual = V(T, D),
                                          .y = V(T, D)};
static const struct m2_linear_backward out_proj_dx = {.dy = V(T, D),
                                                      .w = V(D, I),
                                                      .dx = V(T, I)};
static const struct m2_linear_backward out_proj_dw = {.dy = V(T, D),
                                                      .x = V(T, I),
                                                      .dw = V(D, I)};
static const struct m2_rmsnorm norm = {.groups = 1,
                                       .eps = 1e-5,
                                       .x = V(T, D),
                                       .w = V(1, D),
                                       .y = V(T, D),
                                       .rs = V(T, 1)};
static const struct m2_rmsnorm_backward norm_backward = {.groups = 1,
                                                         .dy = V(T, D),
                                                         .x = V(T, D),
                                                         .w = V(1, D),
                                                         .rs = V(T, 1),
                                                         .dx = V(T, D),
                                                         .dw = V(1, D),
                                                         .accumulate = 1};
static const struct m2_rmsnorm gated = {.groups = 1,
                                        .eps = 1e-5,
                                        .x = V(T, I),
                                        .z = VL(T, I, J),
                                        .w = V(1, I),
                                        .y = V(T, I),
                                        .rs = V(T, 1)};
static const struct m2_rmsnorm_backward gated_backward = {.groups = 1,
                                                          .dy = V(T, I),
                                                          .x = V(T, I),
                                                          .z = VL(T, I, J),
                                                          .w = V(1, I),
                                                          .rs = V(T, 1),
                                                          .dx = V(T, I),
                                                          .dz = VL(T, I, J),
                                                          .dw = V(1, I)};
static const struct m2_conv1d_silu conv = {.B = B,
                                           .L = L,
                                           .K = K,
                                           .x = VL(T, CD, J),
                                           .w = V(CD, K),
                                           .b = V(1, CD),
                                           .y = V(T, CD)};
static const struct m2_conv1d_silu_backward conv_backward = {.B = B,
                                                             .L = L,
                                                             .K = K,
                                                             .dy = V(T, CD),
                                                             .x = VL(T, CD, J),
                                                             .w = V(CD, K),
                                                             .b = V(1, CD),
                                                             .dx = VL(T, CD, J),
                                                             .dw = V(CD, K),
                                                             .db = V(1, CD)};
static const struct m2_dt dt = {.low = 1e-6,
                                .high = 1,
                                .raw = VL(T, H, J),
                                .bias = V(1, H),
                                .dt = V(T, H)};
static const struct m2_dt_backward dt_backward = {.low = 1e-6,
                                                  .high = 1,
                                                  .ddt = V(T, H),
                                                  .raw = VL(T, H, J),
                                                  .bias = V(1, H),
                                                  .draw = VL(T, H, J),
                                                  .dbias = V(1, H)};
static const struct m2_ssd ssd = {.B = B,
                                  .L = L,
                                  .H = H,
                                  .P = P,
                                  .G = 1,
                                  .N = N,
                                  .Q = Q,
                                  .x = VL(T, H *P, CD),
                                  .dt = V(T, H),
                                  .a_log = V(1, H),
                                  .b = VL(T, N, CD),
                                  .c = VL(T, N, CD),
                                  .d = V(1, H),
                                  .y = V(T, H *P),
                                  .states = V(B, H *P *N)};
static const struct m2_ssd_backward ssd_backward = {.B = B,
                                                    .L = L,
                                                    .H = H,
                                                    .P = P,
                                                    .G = 1,
                                                    .N = N,
                                                    .Q = Q,
                                                    .dy = V(T, H *P),
                                                    .x = VL(T, H *P, CD),
                                                    .dt = V(T, H),
                                                    .a_log = V(1, H),
                                                    .b = VL(T, N, CD),
                                                    .c = VL(T, N, CD),
                                                    .d = V(1, H),
                                                    .states = V(B, H *P *N),
                                                    .dx = VL(T, H *P, CD),
                                                    .ddt = V(T, H),
                                                    .da_log = V(1, H),
                                                    .db = VL(T, N, CD),
                                                    .dc = VL(T, N, CD),
                                                    .dd = V(1, H)};
static const struct m2_sumsq sumsq = {.x = V(1, NP), .out = V(1, 1)};
static const struct m2_adamw adamw = {.beta1 = 0.9,
                                      .beta2 = 0.999,
                                      .eps = 1e-8,
                                      .weight_decay = 0.01,
                                      .p = V(1, NP),
                                      .g = V(1, NP),
                                      .m = V(1, NP),
                                      .v = V(1, NP),
                                      .step = V(1, 3),
                                      .finite = V(1, 1)};

static const struct row {
    const char *title;
    enum m2_op op;
    const void *args;
    int layer; /* counted in the sum of a layer */
} rows[] = {
    {"norm", M2_OP_rmsnorm, &norm, 1},
    {"in_proj", M2_OP_linear, &in_proj, 1},
    {"conv", M2_OP_conv1d_silu, &conv, 1},
    {"dt", M2_OP_dt, &dt, 1},
    {"ssd", M2_OP_ssd, &ssd, 1},
    {"gated norm", M2_OP_rmsnorm, &gated, 1},
    {"out_proj", M2_OP_linear, &out_proj, 1},
    {"out_proj dx", M2_OP_linear_backward, &out_proj_dx, 1},
    {"out_proj dw", M2_OP_linear_backward, &out_proj_dw, 1},
    {"gated norm backward", M2_OP_rmsnorm_backward, &gated_backward, 1},
    {"ssd backward", M2_OP_ssd_backward, &ssd_backward, 1},
    {"dt backward", M2_OP_dt_backward, &dt_backward, 1},
    {"conv backward", M2_OP_conv1d_silu_backward, &conv_backward, 1},
    {"in_proj dx", M2_OP_linear_backward, &in_proj_dx, 1},
    {"in_proj dw", M2_OP_linear_backward, &in_proj_dw, 1},
    {"norm backward", M2_OP_rmsnorm_backward, &norm_backward, 1},
    {"sumsq", M2_OP_sumsq, &sumsq, 0},
    {"adamw", M2_OP_adamw, &adamw, 0},
};

/* A call with memory of its own; all numbers are small and positive, but for
 * the states: a window that fits in one chunk starts from zero. */
struct call {
    union {
        struct m2_conv1d_silu_backward conv;
        struct m2_ssd_backward ssd;
        char bytes[1024];
    } args;
    struct m2_buffer *buffers[16];
};

static int call_setup(struct call *call, struct m2_device *device,
                      const struct row *row, struct m2_error *err)
{
    const struct op_argument *arguments;
    size_t count = op_arguments(row->op, &arguments);

    memset(call, 0, sizeof *call);
    memcpy(&call->args, row->args, op_args_size(row->op));
    for (size_t i = 0; i < count; i++) {
        struct m2_view *view = (void *)(call->args.bytes + arguments[i].offset);
        bool zero = strcmp(arguments[i].name, "states") == 0;
        double *host;
        int code;

        if (view->rows == 0)
            continue;
        view->dtype = arguments[i].kind == 'd' ? M2_F64 : device_real(device);
        code = buffer_alloc(device,
                            (size_t)(view->rows * view->ld) *
                                m2_dtype_size(view->dtype),
                            &call->buffers[i], err);
        if (code != M2_OK)
            return code;
        view->buffer = call->buffers[i];
        host = malloc((size_t)(view->rows * view->cols) * sizeof *host);
        for (int64_t j = 0; host != NULL && j < view->rows * view->cols; j++)
            host[j] = zero ? 0 : 0.01 + 0.001 * (double)(j % 97);
        code = view_upload(device, view, host, err);
        free(host);
        if (code != M2_OK)
            return code;
    }
    return M2_OK;
}

/* CPU time means something on a busy machine, too; it counts one thread. */
static double now_s(int threads)
{
    struct timespec t;

    if (threads > 1)
        return time_monotonic();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the fastest of many calls, or a negative code. */
static double call_time(struct call *call, struct m2_device *device,
                        enum m2_op op, int threads, double budget,
                        struct m2_error *err)
{
    double end = time_monotonic() + budget, best = 1e9;
    int code = op_prepare(device, op, &call->args, err);

    if (code == M2_OK)
        code = device_reserve(device, err);
    while (code == M2_OK && (best > 1e8 || time_monotonic() < end)) {
        double start = now_s(threads);

        code = op_run(device, op, &call->args, err);
        start = now_s(threads) - start;
        best = start < best ? start : best;
    }
    return code == M2_OK ? best : code;
}

static int bench(struct m2_device *device, int threads, double budget,
                 const char *only, struct m2_error *err)
{
    double peak = 1e-9 * fma_peak(device_real(device) == M2_F64, threads);
    double layer = 0;

    printf("FMA peak %.1f GFLOP/s with %d threads\n", peak, threads);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct call call;
        double seconds = -1, flops;
        int code;

        if (strstr(rows[i].title, only) == NULL)
            continue;
        code = call_setup(&call, device, &rows[i], err);
        flops = op_flops(rows[i].op, &call.args);
        if (code == M2_OK)
            seconds =
                call_time(&call, device, rows[i].op, threads, budget, err);
        for (size_t j = 0; j < 16; j++)
            if (call.buffers[j] != NULL)
                buffer_free(device, call.buffers[j]);
        if (seconds < 0)
            return code != M2_OK ? code : (int)seconds;
        printf("%-22s %8.3f ms", rows[i].title, 1e3 * seconds);
        if (flops > 0)
            printf(" %8.1f GFLOP/s %5.1f %%", 1e-9 * flops / seconds,
                   1e-7 * flops / seconds / peak);
        printf("\n");
        layer += rows[i].layer * seconds;
    }
    printf("%-22s %8.3f ms\n", "one layer", 1e3 * layer);
    return M2_OK;
}

int main(int argc, char **argv)
{
    const char *backend = argc > 1 ? argv[1] : "cpu";
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    enum m2_dtype real =
        argc > 3 && strcmp(argv[3], "f64") == 0 ? M2_F64 : M2_F32;
    double budget = argc > 4 ? atof(argv[4]) : 0.5;
    const struct plugin *plugin;
    struct m2_device *device = NULL;
    struct m2_error err = {0};
    int code = plugin_load(backend, M2_PLUGIN_BACKEND, &plugin, &err);

    if (code == M2_OK)
        code = device_open(plugin, 0, real, threads, &device, &err);
    if (code == M2_OK)
        code = bench(device, threads, budget, argc > 5 ? argv[5] : "", &err);
    if (code != M2_OK)
        fprintf(stderr, "bench_ops: %s\n", err.text);
    device_close(device);
    return code != M2_OK;
}
