/* Opening and closing what a run computes with. */
#include "train/session.h"

#include <limits.h>

#include "data/scaling.h"
#include "loader.h"
#include "tests/unit/small_experiment.h"
#include "tests/unit/unit.h"
#include "train/update.h"

static int open_with(struct experiment *experiment, bool training,
                     struct session *out, struct m2_error *err)
{
    const struct session_request request = {
        .config = &experiment->config,
        .threads = 1,
        .training = training,
    };

    return session_open(&request, out, err);
}

static void a_session_holds_data_device_and_model(void **state)
{
    struct experiment experiment;
    struct session session;
    struct m2_error err;
    struct text scaling = {0};

    (void)state;
    small_experiment(&experiment, "");
    assert_ok(open_with(&experiment, true, &session, &err), &err);
    assert_int_equal(session.dataset.S, 300);
    assert_true(session.dataset.parts[PART_TRAIN].n > 0);
    assert_string_equal(device_label(session.device), "ref");
    assert_int_equal(device_real(session.device), M2_F64);
    assert_non_null(strstr(session.numerics, "ref 1, "));
    assert_true(session_device_is_host(&session));
    assert_ok(session_initialise(&session, &err), &err);
    assert_ok(session_scaling_text(&session, &scaling, &err), &err);
    assert_true(scaling.length > 0);
    text_free(&scaling);
    session_close(&session);
    assert_null(session.device);
    session_close(&session);
    experiment_free(&experiment);
}

static void a_scaling_that_is_given_is_used(void **state)
{
    struct experiment experiment, other;
    struct session fitted, given;
    struct dataset_scaling_table table;
    struct session_request request = {.threads = 1};
    struct text a = {0}, b = {0};
    struct m2_error err;

    (void)state;
    small_experiment(&experiment, "");
    small_experiment(&other, "split.train=0.3 split.val=0.5");
    assert_ok(open_with(&experiment, true, &fitted, &err), &err);
    assert_ok(session_scaling_text(&fitted, &a, &err), &err);
    assert_ok(scaling_table_parse(text_string(&a), "a", &table, &err), &err);
    request.config = &other.config;
    request.scaling = &table;
    assert_ok(session_open(&request, &given, &err), &err);
    assert_ok(session_scaling_text(&given, &b, &err), &err);
    assert_string_equal(text_string(&a), text_string(&b));
    scaling_table_free(&table);
    text_free(&a);
    text_free(&b);
    session_close(&given);
    session_close(&fitted);
    experiment_free(&other);
    experiment_free(&experiment);
}

static void what_cannot_be_opened_leaves_nothing(void **state)
{
    static const struct {
        const char *overrides;
        int code;
        const char *part;
    } cases[] = {
        {"device=/nowhere/m2_x.so", M2_E_DEVICE, "/nowhere/m2_x.so"},
        {"device=ref:1", M2_E_DEVICE, "ref"},
        {"window=500", M2_E_DATA, "window"},
        /* the data come first */
        {"window=500 device=/nowhere/m2_x.so", M2_E_DATA, "window"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct experiment experiment;
        struct session session;
        struct m2_error err = {0};
        int code;

        small_experiment(&experiment, cases[i].overrides);
        code = open_with(&experiment, true, &session, &err);
        if (code != cases[i].code || strstr(err.text, cases[i].part) == NULL)
            fail_msg("%s: code %d, %s", cases[i].overrides, code, err.text);
        session_close(&session);
        experiment_free(&experiment);
    }
}

/* Opens a session and an updater with what K-th ALLOC, UPLOAD, ... fails. */
static int open_all(struct experiment *experiment, struct m2_error *err)
{
    struct session session;
    struct updater *updater = NULL;
    int code = open_with(experiment, true, &session, err);

    if (code == 0)
        code = session_initialise(&session, err);
    if (code == 0)
        code = updater_create(&session, 10, &updater, err);
    updater_free(updater);
    session_close(&session);
    return code;
}

/* With a sanitizer or valgrind this shows that no error path leaks. */
static void every_fault_of_a_device_is_an_error_of_its_own(void **state)
{
    static const struct {
        const char *fault;
        int code;
    } cases[] = {
        {"fail-alloc", M2_E_MEMORY},
        {"fail-upload", M2_E_FAILED},
        {"fail-op", M2_E_FAILED},
    };
    const char *build = getenv("top_builddir");
    struct experiment experiment;
    char overrides[PATH_MAX + 50], setting[64];

    (void)state;
    snprintf(overrides, sizeof overrides,
             "device=%s/tests/mock/.libs/m2_mock.so microbatch=4",
             build != NULL ? build : ".");
    small_experiment(&experiment, overrides);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct m2_error err = {0};
        int k = 0, code;

        do {
            snprintf(setting, sizeof setting, "%s=%d", cases[i].fault, ++k);
            setenv("M2_MOCK", setting, 1);
            code = open_all(&experiment, &err);
            if (code != 0 && code != cases[i].code)
                fail_msg("%s: code %d, %s", setting, code, err.text);
        } while (code != 0);
        if (k < 3)
            fail_msg("%s: only %d calls", cases[i].fault, k - 1);
    }
    setenv("M2_MOCK", "fail-reserve", 1);
    assert_int_equal(open_all(&experiment, NULL), M2_E_MEMORY);
    snprintf(setting, sizeof setting, "refuse=%d", M2_OP_adamw);
    setenv("M2_MOCK", setting, 1);
    assert_int_equal(open_all(&experiment, NULL), M2_E_UNSUPPORTED);
    unsetenv("M2_MOCK");
    experiment_free(&experiment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_holds_data_device_and_model),
        cmocka_unit_test(a_scaling_that_is_given_is_used),
        cmocka_unit_test(what_cannot_be_opened_leaves_nothing),
        cmocka_unit_test(every_fault_of_a_device_is_an_error_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
