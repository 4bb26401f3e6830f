/* The variants of the CPU backend: each keeps the contracts, avx2 and avx512
 * give the same bits, and a row gives the same bits alone and in a batch. */
#include "conformance/conformance.h"
#include "loader.h"
#include "tests/unit/unit.h"

static const struct plugin *cpu_plugin(void)
{
    const struct plugin *plugin = NULL;
    struct m2_error err = {0};

    if (plugin_load("cpu", M2_PLUGIN_BACKEND, &plugin, &err) != 0)
        print_message("# %s\n", err.text);
    return plugin;
}

/* False, with a word, when this processor does not have it. */
static bool choose(const char *isa)
{
    struct m2_device_facts facts;
    struct m2_error err = {0};

    setenv("M2_CPU_ISA", isa, 1);
    if (device_facts(cpu_plugin(), 0, &facts, &err) == 0)
        return true;
    print_message("# %s\n", err.text);
    return false;
}

static void print_failure(void *context, enum conformance_outcome outcome,
                          const char *text)
{
    (void)context;
    if (outcome == CONFORMANCE_FAILED)
        print_message("# %s\n", text);
}

static void keeps_every_contract(const char *isa)
{
    struct conformance_options options = {.plugin = cpu_plugin(), .threads = 2};
    struct conformance_result result;
    struct m2_error err = {0};

    if (!choose(isa))
        skip();
    assert_ok(conformance_run(&options, print_failure, NULL, &result, &err),
              &err);
    assert_int_equal(result.failed + result.unsupported, 0);
}

static void base_keeps_every_contract(void **state)
{
    (void)state;
    keeps_every_contract("base");
}

static void avx2_keeps_every_contract(void **state)
{
    (void)state;
    keeps_every_contract("avx2");
}

static void an_unknown_variant_is_refused(void **state)
{
    struct m2_device *device;
    struct m2_error err = {0};

    (void)state;
    setenv("M2_CPU_ISA", "mmx", 1);
    assert_fails(device_open(cpu_plugin(), 0, M2_F32, 1, &device, &err),
                 M2_E_DEVICE, "M2_CPU_ISA is \"mmx\"", &err);
}

/* ---- one layer's ops on fixed noise ------------------------------------ */

/* Shapes with remainders everywhere. */
enum { B = 3, L = 37, H = 3, P = 20, N = 9, Q = 16, D = 41, K = 4 };
enum { T = B * L, I = H * P, CHUNKS = (L + Q - 1) / Q };

#define V(rows, cols)                                                          \
    {                                                                          \
        NULL, 0, rows, cols, (cols) + 3, 0                                     \
    }
static const struct m2_linear linear = {.x = V(T, D),
                                        .w = V(I, D),
                                        .b = V(1, I),
                                        .y = V(T, I)};
static const struct m2_linear_backward linear_backward = {.dy = V(T, I),
                                                          .x = V(T, D),
                                                          .w = V(I, D),
                                                          .dx = V(T, D),
                                                          .dw = V(I, D),
                                                          .db = V(1, I)};
static const struct m2_rmsnorm rmsnorm = {.groups = 1,
                                          .eps = 1e-5,
                                          .x = V(T, I),
                                          .z = V(T, I),
                                          .w = V(1, I),
                                          .y = V(T, I),
                                          .rs = V(T, 1)};
static const struct m2_rmsnorm_backward rmsnorm_backward = {.groups = 1,
                                                            .dy = V(T, I),
                                                            .x = V(T, I),
                                                            .z = V(T, I),
                                                            .w = V(1, I),
                                                            .rs = V(T, 1),
                                                            .dx = V(T, I),
                                                            .dz = V(T, I),
                                                            .dw = V(1, I)};
static const struct m2_conv1d_silu conv = {.B = B,
                                           .L = L,
                                           .K = K,
                                           .x = V(T, I),
                                           .w = V(I, K),
                                           .b = V(1, I),
                                           .y = V(T, I)};
