/* The conformance suite finds what it claims to find: the reference backend
 * with one slot replaced by one that breaks a contract must fail, and for the
 * right reason. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/conformance/case.h"
#include "backends/conformance/conformance.h"
#include "backends/conformance/gradient.h"
#include "backends/ref/internal.h"
#include "backends/ref/ref.h"
#include "loader.h"

/* ---- faults: each is a slot function ------------------------------------ */

static int silu_writes_behind(void *handle, void *args, struct m2_error *err)
{
    const struct m2_silu *a = args;
    int code = ref_silu(handle, args, err);
    ref_set(&a->y, a->y.rows - 1, a->y.cols, 0.0);
    return code;
}

static int silu_writes_padding(void *handle, void *args, struct m2_error *err)
{
    const struct m2_silu *a = args;
    int code = ref_silu(handle, args, err);
    if (a->y.ld > a->y.cols)
        ref_set(&a->y, 0, a->y.cols, 0.0);
    return code;
}

static int silu_writes_input(void *handle, void *args, struct m2_error *err)
{
    const struct m2_silu *a = args;
    int code = ref_silu(handle, args, err);
    ref_set(&a->x, 0, 0, 0.0);
    return code;
}

static int mean_time_reads_padding(void *handle, void *args,
                                   struct m2_error *err)
{
    const struct m2_mean_time *a = args;
    int code = ref_mean_time(handle, args, err);
    if (a->x.ld > a->x.cols)
        ref_set(&a->y, 0, 0,
                ref_get(&a->y, 0, 0) + 0.0 * ref_get(&a->x, 0, a->x.cols));
    return code;
}

static int silu_backward_always_adds(void *handle, void *args,
                                     struct m2_error *err)
{
    struct m2_silu_backward a = *(struct m2_silu_backward *)args;
    a.accumulate = 1;
    return ref_silu_backward(handle, &a, err);
}

static int silu_backward_never_adds(void *handle, void *args,
                                    struct m2_error *err)
{
    struct m2_silu_backward a = *(struct m2_silu_backward *)args;
    a.accumulate = 0;
    return ref_silu_backward(handle, &a, err);
}

static int linear_backward_overwrites(void *handle, void *args,
                                      struct m2_error *err)
{
    const struct m2_linear_backward *a = args;
    struct m2_fill zero = {a->dw, 0.0};
    if (ref_present(&a->dw))
        ref_fill(handle, &zero, err);
    return ref_linear_backward(handle, args, err);
}

/* The last bit of one element. */
static void nudge(const struct m2_view *view)
{
    double value = ref_get(view, 0, 0);
    if (view->dtype == M2_F32)
        ref_set(view, 0, 0, (double)nextafterf((float)value, 9.0f));
    else
        ref_set(view, 0, 0, nextafter(value, 9.0));
}

static int calls;

static int silu_differs_each_time(void *handle, void *args,
                                  struct m2_error *err)
{
    const struct m2_silu *a = args;
    int code = ref_silu(handle, args, err);
    if (calls++ % 2)
        nudge(&a->y);
    return code;
}

static int silu_depends_on_address(void *handle, void *args,
                                   struct m2_error *err)
{
    const struct m2_silu *a = args;
    int code = ref_silu(handle, args, err);
    if (a->x.offset % 4 != 0)
        nudge(&a->y);
    return code;
}

static const void *three_threads; /* the handle that was opened with 3 */

static int open_notes_threads(void *handle, void *args, struct m2_error *err)
{
    struct m2_open *a = args;
    int code = ref_open(handle, args, err);
    if (code == M2_OK && a->threads == 3)
        three_threads = a->handle_out;
    return code;
}

static int silu_depends_on_threads(void *handle, void *args,
                                   struct m2_error *err)
{
    const struct m2_silu *a = args;
    int code = ref_silu(handle, args, err);
    if (handle == three_threads)
        nudge(&a->y);
    return code;
}

static int ssd_reads_old_scratch(void *handle, void *args, struct m2_error *err)
{
    const struct m2_ssd *a = args;
    const struct ref_handle *self = handle;
    double old = self->scratch[0];
    int code = ref_ssd(handle, args, err);
    if (isnan(old))
        ref_set(&a->y, 0, 0, old);
    return code;
}

/* Every element of a view as a type with 10 bits of mantissa holds it. */
static void coarsen(const struct m2_view *view)
{
    for (int64_t i = 0; i < view->rows; i++)
        for (int64_t j = 0; j < view->cols; j++) {
            int exponent;
            double m = frexp(ref_get(view, i, j), &exponent);
            ref_set(view, i, j, ldexp(nearbyint(m * 2048.0), exponent - 11));
        }
}

