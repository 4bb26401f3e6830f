/* Training steps on two backends: an error is found at its op, whatever the
 * experiment is made of, and free runs are compared step by step. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <math.h>

#include "equality/free_run.h"
#include "equality/op_by_op.h"
#include "tests/unit/small_experiment.h"

/* putenv keeps this very string. */
static void set_mock(const char *setting, int value)
{
    static char variable[64];

    snprintf(variable, sizeof variable, "M2_MOCK=%s%d", setting, value);
    putenv(variable);
}

static const char *mock_path(void)
{
    static char path[PATH_MAX];
    const char *build = getenv("top_builddir");

    snprintf(path, sizeof path, "%s/tests/mock/.libs/m2_mock.so",
             build != NULL ? build : ".");
    return path;
}

static struct equality_request request_of(const struct experiment *experiment,
                                          const char *second, int64_t steps)
{
    return (struct equality_request){
        .config = &experiment->config,
        .devices = {"ref", second},
        .threads = 1,
        .steps = steps,
    };
}

static void every_kind_of_experiment_agrees_with_itself(void **state)
{
    static const char *const kinds[] = {
        "",
        "dtype=f32",
        "train.microbatch=4",
        "window_norm=zscore train.loss=huber",
        "window_norm=last horizon=3 train.loss=mae",
        "readout=all",
        "readout=mean n_layer=3",
        "train.spectral_radius.mode=discrete proj_bias=true",
        "ngroups=2 expand=4 norm_groups=2",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        static struct op_by_op found;
        struct experiment experiment;
        struct equality_request request;
        struct m2_error err;

        small_experiment(&experiment, kinds[i]);
        request = request_of(&experiment, "ref", 2);
        assert_ok(op_by_op_run(&request, &found, &err), &err);
        assert_true(found.exact);
        assert_int_equal(found.steps, 2);
        assert_true(found.report.calls > 40);
        assert_int_equal(found.report.calls_over, 0);
        experiment_free(&experiment);
    }
}

static void compare_with_wrong_op(const struct experiment *experiment, int call,
                                  struct op_by_op *out)
{
    struct equality_request request = request_of(experiment, mock_path(), 2);
    struct m2_error err;

    set_mock("nan-op=", call);
    assert_ok(op_by_op_run(&request, out, &err), &err);
    assert_false(out->exact);
}

/* The order of a step: zeroed gradients, windows, input_proj, ... */
static void a_wrong_op_is_found_with_its_step_and_tensor(void **state)
{
    static struct op_by_op found;
    const struct mirror_place *first = &found.report.first;
    struct experiment experiment;
    int per_step;

    (void)state;
    small_experiment(&experiment, "");
    compare_with_wrong_op(&experiment, 0, &found);
    assert_int_equal(found.report.calls_over, 0);
    per_step = (int)found.report.calls / 2;
    for (int call = 1; call <= 2 * per_step; call++) {
        compare_with_wrong_op(&experiment, call, &found);
        assert_int_equal(found.report.calls_over, 1);
        assert_int_equal(first->call, call);
        assert_int_equal(first->step, call <= per_step ? 1 : 2);
        if (call == per_step + 3) {
            assert_int_equal(first->op, M2_OP_linear);
            assert_string_equal(first->argument, "y");
            assert_string_equal(first->name.text, "layers.0.input");
            assert_int_equal(first->name.layer, 0);
        }
        if (first->op == M2_OP_ssd_backward) {
            assert_int_equal(first->name.layer, 0);
            assert_string_equal(first->name.text,
                                "gradient of backbone.layers.0.mixer.D");
        }
        if (first->op == M2_OP_clip)
            assert_int_equal(first->name.layer, -1);
    }
    experiment_free(&experiment);
}

static void a_run_has_no_more_steps_than_its_config_says(void **state)
{
    static struct op_by_op found;
    struct experiment experiment;
    struct equality_request request;
    struct m2_error err;

    (void)state;
    small_experiment(&experiment, "train.steps=3");
    request = request_of(&experiment, "ref", 1000);
    assert_ok(op_by_op_run(&request, &found, &err), &err);
    assert_int_equal(found.steps, 3);
    assert_int_equal(found.batch, 16);
    experiment_free(&experiment);
}

