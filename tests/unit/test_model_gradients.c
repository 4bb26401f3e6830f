/* Gradients of models on the reference backend: against the loss, between
 * readouts, chunks and scales. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "small_model.h"

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
    last = small_model(&last_config, true);
    all = small_model(&all_config, true);
    rows = model_output(all, B);
    small_upload(model_input(last, B), 0);
    small_upload(model_input(all, B), 0);
    assert_int_equal(model_forward(all, B, NULL), 0);
    rows.offset += (L - 1) * rows.ld;
    rows.ld *= L;
    rows.rows = B;
    assert_int_equal(model_forward(last, B, NULL), 0);
    small_close_to(model_output(last, B), rows, 1e-15);

    /* the same error everywhere: target = prediction in all other rows */
    target = model_target(all, B);
    assert_int_equal(
        op_call(small_device(), M2_OP_copy,
                &(struct m2_copy){.x = model_output(all, B), .y = target},
                NULL),
        0);
    small_upload(model_target(last, B), 50);
    target.offset += (L - 1) * target.ld;
    target.ld *= L;
    target.rows = B;
    small_upload(target, 50);
    assert_int_equal(model_forward_backward(last, B, 0.25, NULL), 0);
    assert_int_equal(model_forward_backward(all, B, 0.25, NULL), 0);
    small_close_to(model_gradients(last), model_gradients(all), 1e-14);
    model_free(last);
    model_free(all);
}

static void gradients_are_added_and_scaled(void **state)
{
    struct config_model config = small_config(READOUT_MEAN);
    struct model *model = small_model(&config, true);
    struct m2_view gradients = model_gradients(model);
    double *once, *thrice;
    (void)state;

    small_upload(model_input(model, B), 0);
    small_upload(model_target(model, B), 100);
    assert_int_equal(model_forward_backward(model, B, 1, NULL), 0);
    once = small_download(gradients);
    assert_int_equal(model_forward_backward(model, B, 2, NULL), 0);
    thrice = small_download(gradients);
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
    struct model *first = small_model(&config, true);
    (void)state;

    small_upload(model_input(first, B), 0);
    small_upload(model_target(first, B), 30);
    assert_int_equal(model_forward_backward(first, B, 0, NULL), 0);
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        struct model *other;

        config.chunk = chunks[i];
        other = small_model(&config, true);
        small_upload(model_input(other, B), 0);
        small_upload(model_target(other, B), 30);
        assert_int_equal(model_forward_backward(other, B, 0, NULL), 0);
        small_close_to(model_gradients(first), model_gradients(other), 1e-14);
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
    model = small_model(&config, true);
    count = model_parameters(model, &items);
    small_upload(model_input(model, B), 0);
    small_upload(model_target(model, B), 70);
    assert_int_equal(model_forward_backward(model, B, 1, NULL), 0);
    gradients = small_download(model_gradients(model));
    for (size_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < items[i].n; j += 1 + items[i].n / 3) {
            struct m2_view one =
                view_columns(model_values(model), items[i].offset + j, 1);
            double *value = small_download(one), changed, sums[2];

            for (int side = 0; side < 2; side++) {
                double *loss;

                changed = *value + (side == 0 ? step : -step);
                view_upload(small_device(), &one, &changed, NULL);
                assert_int_equal(model_forward_backward(model, B, 1, NULL), 0);
                loss = small_download(model_loss(model));
                sums[side] = loss[0];
                free(loss);
            }
            view_upload(small_device(), &one, value, NULL);
            assert_true(fabs((sums[0] - sums[1]) / (2 * step) -
                             gradients[items[i].offset + j]) < 1e-6);
            free(value);
        }
    }
    free(gradients);
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
    model = small_model(&config, true);
    small_upload(model_input(model, B), 0);
    for (int i = 0; i < B * L; i++)
        labels[i] = i % 2 == 0 ? MODEL_IGNORED_LABEL : i % V;
    view = model_target(model, B);
    assert_int_equal(view_upload_i32(small_device(), &view, labels, NULL), 0);
    assert_int_equal(model_forward_backward(model, B, 0, NULL), 0);
    loss = small_download(model_loss(model));
    assert_true(loss[1] == B * L / 2);
    free(loss);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_readout_equals_the_last_row_of_all),
        cmocka_unit_test(gradients_are_added_and_scaled),
        cmocka_unit_test(the_chunk_length_does_not_change_the_result),
        cmocka_unit_test(gradients_are_those_of_the_loss),
        cmocka_unit_test(ignored_labels_take_no_part),
    };
    return cmocka_run_group_tests(tests, small_open, small_close);
}
