/* Linear layers and the embedding. */
#include <string.h>

#include "backends/ref/internal.h"

static void clear(double *values, int64_t count)
{
    memset(values, 0, (size_t)count * sizeof *values);
}

int ref_linear(void *handle, void *args, struct m2_error *err)
{
    const struct m2_linear *a = args;
    double *x;
    int code = ref_scratch(handle, M2_OP_linear, args, &x, err);
    if (code)
        return code;
    for (int64_t t = 0; t < a->y.rows; t++) {
        ref_load(&a->x, t, 0, a->x.cols, x);
        for (int64_t o = 0; o < a->y.cols; o++) {
            double y = ref_dot(x, &a->w, o);
            if (ref_present(&a->b))
                y += ref_get(&a->b, 0, o);
            if (ref_present(&a->residual))
                y += ref_get(&a->residual, t, o);
            ref_set(&a->y, t, o, y);
        }
    }
    return M2_OK;
}

int ref_linear_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_linear_backward *a = args;
    int64_t rows = a->dy.rows, outputs = a->dy.cols;
    double *sum;
    int code = ref_scratch(handle, M2_OP_linear_backward, args, &sum, err);
    if (code)
        return code;
    for (int64_t t = 0; ref_present(&a->dx) && t < rows; t++) {
        clear(sum, a->dx.cols);
        for (int64_t o = 0; o < outputs; o++)
            ref_axpy(sum, ref_get(&a->dy, t, o), &a->w, o);
        ref_store_or_add(&a->dx, t, a->accumulate, sum);
    }
    for (int64_t o = 0; ref_present(&a->dw) && o < outputs; o++) {
        clear(sum, a->dw.cols);
        for (int64_t t = 0; t < rows; t++)
            ref_axpy(sum, ref_get(&a->dy, t, o), &a->x, t);
        ref_store_or_add(&a->dw, o, 1, sum);
    }
    if (ref_present(&a->db)) {
        clear(sum, outputs);
        for (int64_t t = 0; t < rows; t++)
            ref_axpy(sum, 1.0, &a->dy, t);
        ref_store_or_add(&a->db, 0, 1, sum);
    }
    return M2_OK;
}

static int check_ids(const char *op, const struct m2_view *ids, int64_t rows,
                     struct m2_error *err)
{
    for (int64_t t = 0; t < ids->cols; t++) {
        int32_t id = ref_get_int(ids, t);
        if (id < 0 || id >= rows)
            return m2_fail(err, M2_E_ARGUMENT,
                           "%s: ids[%lld] is %d, outside [0, %lld)", op,
                           (long long)t, (int)id, (long long)rows);
    }
    return M2_OK;
}

int ref_embed(void *handle, void *args, struct m2_error *err)
{
    const struct m2_embed *a = args;
    (void)handle;
    int code = check_ids("embed", &a->ids, a->w.rows, err);
    if (code)
        return code;
    for (int64_t t = 0; t < a->y.rows; t++)
        for (int64_t j = 0; j < a->y.cols; j++)
            ref_set(&a->y, t, j, ref_get(&a->w, ref_get_int(&a->ids, t), j));
    return M2_OK;
}

int ref_embed_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_embed_backward *a = args;
    double *sum;
    int code = ref_scratch(handle, M2_OP_embed_backward, args, &sum, err);
    if (code == M2_OK)
        code = check_ids("embed_backward", &a->ids, a->dw.rows, err);
    if (code)
        return code;
    /* One vocabulary row at a time, so that its sum stays in f64. */
    for (int64_t v = 0; v < a->dw.rows; v++) {
        clear(sum, a->dw.cols);
        for (int64_t t = 0; t < a->ids.cols; t++)
            if (ref_get_int(&a->ids, t) == v)
                ref_axpy(sum, 1.0, &a->dy, t);
        ref_store_or_add(&a->dw, v, 1, sum);
    }
    return M2_OK;
}
