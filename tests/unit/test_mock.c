/* The mock backend: deferred calls give the same bits as immediate ones, and
 * every injected fault arrives as an error without a leak. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/ref/internal.h"
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

/* putenv keeps this very string, so every setting is one write into it;
 * setenv would keep a copy of each. */
static void set_mock(const char *settings)
{
    static char variable[64];

    assert_true(snprintf(variable, sizeof variable, "M2_MOCK=%s", settings) <
                (int)sizeof variable);
    putenv(variable);
}

static struct m2_device *open_mock(const char *settings, int index)
{
    struct m2_device *device;
    struct m2_error err;

    set_mock(settings);
    assert_ok(device_open(mock, index, M2_F32, 1, &device, &err), &err);
    return device;
}

/* One call of every op on the same memory, one after the other, the argument
 * struct overwritten as soon as the call returns; the memory afterwards. */
static void run_every_op(struct m2_device *device, unsigned char *memory)
{
    struct m2_buffer *buffer;
    struct m2_error err;
    float start[CALL_BUFFER_BYTES / sizeof(float)];

    /* The tables' indices are zeroed below: these are none. */
    for (size_t i = 0; i < COUNT_OF(start); i++)
        start[i] = sinf((float)i);
    assert_ok(buffer_alloc(device, CALL_BUFFER_BYTES, &buffer, &err), &err);
    assert_ok(buffer_upload(device, buffer, 0, start, sizeof start, &err),
              &err);
    memset(start, 0xff, sizeof start);
    for (int op = 0; op < M2_N_OPS; op++) {
        static const unsigned char zeros[1024];
        union call_args args;
        const struct op_argument *arguments;
        size_t n = op_arguments(op, &arguments);

        call_make(op, M2_F32, buffer, true, &args);
        for (size_t i = 0; i < n; i++) {
            const struct m2_view *view = call_view(op, &args, i);

            if (view->dtype == M2_I32)
                assert_ok(buffer_upload(device, buffer,
                                        (size_t)view->offset * 4, zeros,
                                        (size_t)view->cols * 4, &err),
                          &err);
        }
        assert_ok(op_call(device, op, &args, &err), &err);
        memset(&args, 0xff, sizeof args);
    }
    assert_ok(
        buffer_download(device, buffer, 0, memory, CALL_BUFFER_BYTES, &err),
        &err);
    buffer_free(device, buffer);
}

static void deferred_calls_use_copies_and_give_the_same_bits(void **state)
{
    static unsigned char now[CALL_BUFFER_BYTES], later[CALL_BUFFER_BYTES],
        plain[CALL_BUFFER_BYTES];
    struct m2_device *device = open_mock("", 0);
    struct m2_error err;

    (void)state;
    run_every_op(device, now);
    device_close(device);
    device = open_mock("defer", 0);
    run_every_op(device, later);
    device_close(device);
    assert_memory_equal(now, later, sizeof now);
    assert_ok(device_open(plugin_builtin_ref(), 0, M2_F32, 1, &device, &err),
              &err);
    run_every_op(device, plain);
    device_close(device);
    assert_memory_equal(now, plain, sizeof now);
}

static void a_deferred_op_has_not_run_yet(void **state)
{
    struct m2_device *device = open_mock("defer", 0);
    struct m2_buffer *buffer, *gone;
    struct m2_error err;
    double value = 0;

    (void)state;
    assert_ok(buffer_alloc(device, 4, &buffer, &err), &err);
    assert_ok(buffer_alloc(device, 4, &gone, &err), &err);
    struct m2_fill fill = {view_matrix(buffer, 0, 1, 1, 1, M2_F32), 3};
    struct m2_fill fill_gone = {view_matrix(gone, 0, 1, 1, 1, M2_F32), 3};

    assert_ok(op_call(device, M2_OP_fill, &fill, &err), &err);
    assert_ok(op_call(device, M2_OP_fill, &fill_gone, &err), &err);
    buffer_free(device, gone); /* while a call that writes it waits */
    assert_true(isnan(ref_get(&fill.y, 0, 0)));
    assert_ok(view_download(device, &fill.y, &value, &err), &err);
    assert_true(value == 3);
    buffer_free(device, buffer);
    device_close(device);
}

/* A little program on a device; the error of its first failing call. */
static int little_program(int index, struct m2_error *err)
{
    struct m2_device *device = NULL;
    struct m2_buffer *a = NULL, *b = NULL;
    double host[4] = {1, 2, 3, 4};
    int rc = device_open(mock, index, M2_F32, 1, &device, err);

    if (rc != M2_OK)
        return rc;
    rc = buffer_alloc(device, 16, &a, err);
    if (rc == M2_OK)
        rc = buffer_alloc(device, 16, &b, err);
    if (rc == M2_OK) {
        struct m2_view x = view_matrix(a, 0, 2, 2, 2, M2_F32);
        struct m2_view y = view_matrix(b, 0, 2, 2, 2, M2_F32);
        struct m2_silu silu = {x, y};
        struct m2_add add = {x, y, y};

        rc = view_upload(device, &x, host, err);
        if (rc == M2_OK)
            rc = op_call(device, M2_OP_silu, &silu, err);
        if (rc == M2_OK)
            rc = op_call(device, M2_OP_add, &add, err);
        if (rc == M2_OK)
            rc = view_download(device, &y, host, err);
        if (rc == M2_OK && isnan(host[0]))
            rc = m2_fail(err, M2_E_DIVERGED, "NaN arrived");
    }
    buffer_free(device, b);
    buffer_free(device, a);
    device_close(device);
    return rc;
}

