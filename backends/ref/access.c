/* Rows of views as doubles, and the activation function. */
#include <math.h>

#include "backends/ref/internal.h"

double ref_sigmoid(double x)
{
    if (x >= 0)
        return 1.0 / (1.0 + exp(-x));
    double e = exp(x);
    return e / (1.0 + e);
}

double ref_silu_value(double x)
{
    return x * ref_sigmoid(x);
}

double ref_silu_slope(double x)
{
    double s = ref_sigmoid(x);
    return s * (1.0 + x * (1.0 - s));
}

void ref_load(const struct m2_view *view, int64_t i, int64_t first,
              int64_t count, double *out)
{
    for (int64_t j = 0; j < count; j++)
        out[j] = ref_get(view, i, first + j);
}

void ref_store(const struct m2_view *view, int64_t i, int64_t first,
               int64_t count, const double *values)
{
    for (int64_t j = 0; j < count; j++)
        ref_set(view, i, first + j, values[j]);
}

double ref_dot(const double *x, const struct m2_view *view, int64_t i)
{
    double sum = 0.0;
    if (view->dtype == M2_F32) {
        const float *row = ref_at(view, i, 0);
        for (int64_t j = 0; j < view->cols; j++)
            sum += x[j] * row[j];
    } else {
        const double *row = ref_at(view, i, 0);
        for (int64_t j = 0; j < view->cols; j++)
            sum += x[j] * row[j];
    }
    return sum;
}

void ref_axpy(double *y, double factor, const struct m2_view *view, int64_t i)
{
    if (view->dtype == M2_F32) {
        const float *row = ref_at(view, i, 0);
        for (int64_t j = 0; j < view->cols; j++)
            y[j] += factor * row[j];
    } else {
        const double *row = ref_at(view, i, 0);
        for (int64_t j = 0; j < view->cols; j++)
            y[j] += factor * row[j];
    }
}

void ref_store_or_add(const struct m2_view *view, int64_t i, int accumulate,
                      const double *values)
{
    for (int64_t j = 0; j < view->cols; j++) {
        double before = accumulate ? ref_get(view, i, j) : 0.0;
        ref_set(view, i, j, before + values[j]);
    }
}
