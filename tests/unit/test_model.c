/* Models on the reference backend: plans, batches, readouts, steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loader.h"
#include "model/model.h"

enum { B = 3, L = 10, F = 2, Y = 2, V = 11 };

static struct m2_device *device;

static int open_device(void **state)
{
    (void)state;
    return device_open(plugin_builtin_ref(), 0, M2_F64, 1, &device, NULL);
}

static int close_device(void **state)
{
    (void)state;
    device_close(device);
    return 0;
}

static struct config_model small_config(enum readout readout)
{
    return (struct config_model){
        .d_model = 8,
        .n_layer = 2,
        .d_state = 3,
        .expand = 2,
        .headdim = 4,
        .d_conv = 4,
        .ngroups = 2,
        .norm_groups = 2,
        .chunk = 4,
        .dt_limit = {1e-6, 1.0},
        .norm_eps = 1e-5,
        .conv_bias = true,
        .readout = readout,
    };
}

static struct model *make(const struct config_model *config, bool training)
{
    struct model_spec spec = {.config = config,
                              .n_features = F,
                              .n_outputs = Y,
                              .n_vocab = V,
                              .B = B,
                              .L = L,
                              .training = training};
    struct m2_error err = {0};
    struct model *model;

    if (model_create(device, &spec, &model, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(model_initialise(model, 1, &err), 0);
    return model;
}

/* Any values, the same for the same index. */
static double some(int64_t i)
{
    return sin(1.7 * (double)i + 0.3);
}

static void upload_some(struct m2_view view, int64_t first)
{
    int64_t n = view.rows * view.cols;
    double *values = calloc((size_t)n, sizeof *values);
    int32_t *ids = calloc((size_t)n, sizeof *ids);

    for (int64_t i = 0; i < n; i++) {
        values[i] = some(first + i);
        ids[i] = (int32_t)((first + i * i) % V);
    }
    if (view.dtype == M2_I32)
        assert_int_equal(view_upload_i32(device, &view, ids, NULL), 0);
    else
        assert_int_equal(view_upload(device, &view, values, NULL), 0);
    free(values);
    free(ids);
}

static double *download(struct m2_view view)
{
    double *values = calloc((size_t)(view.rows * view.cols), sizeof *values);

    assert_int_equal(view_download(device, &view, values, NULL), 0);
    return values;
}

/* Same bits: what a test calls equal without a tolerance. */
static void assert_same(struct m2_view a, struct m2_view b)
{
    double *x = download(a), *y = download(b);

    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.cols, b.cols);
    assert_memory_equal(x, y, (size_t)(a.rows * a.cols) * sizeof *x);
    free(x);
    free(y);
}

static void assert_close(struct m2_view a, struct m2_view b, double limit)
{
    double *x = download(a), *y = download(b);

    assert_int_equal(a.rows * a.cols, b.rows * b.cols);
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        assert_true(fabs(x[i] - y[i]) <= limit);
    free(x);
    free(y);
}

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
        struct model *training = make(&config, true);
        struct model *inference = make(&config, false);
        struct model_spec spec = {
            .config = &config, .n_features = F, .n_outputs = Y, .B = B, .L = L};
        struct model_plan shallow, deep;

        upload_some(model_input(training, B), 0);
        upload_some(model_input(inference, B), 0);
        assert_int_equal(model_forward(training, B, NULL), 0);
        assert_int_equal(model_forward(inference, B, NULL), 0);
        assert_same(model_output(training, B), model_output(inference, B));
        assert_int_equal(model_plan(&spec, NULL, M2_F64, &shallow, NULL), 0);
        config.n_layer = 20;
        assert_int_equal(model_plan(&spec, NULL, M2_F64, &deep, NULL), 0);
        assert_int_equal(shallow.activation_bytes, deep.activation_bytes);
        model_free(training);
        model_free(inference);
    }
}

/* Rows and gradients of the last readout equal those of a model that computes
 * every row and is only asked about the last. */
