/* Losses: specification 4.9. */
#include <math.h>

#include "backends/ref/internal.h"

/* Loss of one error e = pred - target; *slope is its derivative. */
typedef double (*loss_fn)(double e, double delta, double *slope);

static double mse(double e, double delta, double *slope)
{
    (void)delta;
    *slope = 2.0 * e;
    return e * e;
}

static double mae(double e, double delta, double *slope)
{
    (void)delta;
    *slope = (e > 0.0) - (e < 0.0);
    return fabs(e);
}

static double huber(double e, double delta, double *slope)
{
    *slope = e < -delta ? -delta : e > delta ? delta : e;
    if (fabs(e) <= delta)
        return 0.5 * e * e;
    return delta * (fabs(e) - 0.5 * delta);
}

static int elementwise_loss(const struct m2_loss *a, loss_fn loss)
{
    double count = (double)a->pred.rows * (double)a->pred.cols;
    double scale = a->scale == 0.0 ? 1.0 / count : a->scale;
    double sum = 0.0, right = 0.0;
    for (int64_t i = 0; i < a->pred.rows; i++)
        for (int64_t j = 0; j < a->pred.cols; j++) {
            double slope;
            double pred = ref_get(&a->pred, i, j);
            double target = ref_get(&a->target, i, j);
            sum += loss(pred - target, a->delta, &slope);
            right +=
                (pred > 0.0 && target > 0.0) || (pred < 0.0 && target < 0.0);
            if (ref_present(&a->dpred))
                ref_set(&a->dpred, i, j, scale * slope);
        }
    ref_set(&a->out, 0, 0, sum);
    ref_set(&a->out, 0, 1, count);
    ref_set(&a->out, 0, 2, right);
    return M2_OK;
}

int ref_mse(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)err;
    return elementwise_loss(args, mse);
}

int ref_mae(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)err;
    return elementwise_loss(args, mae);
}

int ref_huber(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)err;
    return elementwise_loss(args, huber);
}

/* Column of the largest logit of a row, the first of equals. */
static int64_t arg_max(const struct m2_view *logits, int64_t t)
{
    int64_t best = 0;
    for (int64_t v = 1; v < logits->cols; v++)
        if (ref_get(logits, t, v) > ref_get(logits, t, best))
            best = v;
    return best;
}

/* Checks the labels and counts those that are not ignored. */
static int count_labels(const struct m2_xent *a, double *count,
                        struct m2_error *err)
{
    *count = 0.0;
    for (int64_t t = 0; t < a->logits.rows; t++) {
        int32_t label = ref_get_int(&a->labels, t);
        if (label == a->ignore)
            continue;
        if (label < 0 || label >= a->logits.cols)
            return m2_fail(err, M2_E_ARGUMENT,
                           "xent: labels[%lld] is %d, outside [0, %lld)",
                           (long long)t, (int)label, (long long)a->logits.cols);
        *count += 1.0;
    }
    return M2_OK;
}

static void store_dlogits(const struct m2_xent *a, int64_t t, double scale,
                          double log_sum)
{
    int32_t label = ref_get_int(&a->labels, t);
    for (int64_t v = 0; v < a->logits.cols; v++) {
        double softmax = exp(ref_get(&a->logits, t, v) - log_sum);
        double gradient = scale * (softmax - (v == label));
        ref_set(&a->dlogits, t, v, label == a->ignore ? 0.0 : gradient);
    }
}

int ref_xent(void *handle, void *args, struct m2_error *err)
{
    const struct m2_xent *a = args;
    double count, sum = 0.0, right = 0.0;
    (void)handle;
    int code = count_labels(a, &count, err);
    if (code)
        return code;
    double scale = a->scale;
    if (scale == 0.0)
        scale = count > 0.0 ? 1.0 / count : 0.0;
    for (int64_t t = 0; t < a->logits.rows; t++) {
        int32_t label = ref_get_int(&a->labels, t);
        int64_t best = arg_max(&a->logits, t);
        double top = ref_get(&a->logits, t, best), total = 0.0;
        for (int64_t v = 0; v < a->logits.cols; v++)
            total += exp(ref_get(&a->logits, t, v) - top);
        double log_sum = top + log(total);
        if (label != a->ignore) {
            sum += log_sum - ref_get(&a->logits, t, label);
            right += best == label;
        }
        if (ref_present(&a->dlogits))
            store_dlogits(a, t, scale, log_sum);
    }
    ref_set(&a->out, 0, 0, sum);
    ref_set(&a->out, 0, 1, count);
    ref_set(&a->out, 0, 2, right);
    return M2_OK;
}