static const struct m2_conv1d_silu_backward conv_backward = {.B = B,
                                                             .L = L,
                                                             .K = K,
                                                             .dy = V(T, I),
                                                             .x = V(T, I),
                                                             .w = V(I, K),
                                                             .b = V(1, I),
                                                             .dx = V(T, I),
                                                             .dw = V(I, K),
                                                             .db = V(1, I)};
static const struct m2_dt dt = {.low = 1e-6,
                                .high = 1,
                                .raw = V(T, H),
                                .bias = V(1, H),
                                .dt = V(T, H)};
static const struct m2_ssd ssd = {.B = B,
                                  .L = L,
                                  .H = H,
                                  .P = P,
                                  .G = 1,
                                  .N = N,
                                  .Q = Q,
                                  .x = V(T, I),
                                  .dt = V(T, H),
                                  .a_log = V(1, H),
                                  .b = V(T, N),
                                  .c = V(T, N),
                                  .d = V(1, H),
                                  .y = V(T, I),
                                  .states = V(B, CHUNKS *I *N)};
static const struct m2_ssd_backward ssd_backward = {.B = B,
                                                    .L = L,
                                                    .H = H,
                                                    .P = P,
                                                    .G = 1,
                                                    .N = N,
                                                    .Q = Q,
                                                    .dy = V(T, I),
                                                    .x = V(T, I),
                                                    .dt = V(T, H),
                                                    .a_log = V(1, H),
                                                    .b = V(T, N),
                                                    .c = V(T, N),
                                                    .d = V(1, H),
                                                    .states =
                                                        V(B, CHUNKS *I *N),
                                                    .dx = V(T, I),
                                                    .ddt = V(T, H),
                                                    .da_log = V(1, H),
                                                    .db = V(T, N),
                                                    .dc = V(T, N),
                                                    .dd = V(1, H)};
static const struct m2_loss huber = {.delta = 0.5,
                                     .pred = V(T, D),
                                     .target = V(T, D),
                                     .out = V(1, 3),
                                     .dpred = V(T, D)};
static const struct m2_sumsq sumsq = {.x = V(T, D), .out = V(1, 1)};

static const struct {
    enum m2_op op;
    const void *args;
} calls[] = {
    {M2_OP_linear, &linear},
    {M2_OP_linear_backward, &linear_backward},
    {M2_OP_rmsnorm, &rmsnorm},
    {M2_OP_rmsnorm_backward, &rmsnorm_backward},
    {M2_OP_conv1d_silu, &conv},
    {M2_OP_conv1d_silu_backward, &conv_backward},
    {M2_OP_dt, &dt},
    {M2_OP_ssd, &ssd},
    {M2_OP_ssd_backward, &ssd_backward},
    {M2_OP_huber, &huber},
    {M2_OP_sumsq, &sumsq},
};

/* A call whose views are `rows` of the noise that its argument's name gives;
 * all of its memory is one buffer. */
struct call {
    union {
        struct m2_ssd_backward largest;
        char bytes[2048];
    } args;
    struct m2_device *device;
    struct m2_buffer *buffer;
    size_t bytes;
};

static void fill(double *host, int64_t count, uint32_t state)
{
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        host[i] = 0.02 + (double)(state >> 8) / 0x1p24;
    }
}

static void call_views(struct call *call, enum m2_op op, int64_t rows)
{
    const struct op_argument *arguments;
    size_t count = op_arguments(op, &arguments);
    int64_t offset = 0;

    for (size_t i = 0; i < count; i++) {
        struct m2_view *view = (void *)(call->args.bytes + arguments[i].offset);

        if (view->rows == 0)
            continue;
        view->dtype =
            arguments[i].kind == 'd' ? M2_F64 : device_real(call->device);
        if (view->rows == T && rows > 0)
            view->rows = rows;
        view->offset = offset;
        offset += view->rows * view->ld;
    }
    call->bytes = (size_t)offset * sizeof(double);
}

