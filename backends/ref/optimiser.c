/* Gradient norm, clipping, AdamW and the spectral constraint: specification,
 * section 6. */
#include <math.h>

#include "backends/ref/internal.h"

int ref_sumsq(void *handle, void *args, struct m2_error *err)
{
    const struct m2_sumsq *a = args;
    double sum = a->accumulate ? ref_get(&a->out, 0, 0) : 0.0;
    (void)handle;
    (void)err;
    for (int64_t i = 0; i < a->x.rows; i++)
        for (int64_t j = 0; j < a->x.cols; j++) {
            double x = ref_get(&a->x, i, j);
            sum += x * x;
        }
    ref_set(&a->out, 0, 0, sum);
    return M2_OK;
}

/* Absent values are finite. */
static int all_finite(const struct m2_view *view)
{
    for (int64_t i = 0; ref_present(view) && i < view->rows; i++)
        for (int64_t j = 0; j < view->cols; j++)
            if (!isfinite(ref_get(view, i, j)))
                return 0;
    return 1;
}

int ref_clip(void *handle, void *args, struct m2_error *err)
{
    const struct m2_clip *a = args;
    double norm = sqrt(ref_get(&a->sumsq, 0, 0));
    double coefficient = 1.0;
    int finite = isfinite(norm) && all_finite(&a->also);
    (void)handle;
    (void)err;
    if (finite && a->max_norm > 0.0)
        coefficient = a->max_norm / (norm + 1e-6);
    if (!(coefficient < 1.0))
        coefficient = 1.0;
    for (int64_t i = 0; coefficient < 1.0 && i < a->x.rows; i++)
        for (int64_t j = 0; j < a->x.cols; j++)
            ref_set(&a->x, i, j, coefficient * ref_get(&a->x, i, j));
    ref_set(&a->out, 0, 0, norm);
    ref_set(&a->out, 0, 1, coefficient);
    ref_set(&a->out, 0, 2, finite ? 1.0 : 0.0);
    return M2_OK;
}

int ref_adamw(void *handle, void *args, struct m2_error *err)
{
    const struct m2_adamw *a = args;
    double lr = ref_get(&a->step, 0, 0);
    double c1 = ref_get(&a->step, 0, 1), c2 = ref_get(&a->step, 0, 2);
    (void)handle;
    (void)err;
    if (ref_get(&a->finite, 0, 0) == 0.0)
        return M2_OK;
    for (int64_t j = 0; j < a->p.cols; j++) {
        double g = ref_get(&a->g, 0, j), p = ref_get(&a->p, 0, j);
        double m = ref_get(&a->m, 0, j), v = ref_get(&a->v, 0, j);
        p *= 1.0 - lr * a->weight_decay;
        m = a->beta1 * m + (1.0 - a->beta1) * g;
        v = a->beta2 * v + (1.0 - a->beta2) * g * g;
        p -= lr / c1 * m / (sqrt(v) / sqrt(c2) + a->eps);
        ref_set(&a->p, 0, j, p);
        ref_set(&a->m, 0, j, m);
        ref_set(&a->v, 0, j, v);
    }
    return M2_OK;
}

/* A NaN stays: it must reach the check for divergence. */
int ref_spectral(void *handle, void *args, struct m2_error *err)
{
    const struct m2_spectral *a = args;
    int discrete = a->mode == M2_SPECTRAL_DISCRETE;
    double least = discrete ? log(-log(a->rho) / a->dt_ref) : 0.0;
    double top = -INFINITY;
    (void)handle;
    (void)err;
    if (ref_present(&a->finite) && ref_get(&a->finite, 0, 0) == 0.0)
        return M2_OK;
    for (int64_t h = 0; h < a->a_log.cols; h++)
        if (ref_get(&a->a_log, 0, h) > top)
            top = ref_get(&a->a_log, 0, h);
    double excess = top - log(a->rho);
    for (int64_t h = 0; h < a->a_log.cols; h++) {
        double value = ref_get(&a->a_log, 0, h);
        if (discrete)
            value = value < least ? least : value;
        else if (excess > 0.0)
            value -= excess;
        ref_set(&a->a_log, 0, h, value);
    }
    return M2_OK;
}