static int linear_in_tf32(void *handle, void *args, struct m2_error *err)
{
    const struct m2_linear *a = args;
    int code = ref_linear(handle, args, err);
    coarsen(&a->y);
    return code;
}

static int dt_in_f32(void *handle, void *args, struct m2_error *err)
{
    const struct m2_dt *a = args;
    int code = ref_dt(handle, args, err);
    for (int64_t j = 0; j < a->dt.cols; j++)
        ref_set(&a->dt, 0, j, (float)ref_get(&a->dt, 0, j));
    return code;
}

static int ssd_forgets_h0(void *handle, void *args, struct m2_error *err)
{
    struct m2_ssd a = *(struct m2_ssd *)args;
    a.h0.buffer = NULL;
    return ref_ssd(handle, &a, err);
}

static int ssd_backward_loses_sign(void *handle, void *args,
                                   struct m2_error *err)
{
    const struct m2_ssd_backward *a = args;
    struct m2_scale negate = {a->da_log, -1.0};
    ref_scale(handle, &negate, err);
    int code = ref_ssd_backward(handle, args, err);
    ref_scale(handle, &negate, err);
    return code;
}

static int adamw_ignores_finite(void *handle, void *args, struct m2_error *err)
{
    const struct m2_adamw *a = args;
    ref_set(&a->finite, 0, 0, 1.0);
    return ref_adamw(handle, args, err);
}

static int refuses_after_all(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)args;
    return m2_fail(err, M2_E_UNSUPPORTED, "not these shapes");
}

static struct m2_transfer late;

static int upload_is_late(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)err;
    late = *(struct m2_transfer *)args;
    return M2_OK;
}

static int silu_uploads_first(void *handle, void *args, struct m2_error *err)
{
    if (late.bytes > 0)
        ref_upload(handle, &late, err);
    late.bytes = 0;
    return ref_silu(handle, args, err);
}

#define OP_SLOT(op) (M2_SLOT_FIRST_OP + M2_OP_##op)

struct fault {
    const char *name, *only;
    struct {
        unsigned slot;
        m2_slot_fn fn;
    } replaced[2];
    const char *found; /* part of a failure's text */
};

static const struct fault faults[] = {
    {"writes behind the view",
     "silu",
     {{OP_SLOT(silu), silu_writes_behind}},
     "no output was written"},
    {"writes between cols and ld",
     "silu",
     {{OP_SLOT(silu), silu_writes_padding}},
     "no output was written"},
    {"writes an input",
     "silu",
     {{OP_SLOT(silu), silu_writes_input}},
     "no output was written"},
    {"reads between cols and ld",
     "mean_time",
     {{OP_SLOT(mean_time), mean_time_reads_padding}},
     "ld > cols"},
    {"adds to what it must overwrite",
     "silu",
     {{OP_SLOT(silu_backward), silu_backward_always_adds}},
     ": dx[0] is"},
    {"ignores accumulate",
     "silu",
     {{OP_SLOT(silu_backward), silu_backward_never_adds}},
     "accumulate: dx"},
    {"overwrites a parameter gradient",
     "linear",
     {{OP_SLOT(linear_backward), linear_backward_overwrites}},
     ": dw["},
    {"differs from call to call",
     "silu",
     {{OP_SLOT(silu), silu_differs_each_time}},
     "other bits"},
    {"depends on the address",
     "silu",
     {{OP_SLOT(silu), silu_depends_on_address}},
     "at another address"},
    {"depends on the number of threads",
     "silu",
     {{M2_SLOT_OPEN, open_notes_threads},
      {OP_SLOT(silu), silu_depends_on_threads}},
     "with 3 threads"},
    {"reads scratch that it did not write",
     "ssd",
     {{OP_SLOT(ssd), ssd_reads_old_scratch}},
     "nan"},
    {"multiplies in TF32",
     "linear",
     {{OP_SLOT(linear), linear_in_tf32}},
     "linear f32"},
    {"computes f64 in f32", "dt", {{OP_SLOT(dt), dt_in_f32}}, "dt f64"},
    {"ignores an optional argument",
     "ssd",
     {{OP_SLOT(ssd), ssd_forgets_h0}},
     ": h_final["},
    {"gets the sign of one gradient wrong",
     "ssd",
     {{OP_SLOT(ssd_backward), ssd_backward_loses_sign}},
     ": da_log["},
    {"updates although the norm is not finite",
     "adamw",
     {{OP_SLOT(adamw), adamw_ignores_finite}},
     "no output was written"},
    {"refuses what SUPPORTS promised",
     "linear",
     {{OP_SLOT(linear), refuses_after_all}},
     "not these shapes"},
    {"takes the host's bytes late",
     "silu",
     {{M2_SLOT_UPLOAD, upload_is_late}, {OP_SLOT(silu), silu_uploads_first}},
     "silu"},
};

