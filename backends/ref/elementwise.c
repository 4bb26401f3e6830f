/* Elementwise ops and data movement: add, scale, fill, copy, silu, dt. */
#include <math.h>
#include <string.h>

#include "backends/ref/internal.h"

int ref_add(void *handle, void *args, struct m2_error *err)
{
    const struct m2_add *a = args;
    (void)handle;
    (void)err;
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t j = 0; j < a->y.cols; j++)
            ref_set(&a->y, i, j, ref_get(&a->a, i, j) + ref_get(&a->b, i, j));
    return M2_OK;
}

int ref_scale(void *handle, void *args, struct m2_error *err)
{
    const struct m2_scale *a = args;
    (void)handle;
    (void)err;
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t j = 0; j < a->y.cols; j++)
            ref_set(&a->y, i, j, a->factor * ref_get(&a->y, i, j));
    return M2_OK;
}

int ref_fill(void *handle, void *args, struct m2_error *err)
{
    const struct m2_fill *a = args;
    (void)handle;
    (void)err;
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t j = 0; j < a->y.cols; j++)
            ref_set(&a->y, i, j, a->value);
    return M2_OK;
}

int ref_copy(void *handle, void *args, struct m2_error *err)
{
    const struct m2_copy *a = args;
    (void)handle;
    (void)err;
    size_t bytes = (size_t)a->y.cols * m2_dtype_size(a->y.dtype);
    for (int64_t i = 0; i < a->y.rows; i++)
        memcpy(ref_at(&a->y, i, 0), ref_at(&a->x, i, 0), bytes);
    return M2_OK;
}

int ref_silu(void *handle, void *args, struct m2_error *err)
{
    const struct m2_silu *a = args;
    (void)handle;
    (void)err;
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t j = 0; j < a->y.cols; j++)
            ref_set(&a->y, i, j, ref_silu_value(ref_get(&a->x, i, j)));
    return M2_OK;
}

int ref_silu_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_silu_backward *a = args;
    (void)handle;
    (void)err;
    for (int64_t i = 0; i < a->dx.rows; i++)
        for (int64_t j = 0; j < a->dx.cols; j++) {
            double before = a->accumulate ? ref_get(&a->dx, i, j) : 0.0;
            double slope = ref_silu_slope(ref_get(&a->x, i, j));
            ref_set(&a->dx, i, j, before + ref_get(&a->dy, i, j) * slope);
        }
    return M2_OK;
}

/* Above 20 the identity: there exp(v) only costs digits. */
static double softplus(double v)
{
    return v > 20.0 ? v : log1p(exp(v));
}

static double clamp(double value, double low, double high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

int ref_dt(void *handle, void *args, struct m2_error *err)
{
    const struct m2_dt *a = args;
    (void)handle;
    (void)err;
    for (int64_t t = 0; t < a->dt.rows; t++)
        for (int64_t h = 0; h < a->dt.cols; h++) {
            double v = ref_get(&a->raw, t, h) + ref_get(&a->bias, 0, h);
            ref_set(&a->dt, t, h, clamp(softplus(v), a->low, a->high));
        }
    return M2_OK;
}

int ref_dt_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_dt_backward *a = args;
    int64_t heads = a->raw.cols;
    double *dbias;
    int code = ref_scratch(handle, M2_OP_dt_backward, args, &dbias, err);
    if (code)
        return code;
    memset(dbias, 0, (size_t)heads * sizeof *dbias);
    for (int64_t t = 0; t < a->raw.rows; t++)
        for (int64_t h = 0; h < heads; h++) {
            double v = ref_get(&a->raw, t, h) + ref_get(&a->bias, 0, h);
            double sp = softplus(v);
            double slope = v > 20.0 ? 1.0 : ref_sigmoid(v);
            int inside = a->low <= sp && sp <= a->high;
            double d = inside ? ref_get(&a->ddt, t, h) * slope : 0.0;
            ref_set(&a->draw, t, h, d);
            dbias[h] += d;
        }
    ref_store_or_add(&a->dbias, 0, 1, dbias);
    return M2_OK;
}
