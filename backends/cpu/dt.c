/* dt.c: the step sizes of the scan: bias, softplus, clamp.  Few elements, so
 * both real types compute in f64. */
#include "backends/cpu/columns.h"
#include "backends/cpu/vector_math.h"

struct dt_job {
    struct job job;
    const void *args;
    double *partial; /* (tiles, H): dbias of each tile of rows */
};

#define DT(job) ((const struct dt_job *)(const void *)(job))

static void dt_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_dt *op = DT(job)->args;
    const real *bias = view_real(&op->bias);
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->dt.rows);

    (void)scratch;
    for (int64_t t = task * COLUMN_TILE; t < end; t++) {
        const real *raw = view_real(&op->raw) + t * op->raw.ld;
        real *dt = view_real(&op->dt) + t * op->dt.ld;

#pragma omp simd
        for (int64_t j = 0; j < op->dt.cols; j++) {
            double step = softplus_f64((double)raw[j] + (double)bias[j]);

            step = step < op->low ? op->low : step;
            step = step > op->high ? op->high : step;
            dt[j] = (real)step;
        }
    }
}

int OP(dt)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_dt *op = args;
    struct dt_job d = {
        .args = op,
        .job = {.tasks = ceil_div(op->dt.rows, COLUMN_TILE),
                .work = 20.0 * (double)op->dt.rows * (double)op->dt.cols,
                .run = dt_tile}};

    (void)err;
    parallel_run(h, &d.job);
    return M2_OK;
}

static void dt_backward_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_dt_backward *op = DT(job)->args;
    const real *bias = view_real(&op->bias);
    int64_t heads = op->draw.cols;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->draw.rows);
    double *sum = DT(job)->partial + task * heads;

    (void)scratch;
    memset(sum, 0, (size_t)heads * sizeof *sum);
    for (int64_t t = task * COLUMN_TILE; t < end; t++) {
        const real *raw = view_real(&op->raw) + t * op->raw.ld;
        const real *ddt = view_real(&op->ddt) + t * op->ddt.ld;
        real *draw = view_real(&op->draw) + t * op->draw.ld;

#pragma omp simd
        for (int64_t j = 0; j < heads; j++) {
            double v = (double)raw[j] + (double)bias[j];
            double step = softplus_f64(v);
            double slope = sigmoid_f64(v);
            double d = (double)ddt[j] * (v > 20.0 ? 1.0 : slope);

            d = step < op->low ? 0.0 : d;
            d = step > op->high ? 0.0 : d;
            draw[j] = (real)d;
            sum[j] += d;
        }
    }
}

size_t WORKSPACE(dt_backward)(const struct handle *h, const void *args)
{
    const struct m2_dt_backward *op = args;

    (void)h;
    return scratch_size(ceil_div(op->draw.rows, COLUMN_TILE) * op->draw.cols,
                        sizeof(double));
}

int OP(dt_backward)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_dt_backward *op = args;
    int64_t tiles = ceil_div(op->draw.rows, COLUMN_TILE);
    real *dbias = view_real(&op->dbias);
    struct dt_job d = {
        .args = op,
        .partial = (double *)(void *)h->scratch,
        .job = {.tasks = tiles,
                .work = 40.0 * (double)op->draw.rows * (double)op->draw.cols,
                .run = dt_backward_tile}};

    (void)err;
    parallel_run(h, &d.job);
    for (int64_t j = 0; j < op->draw.cols; j++) {
        double sum = 0;

        for (int64_t i = 0; i < tiles; i++)
            sum += d.partial[i * op->draw.cols + j];
        dbias[j] += (real)sum;
    }
    return M2_OK;
}