static void last_readout_equals_the_last_row_of_all(void **state)
{
    struct config_model last_config = small_config(READOUT_LAST);
    struct config_model all_config = small_config(READOUT_ALL);
    struct m2_view rows, target;
    struct model *last, *all;
    (void)state;

    last_config.proj_bias = all_config.proj_bias = true;
    last = make(&last_config, true);
    all = make(&all_config, true);
    rows = model_output(all, B);
    upload_some(model_input(last, B), 0);
    upload_some(model_input(all, B), 0);
    assert_int_equal(model_forward(all, B, NULL), 0);
    rows.offset += (L - 1) * rows.ld;
    rows.ld *= L;
    rows.rows = B;
    assert_int_equal(model_forward(last, B, NULL), 0);
    assert_close(model_output(last, B), rows, 1e-15);

    /* the same error everywhere: target = prediction in all other rows */
    target = model_target(all, B);
    assert_int_equal(
        op_call(device, M2_OP_copy,
                &(struct m2_copy){.x = model_output(all, B), .y = target},
                NULL),
        0);
    upload_some(model_target(last, B), 50);
    target.offset += (L - 1) * target.ld;
    target.ld *= L;
    target.rows = B;
    upload_some(target, 50);
    assert_int_equal(model_forward_backward(last, B, 0.25, NULL), 0);
    assert_int_equal(model_forward_backward(all, B, 0.25, NULL), 0);
    assert_close(model_gradients(last), model_gradients(all), 1e-14);
    model_free(last);
    model_free(all);
}

static void a_smaller_batch_gives_the_same_rows(void **state)
{
    struct config_model config = small_config(READOUT_LAST);
    struct model *model = make(&config, true);
    struct m2_view whole = model_output(model, B);
    double *expected, *got;
    (void)state;

    upload_some(model_input(model, B), 0);
    assert_int_equal(model_forward(model, B, NULL), 0);
    expected = download(whole);
    assert_int_equal(model_forward(model, 2, NULL), 0);
    got = download(model_output(model, 2));
    assert_int_equal(model_output(model, 2).rows, 2);
    assert_memory_equal(expected, got, 2 * Y * sizeof *got);
    free(got);
    free(expected);
    model_free(model);
}

static void batches_beyond_the_largest_are_refused(void **state)
{
    struct config_model config = small_config(READOUT_LAST);
    struct model *model = make(&config, false);
    struct m2_error err;
    (void)state;

    assert_int_equal(model_forward(model, B + 1, &err), M2_E_ARGUMENT);
    assert_string_equal(err.text,
                        "model: a batch of 4 windows, expected 1 to 3");
    assert_int_equal(model_prepare(model, 0, &err), M2_E_ARGUMENT);
    assert_int_equal(model_forward_backward(model, B, 0, &err), M2_E_INTERNAL);
    model_free(model);
}

static void gradients_are_added_and_scaled(void **state)
{
    struct config_model config = small_config(READOUT_MEAN);
    struct model *model = make(&config, true);
    struct m2_view gradients = model_gradients(model);
    double *once, *thrice;
    (void)state;

    upload_some(model_input(model, B), 0);
    upload_some(model_target(model, B), 100);
    assert_int_equal(model_forward_backward(model, B, 1, NULL), 0);
    once = download(gradients);
    assert_int_equal(model_forward_backward(model, B, 2, NULL), 0);
    thrice = download(gradients);
    for (int64_t i = 0; i < gradients.cols; i++)
        assert_true(fabs(thrice[i] - 3 * once[i]) <=
                    1e-13 * (1 + fabs(once[i])));
    free(once);
    free(thrice);
    model_free(model);
}

/* The chunk is a matter of speed, not of the result. */
static void the_chunk_length_does_not_change_the_result(void **state)
{
    static const int64_t chunks[] = {1, 3, L - 1, L, L + 5};
    struct config_model config = small_config(READOUT_ALL);
    struct model *first = make(&config, true);
    (void)state;

    upload_some(model_input(first, B), 0);
    upload_some(model_target(first, B), 30);
    assert_int_equal(model_forward_backward(first, B, 0, NULL), 0);
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        struct model *other;

        config.chunk = chunks[i];
        other = make(&config, true);
        upload_some(model_input(other, B), 0);
        upload_some(model_target(other, B), 30);
        assert_int_equal(model_forward_backward(other, B, 0, NULL), 0);
        assert_close(model_gradients(first), model_gradients(other), 1e-14);
        model_free(other);
    }
    model_free(first);
}