static void free_runs_of_one_device_are_the_same_bits(void **state)
{
    struct experiment experiment;
    struct equality_request request;
    struct free_run run;
    struct m2_error err;

    (void)state;
    small_experiment(&experiment, "");
    request = request_of(&experiment, "ref", 15); /* more than an epoch */
    assert_ok(free_run_make(&request, &run, &err), &err);
    assert_int_equal(run.n, 15);
    assert_int_equal(run.first_apart, 0);
    assert_int_equal(run.first_over, 0);
    assert_true(run.limit == 0);
    assert_true(run.steps[14].updates[0].loss > 0);
    free_run_free(&run);
    experiment_free(&experiment);
}

/* The call of a step that predicts, from 1, and how many a step has. */
static int find_prediction(const struct experiment *experiment, int *per_step)
{
    static struct op_by_op found;
    int call = 0;

    compare_with_wrong_op(experiment, 0, &found);
    *per_step = (int)found.report.calls / 2;
    do {
        call++;
        assert_true(call <= *per_step);
        compare_with_wrong_op(experiment, call, &found);
    } while (found.report.first.op != M2_OP_linear ||
             strcmp(found.report.first.name.text, "output") != 0);
    return call;
}

/* Noise in a prediction is in the loss. */
static void free_runs_part_where_the_first_bit_differs(void **state)
{
    struct experiment experiment;
    struct equality_request request;
    struct free_run run;
    struct m2_error err;
    int per_step, call;

    (void)state;
    small_experiment(&experiment, "");
    call = find_prediction(&experiment, &per_step);
    request = request_of(&experiment, mock_path(), 6);
    /* three arenas are cleared before step 1 */
    set_mock("noise-op=", 3 + 3 * per_step + call);
    assert_ok(free_run_make(&request, &run, &err), &err);
    assert_int_equal(run.first_apart, 4);
    assert_int_equal(run.first_over, 4);
    assert_true(run.steps[2].gap == 0);
    assert_true(run.worst >= 4 && run.limit == FREE_RUN_LIMIT_F64);
    free_run_free(&run);
    experiment_free(&experiment);
}

static void a_side_that_diverges_is_named(void **state)
{
    struct experiment experiment;
    struct equality_request request;
    struct free_run run;
    struct m2_error err;

    (void)state;
    small_experiment(&experiment, "");
    request = request_of(&experiment, mock_path(), 2);
    set_mock("nan-op=", 6);
    assert_fails(free_run_make(&request, &run, &err), M2_E_DIVERGED,
                 "mock: step 1: ", &err);
    experiment_free(&experiment);
}

static void a_backend_that_cannot_be_opened_is_an_error(void **state)
{
    static struct op_by_op found;
    struct experiment experiment;
    struct equality_request request;
    struct free_run run;
    struct m2_error err;

    (void)state;
    small_experiment(&experiment, "");
    request = request_of(&experiment, mock_path(), 2);
    set_mock("fail-open", 0);
    assert_fails(op_by_op_run(&request, &found, &err), M2_E_DEVICE,
                 "mock: fault at open", &err);
    assert_fails(free_run_make(&request, &run, &err), M2_E_DEVICE,
                 "mock: fault at open", &err);
    experiment_free(&experiment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_experiment_agrees_with_itself),
        cmocka_unit_test(a_wrong_op_is_found_with_its_step_and_tensor),
        cmocka_unit_test(a_run_has_no_more_steps_than_its_config_says),
        cmocka_unit_test(free_runs_of_one_device_are_the_same_bits),
        cmocka_unit_test(free_runs_part_where_the_first_bit_differs),
        cmocka_unit_test(a_side_that_diverges_is_named),
        cmocka_unit_test(a_backend_that_cannot_be_opened_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
