/* mean_time.c: the mean over time of each sequence, and its gradient. */
#include "backends/cpu/real.h"

struct mean_job {
    struct job job;
    const void *args;
};

static void mean_sequence(const struct job *job, int64_t b, char *scratch)
{
    const struct m2_mean_time *op =
        ((const struct mean_job *)(const void *)job)->args;
    const real *x = view_real(&op->x) + b * op->L * op->x.ld;
    real *y = view_real(&op->y) + b * op->y.ld;
    double *sum = (double *)(void *)scratch;

    memset(sum, 0, (size_t)op->x.cols * sizeof *sum);
    for (int64_t t = 0; t < op->L; t++) {
        const real *row = x + t * op->x.ld;

#pragma omp simd
        for (int64_t j = 0; j < op->x.cols; j++)
            sum[j] += (double)row[j];
    }
#pragma omp simd
    for (int64_t j = 0; j < op->x.cols; j++)
        y[j] = (real)(sum[j] / (double)op->L);
}

size_t WORKSPACE(mean_time)(const struct handle *h, const void *args)
{
    const struct m2_mean_time *op = args;

    return (size_t)h->threads * scratch_size(op->x.cols, sizeof(double));
}

int OP(mean_time)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_mean_time *op = args;
    struct mean_job m = {
        .args = op,
        .job = {.tasks = op->B,
                .work = (double)op->x.rows * (double)op->x.cols,
                .run = mean_sequence,
                .scratch = h->scratch,
                .scratch_each = scratch_size(op->x.cols, sizeof(double))}};

    (void)err;
    parallel_run(h, &m.job);
    return M2_OK;
}

static void spread_sequence(const struct job *job, int64_t b, char *scratch)
{
    const struct m2_mean_time_backward *op =
        ((const struct mean_job *)(const void *)job)->args;
    const real *dy = view_real(&op->dy) + b * op->dy.ld;
    real share = R(1.0) / (real)op->L;

    (void)scratch;
    for (int64_t t = 0; t < op->L; t++) {
        real *dx = view_real(&op->dx) + (b * op->L + t) * op->dx.ld;

        if (op->accumulate) {
#pragma omp simd
            for (int64_t j = 0; j < op->dx.cols; j++)
                dx[j] = fma_real(dy[j], share, dx[j]);
        } else {
#pragma omp simd
            for (int64_t j = 0; j < op->dx.cols; j++)
                dx[j] = dy[j] * share;
        }
    }
}

int OP(mean_time_backward)(struct handle *h, const void *args,
                           struct m2_error *err)
{
    const struct m2_mean_time_backward *op = args;
    struct mean_job m = {
        .args = op,
        .job = {.tasks = op->B,
                .work = (double)op->dx.rows * (double)op->dx.cols,
                .run = spread_sequence}};

    (void)err;
    parallel_run(h, &m.job);
    return M2_OK;
}
