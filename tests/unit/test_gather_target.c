/* What the device cuts as the target of a window is what scores compare with,
 * and its statistics lead back to it. */
#include "unit.h"

#include <math.h>

#include "backends/ops.h"
#include "data/target.h"
#include "loader.h"
#include "table_source.h"

static const char *const features[] = {"close", NULL};
static const char *const targets[] = {"log_return(close)", "volume", NULL};

enum { L = 4, H = 3, MOST = 64 };

struct device_data {
    struct m2_device *device;
    struct m2_buffer *buffer;
    int64_t used; /* doubles */
};

static struct m2_view place(struct device_data *data, int64_t rows,
                            int64_t cols, enum m2_dtype dtype)
{
    int64_t offset = dtype == M2_I32 ? 2 * data->used : data->used;

    data->used += rows * cols;
    return view_matrix(data->buffer, offset, rows, cols, cols, dtype);
}

static void compare(struct device_data *data, const struct dataset *d,
                    const struct config_data *config)
{
    const struct dataset_windows *windows = &d->parts[PART_TRAIN];
    int64_t width = target_width(d, config), B = windows->n;
    struct m2_gather_windows gather = {
        .B = B,
        .L = L,
        .horizon = H,
        .horizon_mode = config->horizon_mode,
        .window_norm = config->window_norm,
        .eps = 1e-5,
        .features = place(data, d->S, d->F, M2_F64),
        .targets = place(data, d->S, d->O, M2_F64),
        .starts = place(data, 1, B, M2_I32),
        .x = place(data, B * L, d->F, M2_F64),
        .y = place(data, B, width, M2_F64),
        .norms = place(data, B, 2 * d->O, M2_F64),
    };
    double y[MOST * 6], norms[MOST * 4], truth[6];
    struct m2_error err;

    assert_ok(view_upload(data->device, &gather.features, d->features, &err),
              &err);
    assert_ok(view_upload(data->device, &gather.targets, d->targets, &err),
              &err);
    assert_ok(
        view_upload_i32(data->device, &gather.starts, windows->starts, &err),
        &err);
    assert_ok(op_call(data->device, M2_OP_gather_windows, &gather, &err), &err);
    assert_ok(view_download(data->device, &gather.y, y, &err), &err);
    assert_ok(view_download(data->device, &gather.norms, norms, &err), &err);
    for (int64_t b = 0; b < B; b++) {
        target_true(d, config, windows->starts[b], truth);
        for (int64_t j = 0; j < width; j++) {
            const double *norm = norms + b * 2 * d->O;
            double undone =
                y[b * width + j] * norm[d->O + j % d->O] + norm[j % d->O];
            assert_true(fabs(undone - truth[j]) < 1e-12);
            if (config->window_norm == M2_NORM_NONE)
                assert_true(y[b * width + j] == truth[j]);
        }
    }
}

static void the_device_and_the_scores_see_the_same_targets(void **state)
{
    static const enum m2_horizon modes[] = {M2_HORIZON_PATH, M2_HORIZON_LAST,
                                            M2_HORIZON_SUM};
    static const enum m2_window_norm norms[] = {M2_NORM_NONE, M2_NORM_LAST,
                                                M2_NORM_ZSCORE};
    struct table table;
    struct m2_error err;

    (void)state;
    table_of_bars(&table, 40);
    table.series[0].marks[17] = M2_MARK_BREAK;
    for (size_t k = 0; k < COUNT_OF(modes) * COUNT_OF(norms); k++) {
        struct config config = test_config(features, targets, L, H);
        struct dataset_request request = {.config = &config};
        struct dataset d;
        struct device_data data = {0};
        config.data.horizon_mode = modes[k % COUNT_OF(modes)];
        config.data.window_norm = norms[k / COUNT_OF(modes)];
        config.data.scale = SCALE_ZSCORE;
        assert_ok(dataset_load_with(table_source(&table), &request, &d, &err),
                  &err);
        assert_in_range(d.parts[PART_TRAIN].n, 10, MOST);
        /* Rows without a value lie outside of all windows. */
        assert_true(isnan(d.targets[0]) && isnan(d.targets[17 * 2]));
        assert_ok(
            device_open(plugin_builtin_ref(), 0, M2_F64, 1, &data.device, &err),
            &err);
        assert_ok(buffer_alloc(data.device, 1 << 15, &data.buffer, &err), &err);
        compare(&data, &d, &config.data);
        buffer_free(data.device, data.buffer);
        device_close(data.device);
        dataset_free(&d);
        test_config_free(&config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_and_the_scores_see_the_same_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
