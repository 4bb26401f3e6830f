/* Models on the reference backend: plans, batches, steps, names. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loader.h"
#include "small_model.h"

static void the_plan_is_what_is_allocated(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        struct config_model config = small_config((enum readout)(i % 3));
        struct model_spec spec = {.config = &config,
                                  .n_features = F,
                                  .n_outputs = Y,
                                  .n_vocab = V,
                                  .B = B,
                                  .L = L,
                                  .training = i % 2 == 0};
        struct model_plan plan, blind;
        struct m2_device *fresh;
        struct model *model;
        int64_t n;

        config.head = i < 6 ? HEAD_FORECAST : HEAD_LM;
        assert_int_equal(
            device_open(plugin_builtin_ref(), 0, M2_F64, 1, &fresh, NULL), 0);
        assert_int_equal(model_plan(&spec, fresh, M2_F64, &plan, NULL), 0);
        assert_int_equal(device_bytes(fresh), 0);
        assert_int_equal(model_plan(&spec, NULL, M2_F64, &blind, NULL), 0);
        assert_int_equal(model_create(fresh, &spec, &model, NULL), 0);
        n = model_arena_size(model, NULL);
        assert_int_equal(plan.n_parameters, n);
        assert_int_equal(plan.parameter_bytes, 8 * n);
        assert_int_equal(plan.gradient_bytes, spec.training ? 8 * n : 0);
        assert_int_equal(plan.moment_bytes, 2 * plan.gradient_bytes);
        assert_int_equal(device_bytes(fresh),
                         plan.parameter_bytes + plan.gradient_bytes +
                             plan.activation_bytes + plan.workspace_bytes);
        plan.workspace_bytes = 0;
        assert_memory_equal(&plan, &blind, sizeof plan);
        model_free(model);
        assert_int_equal(device_bytes(fresh) > 0, true); /* the scratch */
        device_close(fresh);
    }
}

/* Specification, section 8: 10.47 + 21.13 GFLOP with every row computed.
 * Reading out the last row alone saves z and out of the last block. */
static void operations_of_the_seed_model_are_the_published_ones(void **state)
{
    struct config_model config = {
        .d_model = 256,
        .n_layer = 6,
        .d_state = 16,
        .expand = 2,
        .headdim = 64,
        .d_conv = 4,
        .ngroups = 1,
        .norm_groups = 1,
        .chunk = 64,
        .norm_eps = 1e-5,
        .conv_bias = true,
        .readout = READOUT_ALL,
    };
    struct model_spec spec = {.config = &config,
                              .n_features = 16,
                              .n_outputs = 1,
                              .B = 32,
                              .L = 60,
                              .training = true};
    struct model_plan all, last;
    (void)state;

    assert_int_equal(model_plan(&spec, NULL, M2_F32, &all, NULL), 0);
    assert_true(fabs(all.forward_flops - 10.47e9) < 0.005e9);
    assert_true(fabs(all.step_flops - 31.60e9) < 0.01e9);
    config.readout = READOUT_LAST;
    assert_int_equal(model_plan(&spec, NULL, M2_F32, &last, NULL), 0);
    assert_true(last.step_flops < 0.93 * all.step_flops);
    assert_true(last.activation_bytes < all.activation_bytes);
}

static void forward_only_models_share_memory_and_agree(void **state)
{
    (void)state;
    for (int readout = READOUT_LAST; readout <= READOUT_ALL; readout++) {
        struct config_model config = small_config((enum readout)readout);
        struct model *training = small_model(&config, true);
        struct model *inference = small_model(&config, false);
        struct model_spec spec = {
            .config = &config, .n_features = F, .n_outputs = Y, .B = B, .L = L};
        struct model_plan shallow, deep;

        small_upload(model_input(training, B), 0);
        small_upload(model_input(inference, B), 0);
        assert_int_equal(model_forward(training, B, NULL), 0);
        assert_int_equal(model_forward(inference, B, NULL), 0);
        small_same(model_output(training, B), model_output(inference, B));
        assert_int_equal(model_plan(&spec, NULL, M2_F64, &shallow, NULL), 0);
        config.n_layer = 20;
        assert_int_equal(model_plan(&spec, NULL, M2_F64, &deep, NULL), 0);
        assert_int_equal(shallow.activation_bytes, deep.activation_bytes);
        model_free(training);
        model_free(inference);
    }
}

static void a_smaller_batch_gives_the_same_rows(void **state)
{
    struct config_model config = small_config(READOUT_LAST);
    struct model *model = small_model(&config, true);
    struct m2_view whole = model_output(model, B);
    double *expected, *got;
    (void)state;

    small_upload(model_input(model, B), 0);
    assert_int_equal(model_forward(model, B, NULL), 0);
    expected = small_download(whole);
    assert_int_equal(model_forward(model, 2, NULL), 0);
    got = small_download(model_output(model, 2));
    assert_int_equal(model_output(model, 2).rows, 2);
    assert_memory_equal(expected, got, 2 * Y * sizeof *got);
    free(got);
    free(expected);
    model_free(model);
}

