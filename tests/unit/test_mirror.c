/* The mirror: every op is repeated on equal inputs, and an error is found at
 * the op that made it. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <math.h>

#include "backends/conformance/mirror.h"
#include "plugins/loader.h"
#include "tests/unit/op_calls.h"

static const struct plugin *mock;

static int set_up(void **state)
{
    const char *build = getenv("top_builddir");
    char path[PATH_MAX];
    struct m2_error err;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/mock/.libs/m2_mock.so",
             build != NULL ? build : ".");
    assert_ok(plugin_load(path, M2_PLUGIN_BACKEND, &mock, &err), &err);
    return 0;
}

/* putenv keeps this very string. */
static void set_mock(const char *setting, int value)
{
    static char variable[64];

    snprintf(variable, sizeof variable, "M2_MOCK=%s%d", setting, value);
    putenv(variable);
}

struct pair {
    struct m2_device *device, *twin;
    struct m2_buffer *buffer;
    struct mirror *mirror;
};

/* A view's name is where it lies, its layer the place of the argument. */
static void describe(void *context, const struct m2_view *view,
                     struct mirror_name *out)
{
    (void)context;
    snprintf(out->text, sizeof out->text, "element %lld",
             (long long)view->offset);
    out->layer = view->offset > 0 ? 7 : -1;
}

static void pair_open(struct pair *pair, const struct plugin *twin,
                      enum m2_dtype real, bool exact)
{
    struct m2_error err;

    assert_ok(
        device_open(plugin_builtin_ref(), 0, real, 1, &pair->device, &err),
        &err);
    assert_ok(device_open(twin, 0, real, 1, &pair->twin, &err), &err);
    assert_ok(
        buffer_alloc(pair->device, CALL_BUFFER_BYTES, &pair->buffer, &err),
        &err);
    const struct mirror_request request = {
        .device = pair->device,
        .twin = pair->twin,
        .exact = exact,
        .describe = describe,
    };

    assert_ok(mirror_open(&request, &pair->mirror, &err), &err);
}

static void pair_close(struct pair *pair)
{
    buffer_free(pair->device, pair->buffer);
    mirror_close(pair->mirror);
    device_close(pair->twin);
    device_close(pair->device);
}

/* Numbers between 0.2 and 1.8 into everything; indices are 0. */
static void fill(struct m2_device *device, enum m2_op op, union call_args *args)
{
    const struct op_argument *arguments;
    size_t n = op_arguments(op, &arguments);
    double values[CALL_BUFFER_BYTES / 8];
    static const int32_t zeros[CALL_BUFFER_BYTES / 8];
    struct m2_error err;

    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = 1 + 0.8 * sin((double)i);
    for (size_t i = 0; i < n; i++) {
        const struct m2_view *view = call_view(op, args, i);

        if (view->buffer == NULL)
            continue;
        if (view->dtype == M2_I32)
            assert_ok(view_upload_i32(device, view, zeros, &err), &err);
        else
            assert_ok(view_upload(device, view, values, &err), &err);
    }
}

static bool has_member(enum m2_op op, const char *name)
{
    const struct op_contract *contract = op_contract(op);

    for (size_t i = 0; i < contract->n_members; i++)
        if (strcmp(contract->members[i].name, name) == 0)
            return true;
    return false;
}

static void run_every_op(struct pair *pair, bool with_optional, int accumulate)
{
    enum m2_dtype real = device_real(pair->device);
    struct m2_error err;

    for (int op = 0; op < M2_N_OPS; op++) {
        union call_args args;

        call_make(op, real, pair->buffer, with_optional, &args);
        if (has_member(op, "accumulate"))
            call_set(op, &args, "accumulate", accumulate);
        fill(pair->device, op, &args);
        mirror_set_step(pair->mirror, op + 1);
        assert_ok(op_call(pair->device, op, &args, &err), &err);
    }
}

static void a_backend_agrees_with_itself_in_every_op(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const struct mirror_report *report;
        struct pair pair;

        pair_open(&pair, plugin_builtin_ref(), i & 1 ? M2_F32 : M2_F64, true);
        run_every_op(&pair, (i & 2) != 0, (i & 4) != 0);
        report = mirror_report(pair.mirror);
        assert_int_equal(report->calls, M2_N_OPS);
        assert_int_equal(report->calls_over, 0);
        for (int op = 0; op < M2_N_OPS; op++) {
            /* without optional arguments it has no output */
            if (op == M2_OP_linear_backward && (i & 2) == 0)
                continue;
            assert_int_equal(report->ops[op].calls, 1);
            assert_int_equal(report->ops[op].worst.op, op);
            assert_true(report->ops[op].worst.error == 0);
        }
        pair_close(&pair);
    }
}

