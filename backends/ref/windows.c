/* Batches of windows, and the mean over time. */
#include <math.h>

#include "backends/ref/internal.h"

int ref_mean_time(void *handle, void *args, struct m2_error *err)
{
    const struct m2_mean_time *a = args;
    (void)handle;
    (void)err;
    for (int64_t b = 0; b < a->B; b++)
        for (int64_t j = 0; j < a->y.cols; j++) {
            double sum = 0.0;
            for (int64_t t = 0; t < a->L; t++)
                sum += ref_get(&a->x, b * a->L + t, j);
            ref_set(&a->y, b, j, sum / (double)a->L);
        }
    return M2_OK;
}

int ref_mean_time_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_mean_time_backward *a = args;
    (void)handle;
    (void)err;
    for (int64_t row = 0; row < a->B * a->L; row++)
        for (int64_t j = 0; j < a->dx.cols; j++) {
            double before = a->accumulate ? ref_get(&a->dx, row, j) : 0.0;
            double dy = ref_get(&a->dy, row / a->L, j);
            ref_set(&a->dx, row, j, before + dy / (double)a->L);
        }
    return M2_OK;
}

/* How one column of one window is normalised: (value - shift) / spread. */
struct norm {
    double shift, spread;
};

static struct norm window_norm(const struct m2_gather_windows *a,
                               const struct m2_view *series, int64_t start,
                               int64_t column)
{
    struct norm norm = {0.0, 1.0};
    double variance = 0.0;

    if (a->window_norm == M2_NORM_NONE)
        return norm;
    if (a->window_norm == M2_NORM_LAST) {
        norm.shift = ref_get(series, start + a->L - 1, column);
        return norm;
    }
    for (int64_t t = 0; t < a->L; t++)
        norm.shift += ref_get(series, start + t, column);
    norm.shift /= (double)a->L;
    for (int64_t t = 0; t < a->L; t++) {
        double distance = ref_get(series, start + t, column) - norm.shift;
        variance += distance * distance;
    }
    norm.spread = sqrt(variance / (double)a->L + a->eps);
    return norm;
}

/* Column o of the targets of window b, whose first target row is `row`. */
static void gather_target(const struct m2_gather_windows *a, int64_t b,
                          int64_t row, int64_t o, struct norm norm)
{
    int64_t columns = a->targets.cols;
    double sum = 0.0;
    for (int64_t k = 0; k < a->horizon; k++) {
        double value = ref_get(&a->targets, row + k, o);
        sum += value;
        value = (value - norm.shift) / norm.spread;
        if (a->horizon_mode == M2_HORIZON_PATH)
            ref_set(&a->y, b, k * columns + o, value);
        else if (a->horizon_mode == M2_HORIZON_LAST)
            ref_set(&a->y, b, o, value); /* the last one stays */
    }
    double shift = (double)a->horizon * norm.shift;
    if (a->horizon_mode == M2_HORIZON_SUM)
        ref_set(&a->y, b, o, (sum - shift) / norm.spread);
}

static void gather_window(const struct m2_gather_windows *a, int64_t b,
                          int64_t start)
{
    for (int64_t j = 0; j < a->features.cols; j++) {
        struct norm norm = window_norm(a, &a->features, start, j);
        for (int64_t t = 0; t < a->L; t++)
            ref_set(&a->x, b * a->L + t, j,
                    (ref_get(&a->features, start + t, j) - norm.shift) /
                        norm.spread);
    }
    int wanted = ref_present(&a->y) || ref_present(&a->norms);
    for (int64_t o = 0; wanted && o < a->targets.cols; o++) {
        struct norm norm = window_norm(a, &a->targets, start, o);
        int summed = a->horizon_mode == M2_HORIZON_SUM;
        if (ref_present(&a->y))
            gather_target(a, b, start + a->L, o, norm);
        if (!ref_present(&a->norms))
            continue;
        ref_set(&a->norms, b, o,
                summed ? (double)a->horizon * norm.shift : norm.shift);
        ref_set(&a->norms, b, a->targets.cols + o, norm.spread);
    }
}

int ref_gather_windows(void *handle, void *args, struct m2_error *err)
{
    const struct m2_gather_windows *a = args;
    int64_t rows = a->L + (ref_present(&a->y) ? a->horizon : 0);
    (void)handle;
    for (int64_t b = 0; b < a->B; b++) {
        int64_t start = ref_get_int(&a->starts, b);
        if (start < 0 || start > a->features.rows - rows)
            return m2_fail(err, M2_E_ARGUMENT,
                           "gather_windows: starts[%lld] is %lld, but a window "
                           "of %lld rows must lie in %lld",
                           (long long)b, (long long)start, (long long)rows,
                           (long long)a->features.rows);
    }
    for (int64_t b = 0; b < a->B; b++)
        gather_window(a, b, ref_get_int(&a->starts, b));
    return M2_OK;
}
