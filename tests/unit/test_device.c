/* Open devices, their memory, transfers of views, and what a call costs. */
#include "tests/unit/unit.h"

#include <math.h>

#include "backends/device_internal.h"
#include "plugins/loader.h"
#include "tests/unit/op_calls.h"

static struct m2_device *open_ref(enum m2_dtype real)
{
    struct m2_device *device;
    struct m2_error err;

    assert_ok(device_open(plugin_builtin_ref(), 0, real, 1, &device, &err),
              &err);
    return device;
}

static struct m2_buffer *alloc(struct m2_device *device, size_t bytes)
{
    struct m2_buffer *buffer;
    struct m2_error err;

    assert_ok(buffer_alloc(device, bytes, &buffer, &err), &err);
    return buffer;
}

static void a_device_knows_its_label_type_and_plugin(void **state)
{
    struct m2_device *device = open_ref(M2_F64);
    struct m2_device_facts facts;
    struct m2_error err;
    int count;

    (void)state;
    assert_string_equal(device_label(device), "ref");
    assert_int_equal(device_real(device), M2_F64);
    assert_ptr_equal(device_plugin(device), plugin_builtin_ref());
    assert_ok(device_count(plugin_builtin_ref(), &count, &err), &err);
    assert_int_equal(count, 1);
    assert_ok(device_facts(plugin_builtin_ref(), 0, &facts, &err), &err);
    assert_true(strlen(facts.name) > 0);
    assert_fails(device_facts(plugin_builtin_ref(), 1, &facts, &err),
                 M2_E_DEVICE, "does not exist", &err);
    assert_ok(device_step_begin(device, &err), &err);
    assert_ok(device_step_end(device, &err), &err);
    assert_ok(device_sync(device, &err), &err);
    device_close(device);
    device_close(NULL);
}

static void open_refuses_what_no_backend_can_do(void **state)
{
    struct m2_device *device = NULL;
    struct m2_error err;

    (void)state;
    assert_fails(device_open(plugin_builtin_ref(), 0, M2_I32, 1, &device, &err),
                 M2_E_ARGUMENT,
                 "open ref: the real type is i32, expected f32 or f64", &err);
    assert_fails(device_open(plugin_builtin_ref(), 0, M2_F32, 0, &device, &err),
                 M2_E_ARGUMENT, "open ref: threads is 0, expected at least 1",
                 &err);
    assert_fails(device_open(plugin_builtin_ref(), 3, M2_F32, 1, &device, &err),
                 M2_E_DEVICE, "ref: device 3 does not exist", &err);
    assert_null(device);
}

static void bytes_are_counted_exactly(void **state)
{
    struct m2_device *device = open_ref(M2_F32);
    struct m2_buffer *a, *b, *none = NULL;
    struct m2_error err;

    (void)state;
    assert_int_equal(device_bytes(device), 0);
    a = alloc(device, 100);
    b = alloc(device, 7);
    assert_int_equal(device_bytes(device), 107);
    buffer_free(device, a);
    assert_int_equal(device_bytes(device), 7);
    assert_fails(buffer_alloc(device, 0, &none, &err), M2_E_ARGUMENT,
                 "alloc: 0 bytes, expected at least 1", &err);
    assert_fails(buffer_alloc(device, SIZE_MAX - 4, &none, &err), M2_E_MEMORY,
                 "no memory", &err);
    assert_null(none);
    assert_int_equal(device_bytes(device), 7);
    buffer_free(device, b);
    buffer_free(device, NULL);
    device_close(device);
}

static void scratch_is_the_largest_need_of_all_prepared_calls(void **state)
{
    struct m2_device *device = open_ref(M2_F32);
    struct m2_buffer *buffer = alloc(device, CALL_BUFFER_BYTES);
    size_t needed = 0, bytes;
    union call_args args;
    struct m2_error err;

    (void)state;
    for (int op = 0; op < M2_N_OPS; op++) {
        call_make(op, M2_F32, buffer, true, &args);
        assert_ok(op_workspace(device, op, &args, &bytes, &err), &err);
        assert_ok(op_prepare(device, op, &args, &err), &err);
        needed = bytes > needed ? bytes : needed;
    }
    assert_true(needed > 0);
    assert_int_equal(device_bytes(device), CALL_BUFFER_BYTES);
    assert_ok(device_reserve(device, &err), &err);
    assert_ok(device_reserve(device, &err), &err);
    assert_int_equal(device_bytes(device), CALL_BUFFER_BYTES + needed);
    buffer_free(device, buffer);
    device_close(device);
}