/* What the mock spoils: the last output that is there. */
static const struct op_argument *last_output(enum m2_op op,
                                             union call_args *args)
{
    const struct op_argument *arguments;
    size_t i = op_arguments(op, &arguments);

    while (i-- > 0)
        if (arguments[i].role != OP_INPUT &&
            call_view(op, args, i)->buffer != NULL)
            break;
    return &arguments[i];
}

static void
a_wrong_op_is_the_first_and_the_only_one_over_its_limit(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < M2_N_OPS; wrong++) {
        const struct mirror_report *report;
        const struct mirror_place *first;
        const struct op_argument *output;
        const struct m2_view *view;
        union call_args args;
        char name[64];
        struct pair pair;

        set_mock("nan-op=", wrong + 1);
        pair_open(&pair, mock, M2_F64, false);
        run_every_op(&pair, true, 1);
        report = mirror_report(pair.mirror);
        first = &report->first;
        call_make(wrong, M2_F64, pair.buffer, true, &args);
        output = last_output(wrong, &args);
        view = (const struct m2_view *)(args.bytes + output->offset);
        snprintf(name, sizeof name, "element %lld", (long long)view->offset);
        assert_int_equal(report->calls_over, 1);
        assert_int_equal(report->ops[wrong].calls_over, 1);
        assert_int_equal(first->op, wrong);
        assert_int_equal(first->call, wrong + 1);
        assert_int_equal(first->step, wrong + 1);
        assert_string_equal(first->argument, output->name);
        assert_string_equal(first->name.text, name);
        assert_int_equal(first->row, 0);
        assert_int_equal(first->column, 0);
        assert_true(isnan(first->twin) && isfinite(first->device));
        assert_true(isinf(first->error));
        pair_close(&pair);
    }
    set_mock("defer", 0);
}

/* From 1e-8 to 0.9, where the values are about 1. */
static void a_small_error_is_over_the_limit_of_any_op(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < M2_N_OPS; wrong++) {
        const struct mirror_report *report;
        struct pair pair;

        set_mock("noise-op=", wrong + 1);
        pair_open(&pair, mock, M2_F64, false);
        run_every_op(&pair, true, 1);
        report = mirror_report(pair.mirror);
        assert_int_equal(report->calls_over, 1);
        assert_int_equal(report->first.op, wrong);
        assert_true(isfinite(report->first.error));
        pair_close(&pair);
    }
}

/* The gradient of a bias, of two rows; the mock adds up to 0.9 to it. */
static int64_t calls_over_with_rows(double first, double second)
{
    double dy[2] = {first, second}, db = 0;
    struct m2_error err;
    struct pair pair;
    int64_t over;

    set_mock("noise-op=", 1);
    pair_open(&pair, mock, M2_F64, false);
    struct m2_linear_backward call = {
        .dy = view_matrix(pair.buffer, 0, 2, 1, 1, M2_F64),
        .db = view_matrix(pair.buffer, 8, 1, 1, 1, M2_F64),
    };

    assert_ok(view_upload(pair.device, &call.dy, dy, &err), &err);
    assert_ok(view_upload(pair.device, &call.db, &db, &err), &err);
    assert_ok(op_call(pair.device, M2_OP_linear_backward, &call, &err), &err);
    over = mirror_report(pair.mirror)->calls_over;
    assert_true(
        mirror_report(pair.mirror)->ops[M2_OP_linear_backward].worst.error > 0);
    pair_close(&pair);
    return over;
}

static void a_sum_that_cancels_is_measured_by_its_terms(void **state)
{
    (void)state;
    assert_int_equal(calls_over_with_rows(1e16, -1e16), 0);
    assert_int_equal(calls_over_with_rows(1, -1), 1);
    assert_int_equal(calls_over_with_rows(1, 1), 1);
}

static void the_layer_is_that_of_any_view_of_the_call(void **state)
{
    struct m2_error err;
    struct pair pair;
    const struct mirror_report *report;

    (void)state;
    set_mock("nan-op=", 1);
    pair_open(&pair, mock, M2_F64, false);
    struct m2_silu silu = {view_matrix(pair.buffer, 8, 1, 4, 4, M2_F64),
                           view_matrix(pair.buffer, 0, 1, 4, 4, M2_F64)};

    fill(pair.device, M2_OP_silu, (union call_args *)(void *)&silu);
    assert_ok(op_call(pair.device, M2_OP_silu, &silu, &err), &err);
    report = mirror_report(pair.mirror);
    assert_string_equal(report->first.name.text, "element 0");
    assert_int_equal(report->first.name.layer, 7);
    pair_close(&pair);
}

