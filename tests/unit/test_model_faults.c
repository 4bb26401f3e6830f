/* Models on a device that fails: every fault arrives as the error it is and
 * leaves nothing allocated; deferred calls change no bit. */
#include "tests/unit/unit.h"

#include <limits.h>

#include "plugins/loader.h"
#include "tests/unit/small_model.h"

enum { MOST_FAULTS = 400 };

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

/* All that a model does, once.  loss receives what the loss op wrote. */
static int run_model(struct m2_device *device, double loss[3],
                     struct m2_error *err)
{
    struct config_model config = small_config(READOUT_LAST);
    struct model_spec spec = {.config = &config,
                              .n_features = F,
                              .n_outputs = Y,
                              .B = B,
                              .L = L,
                              .training = true};
    struct model *model = NULL;
    struct model_stepper *stepper = NULL;
    struct m2_view view;
    double input[B * L * F] = {0.5, -1, 2};
    const char *name;
    int rc = model_create(device, &spec, &model, err);

    if (rc == M2_OK)
        rc = model_initialise(model, 3, err);
    if (rc == M2_OK) {
        view = model_input(model, B);
        rc = view_upload(device, &view, input, err);
    }
    if (rc == M2_OK) {
        view = model_target(model, B);
        rc = view_upload(device, &view, input, err);
    }
    if (rc == M2_OK)
        rc = model_forward_backward(model, B, 0, err);
    if (rc == M2_OK) {
        view = model_loss(model);
        rc = view_download(device, &view, loss, err);
    }
    if (rc == M2_OK)
        rc = model_first_not_finite(model, true, &name, err);
    if (rc == M2_OK)
        rc = model_stepper_create(model, 1, &stepper, err);
    if (rc == M2_OK)
        rc = model_stepper_step(stepper, err);
    if (rc == M2_OK)
        rc = device_sync(device, err);
    model_stepper_free(stepper);
    model_free(model);
    return rc;
}

/* Runs a model with one setting; the reference backend refuses to be closed
 * with buffers left, and device_bytes counts the scratch alone then. */
static int run_with(const char *setting, int value, double loss[3],
                    struct m2_error *err)
{
    struct m2_device *device;
    size_t scratch;
    int rc;

    set_mock(setting, value);
    assert_ok(device_open(mock, 0, M2_F64, 1, &device, err), err);
    rc = run_model(device, loss, err);
    scratch = device_bytes(device);
    assert_true(scratch < 4096); /* no buffer of a model is that small */
    device_close(device);
    return rc;
}

static void every_fault_is_told_and_leaves_nothing(void **state)
{
    static const struct {
        const char *setting;
        int code;
    } faults[] = {
        {"fail-alloc=", M2_E_MEMORY},    {"fail-upload=", M2_E_FAILED},
        {"fail-download=", M2_E_FAILED}, {"fail-op=", M2_E_FAILED},
        {"defer,fail-op=", M2_E_FAILED},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        int k = 1, rc = -1;

        for (; k < MOST_FAULTS && rc != M2_OK; k++) {
            struct m2_error err = {0};
            double loss[3];

            rc = run_with(faults[i].setting, k, loss, &err);
            if (rc != M2_OK) {
                assert_int_equal(rc, faults[i].code);
                assert_memory_equal(err.text, "mock: ", 6);
            }
        }
        assert_int_equal(rc, M2_OK); /* more faults than there are calls */
        assert_true(k > 3);
    }
}

static void an_op_that_is_refused_is_known_before_the_first_step(void **state)
{
    struct m2_error err = {0};
    double loss[3];

    (void)state;
    assert_int_equal(run_with("refuse=", M2_OP_ssd_backward, loss, &err),
                     M2_E_UNSUPPORTED);
    assert_int_equal(run_with("fail-reserve,refuse=", -1, loss, &err),
                     M2_E_MEMORY);
}

static void deferred_calls_give_the_same_loss(void **state)
{
    struct m2_error err = {0};
    double now[3], later[3];

    (void)state;
    assert_ok(run_with("refuse=", -1, now, &err), &err);
    assert_ok(run_with("defer,refuse=", -1, later, &err), &err);
    assert_memory_equal(now, later, sizeof now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_told_and_leaves_nothing),
        cmocka_unit_test(an_op_that_is_refused_is_known_before_the_first_step),
        cmocka_unit_test(deferred_calls_give_the_same_loss),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