static void every_fault_arrives_as_an_error(void **state)
{
    static const struct {
        const char *settings;
        int code;
        const char *message;
    } cases[] = {
        {"", M2_OK, ""},
        {"defer", M2_OK, ""},
        {"fail-open", M2_E_DEVICE, "mock: fault at open"},
        {"fail-alloc=1", M2_E_MEMORY, "mock: out of memory at alloc 1"},
        {"fail-alloc=2", M2_E_MEMORY, "mock: out of memory at alloc 2"},
        {"fail-alloc=3", M2_OK, ""},
        {"fail-upload=1", M2_E_FAILED, "mock: fault at upload 1"},
        {"fail-op=1", M2_E_FAILED, "mock: fault at op 1 (silu)"},
        {"fail-op=2", M2_E_FAILED, "mock: fault at op 2 (add)"},
        {"fail-op=2,defer", M2_E_FAILED, "mock: fault at op 2 (add)"},
        {"fail-download=1", M2_E_FAILED, "mock: fault at download 1"},
        {"nan-op=2", M2_E_DIVERGED, "NaN arrived"},
        {"refuse=0", M2_E_UNSUPPORTED, "mock: op 0 is refused, as ordered"},
        {"nonsense", M2_E_DEVICE, "mock: unknown setting nonsense in M2_MOCK"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct m2_error err = {0};

        set_mock(cases[i].settings);
        assert_int_equal(little_program(0, &err), cases[i].code);
        assert_string_equal(err.text, cases[i].message);
    }
}

static void a_crash_is_a_real_one(void **state)
{
    pid_t child;
    int status;

    (void)state;
    set_mock("crash-op=2");
    child = fork();
    if (child == 0)
        _exit(little_program(0, NULL));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void reserve_may_be_out_of_memory(void **state)
{
    struct m2_device *device = open_mock("fail-reserve", 0);
    struct m2_buffer *buffer;
    union call_args args;
    struct m2_error err;

    (void)state;
    assert_ok(buffer_alloc(device, CALL_BUFFER_BYTES, &buffer, &err), &err);
    call_make(M2_OP_ssd, M2_F32, buffer, true, &args);
    assert_ok(op_prepare(device, M2_OP_ssd, &args, &err), &err);
    assert_fails(device_reserve(device, &err), M2_E_MEMORY,
                 "mock: out of memory at reserve", &err);
    assert_int_equal(device_bytes(device), CALL_BUFFER_BYTES);
    buffer_free(device, buffer);
    device_close(device);
}

static void
several_devices_have_labels_and_keep_their_memory_apart(void **state)
{
    struct m2_device *zero = open_mock("devices=2", 0);
    struct m2_device *one = open_mock("devices=2", 1), *two;
    struct m2_buffer *there;
    struct m2_error err;
    int count;

    (void)state;
    assert_string_equal(device_label(zero), "mock:0");
    assert_string_equal(device_label(one), "mock:1");
    assert_ok(device_count(mock, &count, &err), &err);
    assert_int_equal(count, 2);
    assert_fails(device_open(mock, 2, M2_F32, 1, &two, &err), M2_E_DEVICE,
                 "mock: device 2 does not exist", &err);
    assert_ok(buffer_alloc(one, 16, &there, &err), &err);
    struct m2_scale scale = {view_matrix(there, 0, 2, 2, 2, M2_F32), 2};

    assert_fails(op_call(zero, M2_OP_scale, &scale, &err), M2_E_ARGUMENT,
                 "scale: y is on mock:1, but the op runs on mock:0", &err);
    buffer_free(one, there);
    device_close(zero);
    device_close(one);
}

static void no_device_has_a_reason(void **state)
{
    struct m2_error err;
    int count = 5;

    (void)state;
    set_mock("devices=0");
    assert_fails(device_count(mock, &count, &err), M2_E_DEVICE,
                 "mock: no device, as ordered", &err);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deferred_calls_use_copies_and_give_the_same_bits),
        cmocka_unit_test(a_deferred_op_has_not_run_yet),
        cmocka_unit_test(every_fault_arrives_as_an_error),
        cmocka_unit_test(a_crash_is_a_real_one),
        cmocka_unit_test(reserve_may_be_out_of_memory),
        cmocka_unit_test(
            several_devices_have_labels_and_keep_their_memory_apart),
        cmocka_unit_test(no_device_has_a_reason),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
