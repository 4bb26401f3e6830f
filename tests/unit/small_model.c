/* A small model for tests. */
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

static struct m2_device *device;

int small_open(void **state)
{
    (void)state;
    return device_open(plugin_builtin_ref(), 0, M2_F64, 1, &device, NULL);
}

int small_close(void **state)
{
    (void)state;
    device_close(device);
    return 0;
}

struct m2_device *small_device(void)
{
    return device;
}

struct config_model small_config(enum readout readout)
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

struct model *small_model(const struct config_model *config, bool training)
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

void small_upload(struct m2_view view, int64_t first)
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

double *small_download(struct m2_view view)
{
    double *values = calloc((size_t)(view.rows * view.cols), sizeof *values);

    assert_int_equal(view_download(device, &view, values, NULL), 0);
    return values;
}

void small_same(struct m2_view a, struct m2_view b)
{
    double *x = small_download(a), *y = small_download(b);

    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.cols, b.cols);
    assert_memory_equal(x, y, (size_t)(a.rows * a.cols) * sizeof *x);
    free(x);
    free(y);
}

void small_close_to(struct m2_view a, struct m2_view b, double limit)
{
    double *x = small_download(a), *y = small_download(b);

    assert_int_equal(a.rows * a.cols, b.rows * b.cols);
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        assert_true(fabs(x[i] - y[i]) <= limit);
    free(x);
    free(y);
}