/* ---- the faulty backend -------------------------------------------------- */

struct backend {
    struct m2_plugin descriptor;
    struct m2_slot slots[M2_BACKEND_N_SLOTS];
    char path[16];
    struct plugin plugin;
};

static void backend_init(struct backend *b)
{
    const struct m2_plugin *ref = m2_ref_descriptor();
    b->descriptor = *ref;
    memcpy(b->slots, ref->slots, sizeof b->slots);
    b->descriptor.slots = b->slots;
    strcpy(b->path, "/faulty");
    b->plugin = (struct plugin){&b->descriptor, b->path};
}

static const char *looked_for;
static int times_found;

static void look(void *context, enum conformance_outcome outcome,
                 const char *text)
{
    (void)context;
    times_found +=
        outcome == CONFORMANCE_FAILED && strstr(text, looked_for) != NULL;
}

static struct conformance_result run(const struct backend *b, const char *only,
                                     int *code)
{
    struct conformance_options options = {
        .plugin = &b->plugin, .threads = 2, .only = only};
    struct conformance_result result;
    *code = conformance_run(&options, look, NULL, &result, NULL);
    return result;
}

static void every_fault_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct backend b;
        int code;
        backend_init(&b);
        for (int j = 0; j < 2 && faults[i].replaced[j].fn; j++)
            b.slots[faults[i].replaced[j].slot].fn = faults[i].replaced[j].fn;
        looked_for = faults[i].found;
        times_found = 0;
        run(&b, faults[i].only, &code);
        if (code != M2_E_FAILED || times_found == 0)
            fail_msg("not found: a backend that %s", faults[i].name);
    }
}

static int supports_no_ssd(void *handle, void *args, struct m2_error *err)
{
    const struct m2_query *query = args;
    if (query->op == M2_OP_ssd_backward)
        return m2_fail(err, M2_E_UNSUPPORTED, "no backward scan here");
    return ref_supports(handle, args, err);
}

static void what_supports_refuses_is_counted_and_does_not_fail(void **state)
{
    struct backend b;
    int code;
    (void)state;
    backend_init(&b);
    b.slots[M2_SLOT_SUPPORTS].fn = supports_no_ssd;
    struct conformance_result result = run(&b, "ssd", &code);
    assert_int_equal(code, M2_OK);
    assert_true(result.passed > 0);
    assert_true(result.unsupported > 0);
    assert_int_equal(result.failed, 0);
}

static void an_absent_op_is_not_supported(void **state)
{
    struct backend b;
    int code;
    (void)state;
    backend_init(&b);
    b.slots[OP_SLOT(spectral)].fn = NULL;
    struct conformance_result result = run(&b, "spectral", &code);
    assert_int_equal(code, M2_E_FAILED); /* nothing was executed */
    assert_true(result.unsupported > 0);
    assert_int_equal(result.failed, 0);
}

/* The comparison with the reference would find it first. */
static void finite_differences_find_a_wrong_gradient(void **state)
{
    const struct case_list list = cases_scan();
    const struct case_family *ssd = &list.families[1];
    struct backend b;
    struct m2_device *device;
    struct bench bench;
    struct trial forward, backward;
    struct gradient_error right, wrong;
    const struct trial_layout packed = {0, 0, false, 0};
    (void)state;
    backend_init(&b);
    b.slots[OP_SLOT(ssd_backward)].fn = ssd_backward_loses_sign;
    for (int faulty = 0; faulty < 2; faulty++) {
        assert_int_equal(device_open(faulty ? &b.plugin : plugin_builtin_ref(),
                                     0, M2_F64, 1, &device, NULL),
                         M2_OK);
        bench_init(&bench, device);
        case_build(ssd, &ssd->rows[12], &forward);
        assert_int_equal(trial_run(&bench, &forward, &packed, NULL), M2_OK);
        case_build_backward(&ssd->rows[12], &forward, &backward);
        assert_int_equal(gradient_measure(&bench, &forward, &backward,
                                          faulty ? &wrong : &right, NULL),
                         M2_OK);
        trial_free(&forward);
        trial_free(&backward);
        bench_free(&bench);
        device_close(device);
    }
    assert_true(right.worst.error < 1e-8);
    assert_string_equal(wrong.tensor, "da_log");
    assert_true(wrong.worst.error > 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_found),
        cmocka_unit_test(what_supports_refuses_is_counted_and_does_not_fail),
        cmocka_unit_test(an_absent_op_is_not_supported),
        cmocka_unit_test(finite_differences_find_a_wrong_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
