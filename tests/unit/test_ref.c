/* The reference backend where it goes beyond the contract: fresh memory is
 * NaN, indices are checked, mistakes of the caller are errors. */
#include "tests/unit/unit.h"

#include <math.h>

#include "backends/ops.h"
#include "backends/ref/internal.h"
#include "plugins/loader.h"

static struct m2_device *device;
static struct m2_buffer *buffer;

enum { BYTES = 4096 };

static int set_up(void **state)
{
    struct m2_error err;
    (void)state;
    assert_ok(device_open(plugin_builtin_ref(), 0, M2_F64, 1, &device, &err),
              &err);
    assert_ok(buffer_alloc(device, BYTES, &buffer, &err), &err);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buffer_free(device, buffer);
    device_close(device);
    return 0;
}

/* A view of rows x cols elements from byte `at`. */
static struct m2_view view(size_t at, int64_t rows, int64_t cols,
                           enum m2_dtype dtype)
{
    return view_matrix(buffer, (int64_t)(at / m2_dtype_size(dtype)), rows, cols,
                       cols, dtype);
}

static void fresh_memory_is_nan(void **state)
{
    double values[BYTES / sizeof(double)];
    (void)state;
    assert_int_equal(buffer_download(device, buffer, 0, values, BYTES, NULL),
                     M2_OK);
    for (size_t i = 0; i < BYTES / sizeof(double); i++)
        assert_true(isnan(values[i]));
}

static void upload_i32(size_t at, int32_t first, int32_t second)
{
    const int32_t values[2] = {first, second};
    assert_int_equal(
        buffer_upload(device, buffer, at, values, sizeof values, NULL), M2_OK);
}

static void a_token_id_outside_the_table_is_an_error(void **state)
{
    struct m2_embed embed = {.ids = view(0, 1, 2, M2_I32),
                             .w = view(64, 3, 4, M2_F64),
                             .y = view(512, 2, 4, M2_F64)};
    struct m2_embed_backward backward = {.ids = view(0, 1, 2, M2_I32),
                                         .dy = view(512, 2, 4, M2_F64),
                                         .dw = view(64, 3, 4, M2_F64)};
    struct m2_error err;
    (void)state;
    upload_i32(0, 2, 3);
    assert_int_equal(op_call(device, M2_OP_embed, &embed, &err), M2_E_ARGUMENT);
    assert_string_equal(err.text, "embed: ids[1] is 3, outside [0, 3)");
    upload_i32(0, -1, 0);
    assert_int_equal(op_call(device, M2_OP_embed_backward, &backward, &err),
                     M2_E_ARGUMENT);
    assert_string_equal(err.text,
                        "embed_backward: ids[0] is -1, outside [0, 3)");
}

static void a_label_outside_the_vocabulary_is_an_error(void **state)
{
    struct m2_xent xent = {.ignore = -100,
                           .logits = view(64, 2, 5, M2_F64),
                           .labels = view(0, 1, 2, M2_I32),
                           .out = view(512, 1, 3, M2_F64)};
    struct m2_error err;
    (void)state;
    upload_i32(0, -100, 5);
    assert_int_equal(op_call(device, M2_OP_xent, &xent, &err), M2_E_ARGUMENT);
    assert_string_equal(err.text, "xent: labels[1] is 5, outside [0, 5)");
}

/* 6 rows: a window of 3 with 2 to predict may start at 0 or 1. */
static void a_window_beyond_the_series_is_an_error(void **state)
{
    struct m2_gather_windows gather = {.B = 2,
                                       .L = 3,
                                       .horizon = 2,
                                       .features = view(64, 6, 1, M2_F64),
                                       .targets = view(128, 6, 1, M2_F64),
                                       .starts = view(0, 1, 2, M2_I32),
                                       .x = view(512, 6, 1, M2_F64),
                                       .y = view(1024, 2, 2, M2_F64)};
    struct m2_error err;
    (void)state;
    upload_i32(0, 0, 1);
    assert_ok(op_call(device, M2_OP_gather_windows, &gather, &err), &err);
    upload_i32(0, 0, 2);
    assert_int_equal(op_call(device, M2_OP_gather_windows, &gather, &err),
                     M2_E_ARGUMENT);
    assert_string_equal(err.text, "gather_windows: starts[1] is 2, but a "
                                  "window of 5 rows must lie in 6");
    gather.y.buffer = NULL; /* without targets it needs 3 rows only */
    assert_ok(op_call(device, M2_OP_gather_windows, &gather, &err), &err);
}