/* Central differences of the loss over a few elements of every tensor. */
static void gradients_are_those_of_the_loss(void **state)
{
    const double step = 1e-5;
    struct config_model config = small_config(READOUT_LAST);
    const struct parameter *items;
    struct model *model;
    double *gradients;
    size_t count;
    (void)state;

    config.proj_bias = true; /* biases of split projections, too */
    model = make(&config, true);
    count = model_parameters(model, &items);
    upload_some(model_input(model, B), 0);
    upload_some(model_target(model, B), 70);
    assert_int_equal(model_forward_backward(model, B, 1, NULL), 0);
    gradients = download(model_gradients(model));
    for (size_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < items[i].n; j += 1 + items[i].n / 3) {
            struct m2_view one =
                view_columns(model_values(model), items[i].offset + j, 1);
            double *value = download(one), changed, sums[2];

            for (int side = 0; side < 2; side++) {
                double *loss;

                changed = *value + (side == 0 ? step : -step);
                view_upload(device, &one, &changed, NULL);
                assert_int_equal(model_forward_backward(model, B, 1, NULL), 0);
                loss = download(model_loss(model));
                sums[side] = loss[0];
                free(loss);
            }
            view_upload(device, &one, value, NULL);
            assert_true(fabs((sums[0] - sums[1]) / (2 * step) -
                             gradients[items[i].offset + j]) < 1e-6);
            free(value);
        }
    }
    free(gradients);
    model_free(model);
}

static void steps_equal_the_whole_window_until_reset(void **state)
{
    struct config_model config = small_config(READOUT_LAST);
    struct model *model = make(&config, false);
    struct model_stepper *stepper;
    double *input, *expected;
    (void)state;

    upload_some(model_input(model, B), 0);
    input = download(model_input(model, B));
    assert_int_equal(model_forward(model, B, NULL), 0);
    expected = download(model_output(model, B));
    assert_int_equal(model_stepper_create(model, B, &stepper, NULL), 0);
    for (int round = 0; round < 2; round++) {
        double *got;

        assert_int_equal(model_stepper_reset(stepper, NULL), 0);
        for (int64_t t = 0; t < L; t++) {
            double x[B * F];
            struct m2_view view = model_stepper_input(stepper);

            for (int64_t b = 0; b < B; b++)
                memcpy(x + b * F, input + (b * L + t) * F, F * sizeof *x);
            assert_int_equal(view_upload(device, &view, x, NULL), 0);
            assert_int_equal(model_stepper_step(stepper, NULL), 0);
        }
        got = download(model_stepper_output(stepper));
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
    struct model *model = make(&config, false);
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
    struct model *model = make(&config, true);
    struct model *inference = make(&config, false);
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
    struct model *model = make(&config, true);
    struct m2_view a_log = model_a_log(model, 1);
    const char *name = "x";
    double bad[4] = {0, NAN, 0, 0};
    (void)state;

    assert_int_equal(model_first_not_finite(model, false, &name, NULL), 0);
    assert_null(name);
    assert_int_equal(view_upload(device, &a_log, bad, NULL), 0);
    assert_int_equal(model_first_not_finite(model, false, &name, NULL), 0);
    assert_string_equal(name, "backbone.layers.1.mixer.A_log");
    assert_int_equal(model_first_not_finite(model, true, &name, NULL), 0);
    assert_null(name);
    model_free(model);
}

static void ignored_labels_take_no_part(void **state)
{
    struct config_model config = small_config(READOUT_ALL);
    int32_t labels[B * L];
    struct m2_view view;
    struct model *model;
    double *loss;
    (void)state;

    config.head = HEAD_LM;
    config.tie_embedding = true;
    model = make(&config, true);
    upload_some(model_input(model, B), 0);
    for (int i = 0; i < B * L; i++)
        labels[i] = i % 2 == 0 ? MODEL_IGNORED_LABEL : i % V;
    view = model_target(model, B);
    assert_int_equal(view_upload_i32(device, &view, labels, NULL), 0);
    assert_int_equal(model_forward_backward(model, B, 0, NULL), 0);
    loss = download(model_loss(model));
    assert_true(loss[1] == B * L / 2);
    free(loss);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_is_what_is_allocated),
        cmocka_unit_test(operations_of_the_seed_model_are_the_published_ones),
        cmocka_unit_test(forward_only_models_share_memory_and_agree),
        cmocka_unit_test(last_readout_equals_the_last_row_of_all),
        cmocka_unit_test(a_smaller_batch_gives_the_same_rows),
        cmocka_unit_test(batches_beyond_the_largest_are_refused),
        cmocka_unit_test(gradients_are_added_and_scaled),
        cmocka_unit_test(the_chunk_length_does_not_change_the_result),
        cmocka_unit_test(gradients_are_those_of_the_loss),
        cmocka_unit_test(steps_equal_the_whole_window_until_reset),
        cmocka_unit_test(mean_readout_has_no_one_step_form),
        cmocka_unit_test(activations_have_names),
        cmocka_unit_test(the_first_bad_tensor_is_named),
        cmocka_unit_test(ignored_labels_take_no_part),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
