/* layernorm.c: LayerNorm, forward and backward. */
#include "backends/cpu/columns.h"

struct norm_job {
    struct job job;
    const void *args;
    real *partial; /* (tiles, 2 I): dw | db of each tile of rows */
};

#define NORM(job) ((const struct norm_job *)(const void *)(job))

static void layernorm_row(const struct m2_layernorm *op, int64_t t)
{
    int64_t width = op->x.cols;
    const real *x = view_real(&op->x) + t * op->x.ld;
    const real *w = view_real(&op->w), *b = view_real(&op->b);
    real *y = view_real(&op->y) + t * op->y.ld;
    real *stats = view_real(&op->stats) + t * op->stats.ld;
    real mu = sum_real(x, width) / (real)width, rs;

#pragma omp simd
    for (int64_t j = 0; j < width; j++)
        y[j] = x[j] - mu;
    rs = (real)(1.0 /
                sqrt((double)dot_real(y, y, width) / (double)width + op->eps));
    stats[0] = mu;
    stats[1] = rs;
#pragma omp simd
    for (int64_t j = 0; j < width; j++)
        y[j] = fma_real(y[j] * rs, w[j], b[j]);
}

static void layernorm_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_layernorm *op = NORM(job)->args;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->x.rows);

    (void)scratch;
    for (int64_t t = task * COLUMN_TILE; t < end; t++)
        layernorm_row(op, t);
}

int OP(layernorm)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_layernorm *op = args;
    struct norm_job n = {
        .args = op,
        .job = {.tasks = ceil_div(op->x.rows, COLUMN_TILE),
                .work = 4.0 * (double)op->x.rows * (double)op->x.cols,
                .run = layernorm_tile}};

    (void)err;
    parallel_run(h, &n.job);
    return M2_OK;
}

/* dx = rs (g - mean g - xh mean(g xh)); xh and g are scratch rows. */
static void layernorm_backward_row(const struct m2_layernorm_backward *op,
                                   int64_t t, real *xh, real *g, real *sums)
{
    int64_t width = op->x.cols;
    const real *x = view_real(&op->x) + t * op->x.ld;
    const real *dy = view_real(&op->dy) + t * op->dy.ld;
    const real *w = view_real(&op->w);
    const real *stats = view_real(&op->stats) + t * op->stats.ld;
    real mu = stats[0], rs = stats[1], mean_g, mean_gx;
    real *dx = view_real(&op->dx) + t * op->dx.ld, *db = sums + width;

#pragma omp simd
    for (int64_t j = 0; j < width; j++) {
        xh[j] = (x[j] - mu) * rs;
        g[j] = dy[j] * w[j];
        sums[j] = fma_real(dy[j], xh[j], sums[j]);
        db[j] += dy[j];
    }
    mean_g = sum_real(g, width) / (real)width;
    mean_gx = dot_real(g, xh, width) / (real)width;
#pragma omp simd
    for (int64_t j = 0; j < width; j++)
        g[j] = rs * (fma_real(-xh[j], mean_gx, g[j]) - mean_g);
    if (op->accumulate) {
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            dx[j] += g[j];
    } else {
        memcpy(dx, g, (size_t)width * sizeof *dx);
    }
}

static void layernorm_backward_tile(const struct job *job, int64_t task,
                                    char *scratch)
{
    const struct m2_layernorm_backward *op = NORM(job)->args;
    int64_t width = op->x.cols;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->x.rows);
    real *sums = NORM(job)->partial + task * 2 * width;
    real *xh = scratch_real(&scratch, width);
    real *g = scratch_real(&scratch, width);

    memset(sums, 0, 2 * (size_t)width * sizeof *sums);
    for (int64_t t = task * COLUMN_TILE; t < end; t++)
        layernorm_backward_row(op, t, xh, g, sums);
}

static size_t partial_bytes(const struct m2_view *x)
{
    return scratch_size(ceil_div(x->rows, COLUMN_TILE) * 2 * x->cols,
                        sizeof(real));
}

size_t WORKSPACE(layernorm_backward)(const struct handle *h, const void *args)
{
    const struct m2_layernorm_backward *op = args;

    return partial_bytes(&op->x) +
           (size_t)h->threads * 2 * scratch_size(op->x.cols, sizeof(real));
}

int OP(layernorm_backward)(struct handle *h, const void *args,
                           struct m2_error *err)
{
    const struct m2_layernorm_backward *op = args;
    int64_t tiles = ceil_div(op->x.rows, COLUMN_TILE), width = op->x.cols;
    struct norm_job n = {
        .args = op,
        .partial = (real *)(void *)h->scratch,
        .job = {.tasks = tiles,
                .work = 10.0 * (double)op->x.rows * (double)width,
                .run = layernorm_backward_tile,
                .scratch = h->scratch + partial_bytes(&op->x),
                .scratch_each = 2 * scratch_size(width, sizeof(real))}};

    (void)err;
    parallel_run(h, &n.job);
    columns_add(n.partial, tiles, 2 * width, view_real(&op->dw), width);
    columns_add(n.partial + width, tiles, 2 * width, view_real(&op->db), width);
    return M2_OK;
}