static void transfers_stay_inside_their_buffer(void **state)
{
    struct m2_device *device = open_ref(M2_F32), *other = open_ref(M2_F64);
    struct m2_buffer *buffer = alloc(device, 16);
    unsigned char bytes[16] = {1, 2, 3};
    struct m2_error err;

    (void)state;
    assert_ok(buffer_upload(device, buffer, 0, bytes, 16, &err), &err);
    memset(bytes, 0, sizeof bytes);
    assert_ok(buffer_download(device, buffer, 1, bytes, 2, &err), &err);
    assert_int_equal(bytes[0], 2);
    assert_int_equal(bytes[2], 0);
    assert_ok(buffer_upload(device, buffer, 16, bytes, 0, &err), &err);
    assert_fails(
        buffer_upload(device, buffer, 15, bytes, 2, &err), M2_E_ARGUMENT,
        "upload: 2 bytes at byte 15, but the buffer has 16 bytes", &err);
    assert_fails(buffer_download(device, buffer, SIZE_MAX, bytes, 2, &err),
                 M2_E_ARGUMENT, "but the buffer has 16 bytes", &err);
    assert_fails(buffer_download(device, NULL, 0, bytes, 2, &err),
                 M2_E_ARGUMENT, "download: the buffer is missing", &err);
    assert_fails(buffer_upload(other, buffer, 0, bytes, 2, &err), M2_E_ARGUMENT,
                 "upload: the buffer is on another handle of ref (f32), but "
                 "the op runs on ref",
                 &err);
    buffer_free(device, buffer);
    device_close(device);
    device_close(other);
}

/* Uploads a matrix with ld > cols over a buffer of sevens and reads it back;
 * what lies between cols and ld must still be seven. */
static void round_trip(enum m2_dtype real, enum m2_dtype dtype)
{
    enum { ROWS = 3, COLS = 5, LD = 8, OFFSET = 2 };
    struct m2_device *device = open_ref(real);
    struct m2_buffer *buffer = alloc(device, 8 * (OFFSET + ROWS * LD));
    struct m2_view all = view_matrix(buffer, 0, 1, OFFSET + ROWS * LD,
                                     OFFSET + ROWS * LD, dtype);
    struct m2_view view = view_matrix(buffer, OFFSET, ROWS, COLS, LD, dtype);
    double host[ROWS * COLS], back[ROWS * COLS], memory[OFFSET + ROWS * LD];
    struct m2_error err;

    for (size_t i = 0; i < COUNT_OF(memory); i++)
        memory[i] = 7;
    for (size_t i = 0; i < COUNT_OF(host); i++)
        host[i] = 1.0 / (double)(i + 3);
    assert_ok(view_upload(device, &all, memory, &err), &err);
    assert_ok(view_upload(device, &view, host, &err), &err);
    assert_ok(view_download(device, &view, back, &err), &err);
    assert_ok(view_download(device, &all, memory, &err), &err);
    for (size_t i = 0; i < COUNT_OF(host); i++) {
        double exact = dtype == M2_F32 ? (double)(float)host[i] : host[i];

        assert_memory_equal(&back[i], &exact, sizeof exact);
    }
    for (size_t i = 0; i < COUNT_OF(memory); i++) {
        bool inside = i >= OFFSET && (i - OFFSET) % LD < COLS;

        assert_int_equal(memory[i] == 7, !inside);
    }
    buffer_free(device, buffer);
    device_close(device);
}

static void views_convert_and_leave_the_padding_alone(void **state)
{
    (void)state;
    round_trip(M2_F32, M2_F32);
    round_trip(M2_F32, M2_F64);
    round_trip(M2_F64, M2_F64);
}

static void long_views_are_moved_in_pieces(void **state)
{
    enum { N = 40001 };
    struct m2_device *device = open_ref(M2_F32);
    struct m2_buffer *buffer = alloc(device, 4 * N);
    struct m2_view view = view_matrix(buffer, 0, 1, N, N, M2_F32);
    double *host = malloc(N * sizeof *host), *back = malloc(N * sizeof *back);
    struct m2_error err;

    (void)state;
    for (int i = 0; i < N; i++)
        host[i] = i;
    assert_ok(view_upload(device, &view, host, &err), &err);
    assert_ok(view_download(device, &view, back, &err), &err);
    assert_memory_equal(host, back, N * sizeof *host);
    free(host);
    free(back);
    buffer_free(device, buffer);
    device_close(device);
}