static void call_run(struct call *call, enum m2_op op, struct m2_error *err)
{
    const struct op_argument *arguments;
    size_t count = op_arguments(op, &arguments);
    void *zeros = calloc(1, call->bytes);

    assert_ok(buffer_alloc(call->device, call->bytes, &call->buffer, err), err);
    assert_ok(
        buffer_upload(call->device, call->buffer, 0, zeros, call->bytes, err),
        err);
    free(zeros);
    for (size_t i = 0; i < count; i++) {
        struct m2_view *view = (void *)(call->args.bytes + arguments[i].offset);
        double *host;

        if (view->rows == 0)
            continue;
        view->buffer = call->buffer;
        host = malloc((size_t)(view->rows * view->cols) * sizeof *host);
        fill(host, view->rows * view->cols, (uint32_t)i);
        assert_ok(view_upload(call->device, view, host, err), err);
        free(host);
    }
    assert_ok(op_call(call->device, op, &call->args, err), err);
}

/* Runs a call of the table and returns all of its memory afterwards. */
static char *outcome(size_t i, enum m2_dtype real, int threads, size_t *bytes)
{
    struct call call = {.buffer = NULL};
    struct m2_error err = {0};
    char *memory;

    assert_ok(device_open(cpu_plugin(), 0, real, threads, &call.device, &err),
              &err);
    memcpy(&call.args, calls[i].args, op_args_size(calls[i].op));
    call_views(&call, calls[i].op, 0);
    call_run(&call, calls[i].op, &err);
    memory = malloc(call.bytes);
    assert_ok(
        buffer_download(call.device, call.buffer, 0, memory, call.bytes, &err),
        &err);
    buffer_free(call.device, call.buffer);
    device_close(call.device);
    *bytes = call.bytes;
    return memory;
}

static void avx2_and_avx512_give_the_same_bits(void **state)
{
    (void)state;
    if (!choose("avx512"))
        skip();
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        for (int real = M2_F32; real <= M2_F64; real++) {
            size_t bytes;
            char *wide, *narrow;

            setenv("M2_CPU_ISA", "avx512", 1);
            wide = outcome(i, (enum m2_dtype)real, 1, &bytes);
            setenv("M2_CPU_ISA", "avx2", 1);
            narrow = outcome(i, (enum m2_dtype)real, 2, &bytes);
            if (memcmp(wide, narrow, bytes) != 0)
                fail_msg("%s differs", op_name(calls[i].op));
            free(wide);
            free(narrow);
        }
}

/* Rows [0, rows) of y = x W^T + b, where x has only that many rows. */
static double *first_rows(int64_t rows, int threads)
{
    struct call call = {.buffer = NULL};
    struct m2_linear *args = (void *)&call.args;
    struct m2_error err = {0};
    double *y = malloc(sizeof *y * (size_t)(rows * I));

    assert_ok(device_open(cpu_plugin(), 0, M2_F32, threads, &call.device, &err),
              &err);
    memcpy(&call.args, &linear, sizeof linear);
    call_views(&call, M2_OP_linear, rows);
    call_run(&call, M2_OP_linear, &err);
    assert_ok(view_download(call.device, &args->y, y, &err), &err);
    buffer_free(call.device, call.buffer);
    device_close(call.device);
    return y;
}

static void a_row_is_the_same_alone_and_in_a_batch(void **state)
{
    static const char *const isas[] = {"avx2", "avx512"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(isas); i++) {
        double *batch, *row;

        if (!choose(isas[i]))
            continue;
        batch = first_rows(T, 2);
        for (int64_t rows = 1; rows < 20; rows++) {
            row = first_rows(rows, 1);
            assert_memory_equal(row, batch, sizeof *row * (size_t)(rows * I));
            free(row);
        }
        free(batch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_keeps_every_contract),
        cmocka_unit_test(avx2_keeps_every_contract),
        cmocka_unit_test(an_unknown_variant_is_refused),
        cmocka_unit_test(avx2_and_avx512_give_the_same_bits),
        cmocka_unit_test(a_row_is_the_same_alone_and_in_a_batch),
    };

    if (cpu_plugin() == NULL)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