static void batches_beyond_the_largest_are_refused(void **state)
{
    struct config_model config = small_config(READOUT_LAST);
    struct model *model = small_model(&config, false);
    struct m2_error err;
    (void)state;

    assert_int_equal(model_forward(model, B + 1, &err), M2_E_ARGUMENT);
    assert_string_equal(err.text,
                        "model: a batch of 4 windows, expected 1 to 3");
    assert_int_equal(model_prepare(model, 0, &err), M2_E_ARGUMENT);
    assert_int_equal(model_forward_backward(model, B, 0, &err), M2_E_INTERNAL);
    model_free(model);
}

static void steps_equal_the_whole_window_until_reset(void **state)
{
    struct config_model config = small_config(READOUT_LAST);
    struct model *model = small_model(&config, false);
    struct model_stepper *stepper;
    double *input, *expected;
    (void)state;

    small_upload(model_input(model, B), 0);
    input = small_download(model_input(model, B));
    assert_int_equal(model_forward(model, B, NULL), 0);
    expected = small_download(model_output(model, B));
    assert_int_equal(model_stepper_create(model, B, &stepper, NULL), 0);
    for (int round = 0; round < 2; round++) {
        double *got;

        assert_int_equal(model_stepper_reset(stepper, NULL), 0);
        for (int64_t t = 0; t < L; t++) {
            double x[B * F];
            struct m2_view view = model_stepper_input(stepper);

            for (int64_t b = 0; b < B; b++)
                memcpy(x + b * F, input + (b * L + t) * F, F * sizeof *x);
            assert_int_equal(view_upload(small_device(), &view, x, NULL), 0);
            assert_int_equal(model_stepper_step(stepper, NULL), 0);
        }
        got = small_download(model_stepper_output(stepper));
        for (int i = 0; i < B * Y; i++)
            assert_true(fabs(got[i] - expected[i]) < 1e-14);
        free(got);
    }
    free(input);
    free(expected);
    model_stepper_free(stepper);
    model_free(model);
}

static void mean_readout_has_no_one_step_form(void **state)
{
    struct config_model config = small_config(READOUT_MEAN);
    struct model *model = small_model(&config, false);
    struct model_stepper *stepper;
    struct m2_error err;
    (void)state;

    assert_int_equal(model_stepper_create(model, 1, &stepper, &err),
                     M2_E_UNSUPPORTED);
    assert_string_equal(err.text, "model.readout: mean needs the whole window "
                                  "and has no one-step form");
    model_free(model);
}

static void activations_have_names(void **state)
{
    static const struct {
        const char *name;
        int64_t rows, cols; /* 0: none of that name */
    } cases[] = {
        {"layers.0.zxd", B * L, 48},
        {"layers.1.zxd", 0, 0},
        {"layers.0.z", B * L, 16},
        {"layers.1.z", B, 16},
        {"layers.1.xbc", B * L, 28},
        {"layers.0.resid", B * L, 8},
        {"layers.1.resid", B, 8},
        {"layers.1.dt_raw", B * L, 4},
        {"layers.2.resid", 0, 0},
        {"layers.-1.u", 0, 0},
        {"layers.0.nothing", 0, 0},
        {"f", B, 8},
        {"output", B, Y},
        {"layers.0.states", B, 3 * 16 * 3},
        {"layers.99999999999999999999.u", 0, 0},
    };
    struct config_model config = small_config(READOUT_LAST);
    struct model *model = small_model(&config, true);
    struct model *inference = small_model(&config, false);
    struct m2_view view;
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool found = model_activation(model, B, cases[i].name, &view);

        assert_int_equal(found, cases[i].rows > 0);
        if (found) {
            assert_int_equal(view.rows, cases[i].rows);
            assert_int_equal(view.cols, cases[i].cols);
        }
    }
    assert_false(model_activation(inference, B, "layers.0.u", &view));
    model_free(model);
    model_free(inference);
}

static void the_first_bad_tensor_is_named(void **state)
{
    struct config_model config = small_config(READOUT_LAST);
    struct model *model = small_model(&config, true);
    struct m2_view a_log = model_a_log(model, 1);
    const char *name = "x";
    double bad[4] = {0, NAN, 0, 0};
    (void)state;

    assert_int_equal(model_first_not_finite(model, false, &name, NULL), 0);
    assert_null(name);
    assert_int_equal(view_upload(small_device(), &a_log, bad, NULL), 0);
    assert_int_equal(model_first_not_finite(model, false, &name, NULL), 0);
    assert_string_equal(name, "backbone.layers.1.mixer.A_log");
    assert_int_equal(model_first_not_finite(model, true, &name, NULL), 0);
    assert_null(name);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_is_what_is_allocated),
        cmocka_unit_test(operations_of_the_seed_model_are_the_published_ones),
        cmocka_unit_test(forward_only_models_share_memory_and_agree),
        cmocka_unit_test(a_smaller_batch_gives_the_same_rows),
        cmocka_unit_test(batches_beyond_the_largest_are_refused),
        cmocka_unit_test(steps_equal_the_whole_window_until_reset),
        cmocka_unit_test(mean_readout_has_no_one_step_form),
        cmocka_unit_test(activations_have_names),
        cmocka_unit_test(the_first_bad_tensor_is_named),
    };
    return cmocka_run_group_tests(tests, small_open, small_close);
}