static void views_of_integers_have_their_own_upload(void **state)
{
    struct m2_device *device = open_ref(M2_F32);
    struct m2_buffer *buffer = alloc(device, 64);
    struct m2_view ids = view_matrix(buffer, 1, 2, 3, 4, M2_I32);
    int32_t host[6] = {1, -2, INT32_MAX, 4, INT32_MIN, 6}, memory[16] = {0};
    const int32_t expected[9] = {0, 1, -2, INT32_MAX, 0, 4, INT32_MIN, 6, 0};
    double number;
    struct m2_error err;

    (void)state;
    assert_ok(buffer_upload(device, buffer, 0, memory, 64, &err), &err);
    assert_ok(view_upload_i32(device, &ids, host, &err), &err);
    assert_ok(buffer_download(device, buffer, 0, memory, 64, &err), &err);
    assert_memory_equal(memory, expected, sizeof expected);
    assert_fails(view_upload(device, &ids, &number, &err), M2_E_ARGUMENT,
                 "upload: the view is i32, expected f32 or f64", &err);
    assert_fails(view_download(device, &ids, &number, &err), M2_E_ARGUMENT,
                 "download: the view is i32, expected f32 or f64", &err);
    ids.dtype = M2_F32;
    assert_fails(view_upload_i32(device, &ids, host, &err), M2_E_ARGUMENT,
                 "upload: the view is f32, expected i32", &err);
    ids.rows = 5;
    assert_fails(view_download(device, &ids, &number, &err), M2_E_ARGUMENT,
                 "download: the view ends at byte 80, but its buffer has 64 "
                 "bytes",
                 &err);
    ids.buffer = NULL;
    assert_fails(view_upload(device, &ids, &number, &err), M2_E_ARGUMENT,
                 "upload: the view is missing", &err);
    buffer_free(device, buffer);
    device_close(device);
}

/* ---- overlap, against marking every byte ------------------------------- */

enum { MAP_BYTES = 512 };

static void mark(const struct m2_view *view, unsigned char *map)
{
    int64_t size = (int64_t)m2_dtype_size(view->dtype);

    for (int64_t i = 0; i < view->rows; i++)
        memset(map + (view->offset + i * view->ld) * size, 1,
               (size_t)(view->cols * size));
}

static bool overlap_by_marking(const struct m2_view *a, const struct m2_view *b)
{
    unsigned char map_a[MAP_BYTES] = {0}, map_b[MAP_BYTES] = {0};

    mark(a, map_a);
    mark(b, map_b);
    for (int i = 0; i < MAP_BYTES; i++) {
        if (map_a[i] && map_b[i])
            return true;
    }
    return false;
}

static uint32_t next_number(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static struct m2_view some_view(uint32_t *seed, struct m2_buffer *buffer)
{
    struct m2_view view = {.buffer = buffer};

    view.rows = 1 + next_number(seed, 5);
    view.cols = 1 + next_number(seed, 4);
    view.ld = view.cols + next_number(seed, 5);
    view.offset = next_number(seed, 20);
    view.dtype = next_number(seed, 2) == 0 ? M2_F32 : M2_F64;
    return view;
}

static void overlap_is_exact(void **state)
{
    struct m2_device *device = open_ref(M2_F32);
    struct m2_buffer *buffer = alloc(device, MAP_BYTES);
    struct m2_buffer *second = alloc(device, MAP_BYTES);
    uint32_t seed = 1;
    int overlapping = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct m2_view a = some_view(&seed, buffer);
        struct m2_view b = some_view(&seed, buffer);
        bool expected = overlap_by_marking(&a, &b);

        assert_int_equal(view_overlap(&a, &b), expected);
        overlapping += expected;
        b.buffer = second;
        assert_false(view_overlap(&a, &b));
    }
    assert_in_range(overlapping, 5000, 18000);
    buffer_free(device, buffer);
    buffer_free(device, second);
    device_close(device);
}

/* ---- floating-point operations ----------------------------------------- */

/* One training step of the model of the specification's section 8: 6 layers
 * of width 256, 16 features, batch 32, 60 steps; 31.60 GFLOP. */