static void ops_in_place_and_of_indices_agree(void **state)
{
    struct m2_error err;
    struct pair pair;

    (void)state;
    pair_open(&pair, plugin_builtin_ref(), M2_F32, true);
    struct m2_view a = view_matrix(pair.buffer, 0, 3, 2, 5, M2_F32);
    struct m2_view b = view_matrix(pair.buffer, 2, 3, 2, 5, M2_F32);
    struct m2_view ids = view_matrix(pair.buffer, 100, 1, 4, 4, M2_I32);
    struct m2_view to = view_matrix(pair.buffer, 200, 1, 4, 4, M2_I32);
    struct m2_add add = {a, b, a};
    struct m2_copy copy = {ids, to};
    double ones[6] = {1, 2, 3, 4, 5, 6}, sum[6];
    int32_t numbers[4] = {3, -1, INT32_MAX, INT32_MIN}, copied[4];

    assert_ok(view_upload(pair.device, &a, ones, &err), &err);
    assert_ok(view_upload(pair.device, &b, ones, &err), &err);
    assert_ok(view_upload_i32(pair.device, &ids, numbers, &err), &err);
    for (int i = 0; i < 3; i++)
        assert_ok(op_call(pair.device, M2_OP_add, &add, &err), &err);
    assert_ok(op_call(pair.device, M2_OP_copy, &copy, &err), &err);
    assert_ok(view_download(pair.device, &a, sum, &err), &err);
    assert_true(sum[5] == 24);
    assert_ok(view_download_bytes(pair.device, &to, copied, &err), &err);
    assert_memory_equal(copied, numbers, sizeof numbers);
    assert_int_equal(mirror_report(pair.mirror)->calls_over, 0);
    assert_int_equal(mirror_report(pair.mirror)->calls, 4);
    pair_close(&pair);
}

static void twins_of_buffers_go_with_them(void **state)
{
    struct m2_buffer *more;
    struct m2_error err;
    struct pair pair;

    (void)state;
    pair_open(&pair, plugin_builtin_ref(), M2_F32, true);
    assert_int_equal(device_bytes(pair.twin), 0);
    for (size_t n = 4; n < 4000; n *= 4) {
        assert_ok(buffer_alloc(pair.device, n * 4, &more, &err), &err);
        struct m2_fill one = {
            view_matrix(more, 0, 1, (int64_t)n, (int64_t)n, M2_F32), 1};

        assert_ok(op_call(pair.device, M2_OP_fill, &one, &err), &err);
        assert_int_equal(device_bytes(pair.twin), n * 4);
        buffer_free(pair.device, more);
        assert_int_equal(device_bytes(pair.twin), 0);
    }
    struct m2_fill all = {view_matrix(pair.buffer, 0, 1, 4, 4, M2_F32), 1};

    assert_ok(op_call(pair.device, M2_OP_fill, &all, &err), &err);
    assert_int_equal(device_bytes(pair.twin), CALL_BUFFER_BYTES);
    mirror_close(pair.mirror);
    pair.mirror = NULL;
    assert_int_equal(device_bytes(pair.twin), 0);
    assert_ok(op_call(pair.device, M2_OP_fill, &all, &err), &err);
    assert_int_equal(device_bytes(pair.twin), 0);
    pair_close(&pair);
}

static void two_real_types_cannot_be_compared(void **state)
{
    struct mirror_request request = {0};
    struct mirror *mirror;
    struct m2_error err;

    (void)state;
    assert_ok(
        device_open(plugin_builtin_ref(), 0, M2_F32, 1, &request.device, &err),
        &err);
    assert_ok(
        device_open(plugin_builtin_ref(), 0, M2_F64, 1, &request.twin, &err),
        &err);
    assert_fails(mirror_open(&request, &mirror, &err), M2_E_ARGUMENT,
                 "two real types", &err);
    device_close(request.twin);
    device_close(request.device);
}

static void a_failure_of_the_twin_is_that_of_the_op(void **state)
{
    struct m2_error err;
    struct pair pair;

    (void)state;
    set_mock("fail-op=", 1);
    pair_open(&pair, mock, M2_F32, false);
    struct m2_fill all = {view_matrix(pair.buffer, 0, 1, 4, 4, M2_F32), 1};

    assert_fails(op_call(pair.device, M2_OP_fill, &all, &err), M2_E_FAILED,
                 "mock: fault at op 1 (fill)", &err);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backend_agrees_with_itself_in_every_op),
        cmocka_unit_test(
            a_wrong_op_is_the_first_and_the_only_one_over_its_limit),
        cmocka_unit_test(a_small_error_is_over_the_limit_of_any_op),
        cmocka_unit_test(a_sum_that_cancels_is_measured_by_its_terms),
        cmocka_unit_test(the_layer_is_that_of_any_view_of_the_call),
        cmocka_unit_test(ops_in_place_and_of_indices_agree),
        cmocka_unit_test(twins_of_buffers_go_with_them),
        cmocka_unit_test(two_real_types_cannot_be_compared),
        cmocka_unit_test(a_failure_of_the_twin_is_that_of_the_op),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
