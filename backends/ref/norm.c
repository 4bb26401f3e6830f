/* RMSNorm, plain and gated, and LayerNorm: specification 4.3 and 4.4. */
#include <math.h>
#include <string.h>

#include "backends/ref/internal.h"

/* What is normalised: x, or x silu(z). */
static double gated(const struct m2_view *x, const struct m2_view *z, int64_t t,
                    int64_t j)
{
    double value = ref_get(x, t, j);
    return ref_present(z) ? value * ref_silu_value(ref_get(z, t, j)) : value;
}

int ref_rmsnorm(void *handle, void *args, struct m2_error *err)
{
    const struct m2_rmsnorm *a = args;
    int64_t width = a->x.cols / a->groups;
    (void)handle;
    (void)err;
    for (int64_t t = 0; t < a->x.rows; t++)
        for (int64_t g = 0; g < a->groups; g++) {
            double sum = 0.0;
            for (int64_t j = g * width; j < (g + 1) * width; j++) {
                double u = gated(&a->x, &a->z, t, j);
                sum += u * u;
            }
            double rs = 1.0 / sqrt(sum / (double)width + a->eps);
            ref_set(&a->rs, t, g, rs);
            for (int64_t j = g * width; j < (g + 1) * width; j++) {
                double u = gated(&a->x, &a->z, t, j);
                ref_set(&a->y, t, j, u * rs * ref_get(&a->w, 0, j));
            }
        }
    return M2_OK;
}

/* Gradient of one element of u, handed on to x and to the gate z. */
static void store_gated(const struct m2_rmsnorm_backward *a, int64_t t,
                        int64_t j, double du)
{
    double dx = du;
    if (ref_present(&a->z)) {
        double z = ref_get(&a->z, t, j);
        dx = du * ref_silu_value(z);
        ref_set(&a->dz, t, j, du * ref_get(&a->x, t, j) * ref_silu_slope(z));
    }
    ref_set(&a->dx, t, j, a->accumulate ? ref_get(&a->dx, t, j) + dx : dx);
}

/* One slice [first, first + width) of row t; uh and g are scratch rows. */
static void rmsnorm_slice_backward(const struct m2_rmsnorm_backward *a,
                                   int64_t t, int64_t slice, double *dw)
{
    int64_t width = a->x.cols / a->groups, first = slice * width;
    double *uh = dw + a->x.cols, *g = dw + 2 * a->x.cols;
    double rs = ref_get(&a->rs, t, slice), mean = 0.0;

    for (int64_t j = first; j < first + width; j++) {
        double dy = ref_get(&a->dy, t, j);
        uh[j] = gated(&a->x, &a->z, t, j) * rs;
        g[j] = dy * ref_get(&a->w, 0, j);
        dw[j] += dy * uh[j];
        mean += g[j] * uh[j];
    }
    mean /= (double)width;
    for (int64_t j = first; j < first + width; j++)
        store_gated(a, t, j, rs * (g[j] - uh[j] * mean));
}

int ref_rmsnorm_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_rmsnorm_backward *a = args;
    double *dw;
    int code = ref_scratch(handle, M2_OP_rmsnorm_backward, args, &dw, err);
    if (code)
        return code;
    memset(dw, 0, (size_t)a->x.cols * sizeof *dw);
    for (int64_t t = 0; t < a->x.rows; t++)
        for (int64_t slice = 0; slice < a->groups; slice++)
            rmsnorm_slice_backward(a, t, slice, dw);
    ref_store_or_add(&a->dw, 0, 1, dw);
    return M2_OK;
}

int ref_layernorm(void *handle, void *args, struct m2_error *err)
{
    const struct m2_layernorm *a = args;
    int64_t width = a->x.cols;
    (void)handle;
    (void)err;
    for (int64_t t = 0; t < a->x.rows; t++) {
        double mu = 0.0, variance = 0.0;
        for (int64_t j = 0; j < width; j++)
            mu += ref_get(&a->x, t, j);
        mu /= (double)width;
        for (int64_t j = 0; j < width; j++) {
            double distance = ref_get(&a->x, t, j) - mu;
            variance += distance * distance;
        }
        double rs = 1.0 / sqrt(variance / (double)width + a->eps);
        ref_set(&a->stats, t, 0, mu);
        ref_set(&a->stats, t, 1, rs);
        for (int64_t j = 0; j < width; j++) {
            double xh = (ref_get(&a->x, t, j) - mu) * rs;
            ref_set(&a->y, t, j,
                    xh * ref_get(&a->w, 0, j) + ref_get(&a->b, 0, j));
        }
    }
    return M2_OK;
}

static void layernorm_row_backward(const struct m2_layernorm_backward *a,
                                   int64_t t, double *dw, double *db)
{
    int64_t width = a->x.cols;
    double *xh = db + width, *g = db + 2 * width;
    double mu = ref_get(&a->stats, t, 0), rs = ref_get(&a->stats, t, 1);
    double mean_g = 0.0, mean_gxh = 0.0;

    for (int64_t j = 0; j < width; j++) {
        double dy = ref_get(&a->dy, t, j);
        xh[j] = (ref_get(&a->x, t, j) - mu) * rs;
        g[j] = dy * ref_get(&a->w, 0, j);
        dw[j] += dy * xh[j];
        db[j] += dy;
        mean_g += g[j];
        mean_gxh += g[j] * xh[j];
    }
    mean_g /= (double)width;
    mean_gxh /= (double)width;
    for (int64_t j = 0; j < width; j++) {
        double before = a->accumulate ? ref_get(&a->dx, t, j) : 0.0;
        double dx = rs * (g[j] - mean_g - xh[j] * mean_gxh);
        ref_set(&a->dx, t, j, before + dx);
    }
}

int ref_layernorm_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_layernorm_backward *a = args;
    double *dw;
    int code = ref_scratch(handle, M2_OP_layernorm_backward, args, &dw, err);
    if (code)
        return code;
    double *db = dw + a->x.cols;
    memset(dw, 0, 2 * (size_t)a->x.cols * sizeof *dw);
    for (int64_t t = 0; t < a->x.rows; t++)
        layernorm_row_backward(a, t, dw, db);
    ref_store_or_add(&a->dw, 0, 1, dw);
    ref_store_or_add(&a->db, 0, 1, db);
    return M2_OK;
}