static void flops_add_up_to_the_specifications_step(void **state)
{
    struct m2_buffer *there = (struct m2_buffer *)&state;
    const int64_t D = 256, I = 512, CD = 544, J = 1064, T = 32 * 60;
    struct m2_linear in = {.x.rows = T, .x.cols = D, .w.rows = J};
    struct m2_linear out = {.x.rows = T, .x.cols = I, .w.rows = D};
    struct m2_linear first = {.x.rows = T, .x.cols = 16, .w.rows = D};
    struct m2_linear_backward in_b = {.dy.rows = T, .dy.cols = J};
    struct m2_linear_backward out_b = {.dy.rows = T, .dy.cols = D};
    struct m2_linear_backward first_b = {.dy.rows = T, .dy.cols = D};
    struct m2_conv1d_silu conv = {.K = 4, .x.rows = T, .x.cols = CD};
    struct m2_conv1d_silu_backward conv_b = {.K = 4, .x.rows = T, .x.cols = CD};
    struct m2_ssd ssd = {
        .B = 32, .L = 60, .H = 8, .P = 64, .G = 1, .N = 16, .Q = 64};
    struct m2_ssd_backward ssd_b = {
        .B = 32, .L = 60, .H = 8, .P = 64, .G = 1, .N = 16, .Q = 64};
    double forward, backward;

    in_b.dx = in_b.dw = view_matrix(there, 0, 1, D, D, M2_F32);
    out_b.dx = out_b.dw = view_matrix(there, 0, 1, I, I, M2_F32);
    first_b.dw = view_matrix(there, 0, 1, 16, 16, M2_F32);
    forward = op_flops(M2_OP_linear, &in) + op_flops(M2_OP_linear, &out) +
              op_flops(M2_OP_conv1d_silu, &conv) + op_flops(M2_OP_ssd, &ssd);
    backward = op_flops(M2_OP_linear_backward, &in_b) +
               op_flops(M2_OP_linear_backward, &out_b) +
               op_flops(M2_OP_conv1d_silu_backward, &conv_b) +
               op_flops(M2_OP_ssd_backward, &ssd_b);
    forward = 6 * forward + op_flops(M2_OP_linear, &first);
    backward = 6 * backward + op_flops(M2_OP_linear_backward, &first_b);
    assert_int_equal(lround(forward / 1e7), 1047);
    assert_int_equal(lround(backward / 1e7), 2113);
    assert_int_equal(lround((forward + backward) / 1e7), 3160);
}

/* The last chunk may be shorter; Q = 32 gives 30.5 GFLOP in all, Q = 16 29.95:
 * the difference is the SSD's alone. */
static void flops_of_the_scan_depend_on_the_chunks(void **state)
{
    struct m2_ssd ssd = {
        .B = 1, .L = 5, .H = 2, .P = 3, .G = 1, .N = 7, .Q = 2};
    struct m2_conv1d_step conv = {.K = 4, .x.rows = 1, .x.cols = 544};
    struct m2_ssd_step step = {.N = 16, .x.rows = 1, .x.cols = 512};
    struct m2_silu silu = {.x.rows = 1, .x.cols = 5};

    (void)state;
    /* S2 = 4 + 4 + 1; S2 (2NG + 2PH) + 4 L N P H */
    assert_true(op_flops(M2_OP_ssd, &ssd) == 9 * (14 + 12) + 4 * 5 * 7 * 3 * 2);
    assert_true(op_flops(M2_OP_conv1d_step, &conv) == 2 * 4 * 544);
    assert_true(op_flops(M2_OP_ssd_step, &step) == 5 * 16 * 512);
    assert_true(op_flops(M2_OP_silu, &silu) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_knows_its_label_type_and_plugin),
        cmocka_unit_test(open_refuses_what_no_backend_can_do),
        cmocka_unit_test(bytes_are_counted_exactly),
        cmocka_unit_test(scratch_is_the_largest_need_of_all_prepared_calls),
        cmocka_unit_test(transfers_stay_inside_their_buffer),
        cmocka_unit_test(views_convert_and_leave_the_padding_alone),
        cmocka_unit_test(long_views_are_moved_in_pieces),
        cmocka_unit_test(views_of_integers_have_their_own_upload),
        cmocka_unit_test(overlap_is_exact),
        cmocka_unit_test(flops_add_up_to_the_specifications_step),
        cmocka_unit_test(flops_of_the_scan_depend_on_the_chunks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
