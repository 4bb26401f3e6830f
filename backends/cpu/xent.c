/* xent.c: softmax cross entropy over rows of logits. */
#include "backends/cpu/vector_math.h"

enum { ROW_TILE = 16 };

struct xent_job {
    struct job job;
    const struct m2_xent *op;
    double scale;
    double *partial; /* (tiles, 2): loss, rows predicted right */
};

/* Checks the labels and counts those that are not ignored. */
static int count_labels(const struct m2_xent *op, double *count,
                        struct m2_error *err)
{
    const int32_t *labels = view_i32(&op->labels);

    *count = 0;
    for (int64_t t = 0; t < op->logits.rows; t++) {
        if (labels[t] == op->ignore)
            continue;
        if (labels[t] < 0 || labels[t] >= op->logits.cols)
            return m2_fail(err, M2_E_ARGUMENT,
                           "xent: labels[%lld] is %d, outside [0, %lld)",
                           (long long)t, (int)labels[t],
                           (long long)op->logits.cols);
        *count += 1;
    }
    return M2_OK;
}

static int64_t arg_max(const real *x, int64_t n)
{
    int64_t best = 0;

    for (int64_t i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}

/* Sum of exp(x - top), in lanes. */
static double exp_sum(const real *x, int64_t n, real top)
{
    double lane[LANES] = {0};
    double sum = 0;

    for (int64_t i = 0; i < n; i += LANES) {
        int64_t width = min_i64(LANES, n - i);

#pragma omp simd
        for (int64_t l = 0; l < width; l++)
            lane[l] += (double)exp_real(x[i + l] - top);
    }
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static void xent_row(const struct xent_job *job, int64_t t, double *sums)
{
    const struct m2_xent *op = job->op;
    const real *x = view_real(&op->logits) + t * op->logits.ld;
    int64_t width = op->logits.cols;
    int32_t label = view_i32(&op->labels)[t];
    int64_t best = arg_max(x, width);
    double sum = exp_sum(x, width, x[best]);
    real *dx = view_real(&op->dlogits);
    real factor = (real)(job->scale / sum);

    if (label != op->ignore) {
        sums[0] += log(sum) + ((double)x[best] - (double)x[label]);
        sums[1] += best == label;
    }
    if (dx == NULL)
        return;
    dx += t * op->dlogits.ld;
    if (label == op->ignore) {
        memset(dx, 0, (size_t)width * sizeof *dx);
        return;
    }
#pragma omp simd
    for (int64_t j = 0; j < width; j++)
        dx[j] = factor * exp_real(x[j] - x[best]);
    /* exp(...) / sum - 1 without the rounding of factor at the label */
    dx[label] =
        (real)(job->scale * ((double)exp_real(x[label] - x[best]) / sum - 1.0));
}

static void xent_tile(const struct job *base, int64_t task, char *scratch)
{
    const struct xent_job *job = (const struct xent_job *)(const void *)base;
    int64_t end = min_i64((task + 1) * ROW_TILE, job->op->logits.rows);
    double *sums = job->partial + 2 * task;

    (void)scratch;
    sums[0] = 0;
    sums[1] = 0;
    for (int64_t t = task * ROW_TILE; t < end; t++)
        xent_row(job, t, sums);
}

size_t WORKSPACE(xent)(const struct handle *h, const void *args)
{
    const struct m2_xent *op = args;

    (void)h;
    return scratch_size(2 * ceil_div(op->logits.rows, ROW_TILE),
                        sizeof(double));
}

int OP(xent)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_xent *op = args;
    double count, *out = view_f64(&op->out);
    int code = count_labels(op, &count, err);
    struct xent_job x = {.op = op,
                         .scale = op->scale,
                         .partial = (double *)(void *)h->scratch,
                         .job = {.tasks = ceil_div(op->logits.rows, ROW_TILE),
                                 .work = 10.0 * (double)op->logits.rows *
                                         (double)op->logits.cols,
                                 .run = xent_tile}};

    if (code != M2_OK)
        return code;
    if (op->scale == 0)
        x.scale = count > 0 ? 1.0 / count : 0;
    parallel_run(h, &x.job);
    out[0] = 0;
    out[1] = count;
    out[2] = 0;
    for (int64_t i = 0; i < x.job.tasks; i++) {
        out[0] += x.partial[2 * i];
        out[2] += x.partial[2 * i + 1];
    }
    return M2_OK;
}
