/* Causal depthwise convolution with SiLU: specification 4.5. */
#include <string.h>

#include "backends/ref/internal.h"

/* What the filter slides over: the raw inputs of one sequence, and before
 * them the K of the incoming state (zeros without one). */
struct history {
    const struct m2_view *x, *state;
    int64_t b, L, K;
};

/* x_ext[b, t, c], t >= -K. */
static double history_at(const struct history *past, int64_t t, int64_t c)
{
    if (t >= 0)
        return ref_get(past->x, past->b * past->L + t, c);
    if (!ref_present(past->state))
        return 0.0;
    return ref_get(past->state, past->b, c * past->K + past->K + t);
}

/* The value that SiLU is applied to. */
static double pre_activation(const struct history *past,
                             const struct m2_view *w, const struct m2_view *b,
                             int64_t t, int64_t c)
{
    double sum = ref_present(b) ? ref_get(b, 0, c) : 0.0;
    for (int64_t k = 0; k < past->K; k++)
        sum += ref_get(w, c, k) * history_at(past, t - (past->K - 1) + k, c);
    return sum;
}

int ref_conv1d_silu(void *handle, void *args, struct m2_error *err)
{
    const struct m2_conv1d_silu *a = args;
    (void)handle;
    (void)err;
    for (int64_t b = 0; b < a->B; b++) {
        const struct history past = {&a->x, &a->state, b, a->L, a->K};
        for (int64_t t = 0; t < a->L; t++)
            for (int64_t c = 0; c < a->x.cols; c++) {
                double pre = pre_activation(&past, &a->w, &a->b, t, c);
                ref_set(&a->y, b * a->L + t, c, ref_silu_value(pre));
            }
        if (!ref_present(&a->state_out))
            continue;
        /* Ascending: state_out may be state, and reads run ahead. */
        for (int64_t c = 0; c < a->x.cols; c++)
            for (int64_t k = 0; k < a->K; k++)
                ref_set(&a->state_out, b, c * a->K + k,
                        history_at(&past, a->L - a->K + k, c));
    }
    return M2_OK;
}

/* Gradient of x_ext[b, s, c]: from every output it reached, and from the
 * outgoing state when it is among its K entries. */
static double history_gradient(const struct m2_conv1d_silu_backward *a,
                               const struct history *past, const double *dpre,
                               int64_t s, int64_t c)
{
    double sum = 0.0;
    int64_t entry = s - (a->L - a->K);
    for (int64_t k = 0; k < a->K; k++) {
        int64_t t = s + a->K - 1 - k;
        if (t >= 0 && t < a->L)
            sum += ref_get(&a->w, c, k) * dpre[t];
    }
    if (ref_present(&a->dstate_out) && entry >= 0)
        sum += ref_get(&a->dstate_out, past->b, c * a->K + entry);
    return sum;
}

/* One channel of one sequence; dw (K) is added to; returns the sum of dpre. */
static double channel_backward(const struct m2_conv1d_silu_backward *a,
                               const struct history *past, int64_t c,
                               double *dpre, double *dw)
{
    int64_t first = past->b * a->L;
    double db = 0.0;
    for (int64_t t = 0; t < a->L; t++) {
        double pre = pre_activation(past, &a->w, &a->b, t, c);
        dpre[t] = ref_get(&a->dy, first + t, c) * ref_silu_slope(pre);
        db += dpre[t];
        for (int64_t k = 0; k < a->K; k++)
            dw[k] += dpre[t] * history_at(past, t - (a->K - 1) + k, c);
    }
    for (int64_t s = 0; s < a->L; s++)
        ref_set(&a->dx, first + s, c, history_gradient(a, past, dpre, s, c));
    for (int64_t j = 0; ref_present(&a->dstate) && j < a->K; j++)
        ref_set(&a->dstate, past->b, c * a->K + j,
                history_gradient(a, past, dpre, j - a->K, c));
    return db;
}

int ref_conv1d_silu_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_conv1d_silu_backward *a = args;
    double *dpre;
    int code =
        ref_scratch(handle, M2_OP_conv1d_silu_backward, args, &dpre, err);
    if (code)
        return code;
    double *dw = dpre + a->L;
    for (int64_t c = 0; c < a->x.cols; c++) {
        double db = 0.0;
        memset(dw, 0, (size_t)a->K * sizeof *dw);
        for (int64_t b = 0; b < a->B; b++) {
            const struct history past = {&a->x, &a->state, b, a->L, a->K};
            db += channel_backward(a, &past, c, dpre, dw);
        }
        ref_store_or_add(&a->dw, c, 1, dw);
        if (ref_present(&a->db))
            ref_set(&a->db, 0, c, ref_get(&a->db, 0, c) + db);
    }
    return M2_OK;
}

int ref_conv1d_step(void *handle, void *args, struct m2_error *err)
{
    const struct m2_conv1d_step *a = args;
    (void)handle;
    (void)err;
    for (int64_t b = 0; b < a->x.rows; b++)
        for (int64_t c = 0; c < a->x.cols; c++) {
            double pre = ref_present(&a->b) ? ref_get(&a->b, 0, c) : 0.0;
            for (int64_t k = 0; k < a->K; k++) {
                int64_t at = c * a->K + k;
                double value = k + 1 < a->K ? ref_get(&a->state, b, at + 1)
                                            : ref_get(&a->x, b, c);
                ref_set(&a->state, b, at, value);
                pre += ref_get(&a->w, c, k) * value;
            }
            ref_set(&a->y, b, c, ref_silu_value(pre));
        }
    return M2_OK;
}