static void spectral_lets_a_nan_pass(void **state)
{
    const double a_log[3] = {-9.0, NAN, 1.0};
    double after[3];
    struct m2_view place = view(0, 1, 3, M2_F64);
    (void)state;
    for (int mode = 1; mode <= 2; mode++) {
        struct m2_spectral spectral = {
            .mode = mode, .rho = 0.99, .dt_ref = 0.01, .a_log = place};
        struct m2_error err;
        assert_ok(view_upload(device, &place, a_log, &err), &err);
        assert_ok(op_call(device, M2_OP_spectral, &spectral, &err), &err);
        assert_ok(view_download(device, &place, after, &err), &err);
        assert_true(isnan(after[1]));
        assert_false(isnan(after[0]) || isnan(after[2]));
    }
}

/* Below the fronts: what the backend itself refuses. */

static void close_with_a_live_buffer_is_refused(void **state)
{
    struct m2_open open_args = {.real = M2_F32, .threads = 1};
    struct m2_alloc alloc = {.bytes = 8};
    struct m2_error err;
    (void)state;
    assert_ok(ref_open(NULL, &open_args, &err), &err);
    assert_ok(ref_alloc(open_args.handle_out, &alloc, &err), &err);
    assert_int_equal(ref_close(open_args.handle_out, NULL, &err),
                     M2_E_INTERNAL);
    struct m2_free release = {alloc.buffer_out};
    assert_ok(ref_free(open_args.handle_out, &release, &err), &err);
    assert_ok(ref_close(open_args.handle_out, NULL, &err), &err);
}

static void what_is_not_there_is_not_opened(void **state)
{
    struct m2_open second = {.index = 1, .real = M2_F32, .threads = 1};
    struct m2_open integer = {.index = 0, .real = M2_I32, .threads = 1};
    struct m2_devices devices = {.index = 1};
    struct m2_error err;
    (void)state;
    assert_int_equal(ref_open(NULL, &second, &err), M2_E_DEVICE);
    assert_int_equal(ref_open(NULL, &integer, &err), M2_E_UNSUPPORTED);
    assert_int_equal(ref_devices(NULL, &devices, &err), M2_E_DEVICE);
}

static void too_much_memory_is_an_error(void **state)
{
    struct m2_open open_args = {.real = M2_F32, .threads = 1};
    struct m2_alloc alloc = {.bytes = SIZE_MAX};
    struct m2_error err;
    (void)state;
    assert_ok(ref_open(NULL, &open_args, &err), &err);
    assert_int_equal(ref_alloc(open_args.handle_out, &alloc, &err),
                     M2_E_MEMORY);
    assert_ok(ref_close(open_args.handle_out, NULL, &err), &err);
}

static void an_op_without_its_scratch_is_refused(void **state)
{
    struct m2_linear linear = {.x = view(0, 1, 2, M2_F64),
                               .w = view(64, 1, 2, M2_F64),
                               .y = view(128, 1, 1, M2_F64)};
    struct m2_open open_args = {.real = M2_F64, .threads = 1};
    struct m2_error err;
    (void)state;
    assert_ok(ref_open(NULL, &open_args, &err), &err);
    assert_int_equal(ref_linear(open_args.handle_out, &linear, &err),
                     M2_E_INTERNAL);
    assert_ok(ref_close(open_args.handle_out, NULL, &err), &err);
}

static void scratch_sizes_do_not_wrap(void **state)
{
    const int64_t huge = INT64_C(1) << 40;
    const struct m2_ssd_backward args = {
        .L = huge, .H = 1, .P = huge, .G = 1, .N = huge, .Q = huge};
    struct m2_query query = {.op = M2_OP_ssd_backward, .args = &args};
    struct m2_error err;
    (void)state;
    assert_int_equal(ref_workspace_query(NULL, &query, &err), M2_E_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fresh_memory_is_nan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_token_id_outside_the_table_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_label_outside_the_vocabulary_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_beyond_the_series_is_an_error,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(spectral_lets_a_nan_pass, set_up,
                                        tear_down),
        cmocka_unit_test(close_with_a_live_buffer_is_refused),
        cmocka_unit_test(what_is_not_there_is_not_opened),
        cmocka_unit_test(too_much_memory_is_an_error),
        cmocka_unit_test_setup_teardown(an_op_without_its_scratch_is_refused,
                                        set_up, tear_down),
        cmocka_unit_test(scratch_sizes_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
