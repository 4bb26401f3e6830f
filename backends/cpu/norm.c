/* norm.c: RMSNorm, plain and gated, forward and backward. */
#include "backends/cpu/columns.h"
#include "backends/cpu/vector_math.h"

struct norm_job {
    struct job job;
    const void *args;
    real *partial; /* (tiles, I): dw of each tile of rows */
};

#define NORM(job) ((const struct norm_job *)(const void *)(job))

/* u = x silu(z) */
static void gate(const real *x, const real *z, real *u, int64_t width)
{
#pragma omp simd
    for (int64_t j = 0; j < width; j++)
        u[j] = x[j] * silu_real(z[j]);
}

static void rmsnorm_row(const struct m2_rmsnorm *op, int64_t t)
{
    int64_t width = op->x.cols / op->groups;

    for (int64_t g = 0; g < op->groups; g++) {
        int64_t first = g * width;
        const real *u = view_real(&op->x) + t * op->x.ld + first;
        const real *w = view_real(&op->w) + first;
        real *y = view_real(&op->y) + t * op->y.ld + first;
        real rs;

        if (op->z.buffer != NULL) {
            gate(u, view_real(&op->z) + t * op->z.ld + first, y, width);
            u = y;
        }
        rs = (real)(1.0 / sqrt((double)dot_real(u, u, width) / (double)width +
                               op->eps));
        view_real(&op->rs)[t * op->rs.ld + g] = rs;
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            y[j] = u[j] * rs * w[j];
    }
}

static void rmsnorm_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_rmsnorm *op = NORM(job)->args;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->x.rows);

    (void)scratch;
    for (int64_t t = task * COLUMN_TILE; t < end; t++)
        rmsnorm_row(op, t);
}

int OP(rmsnorm)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_rmsnorm *op = args;
    double cost = op->z.buffer != NULL ? 10 : 2;
    struct norm_job n = {
        .args = op,
        .job = {.tasks = ceil_div(op->x.rows, COLUMN_TILE),
                .work = cost * (double)op->x.rows * (double)op->x.cols,
                .run = rmsnorm_tile}};

    (void)err;
    parallel_run(h, &n.job);
    return M2_OK;
}

/* One slice of one row in the backward pass; the arrays are scratch. */
struct slice {
    int64_t width;
    real *uh, *g; /* u rs, dy w */
    real *open;   /* silu(z) */
    real *slope;  /* silu'(z) */
};

static void slice_read(const struct slice *s, const real *dy, const real *x,
                       const real *z, const real *w, real rs, real *dw)
{
    if (z != NULL) {
#pragma omp simd
        for (int64_t j = 0; j < s->width; j++) {
            real open = sigmoid_real(z[j]);

            s->slope[j] = open * fma_real(z[j], R(1.0) - open, R(1.0));
            s->open[j] = z[j] * open;
            s->uh[j] = x[j] * s->open[j] * rs;
        }
    } else {
#pragma omp simd
        for (int64_t j = 0; j < s->width; j++)
            s->uh[j] = x[j] * rs;
    }
#pragma omp simd
    for (int64_t j = 0; j < s->width; j++) {
        s->g[j] = dy[j] * w[j];
        dw[j] = fma_real(dy[j], s->uh[j], dw[j]);
    }
}

/* du = rs (g - uh mean), handed on to x and z. */
static void slice_write(const struct slice *s, const real *x, real rs, real *dx,
                        real *dz, int accumulate)
{
    real mean = dot_real(s->g, s->uh, s->width) / (real)s->width;

#pragma omp simd
    for (int64_t j = 0; j < s->width; j++)
        s->g[j] = rs * fma_real(-s->uh[j], mean, s->g[j]);
    if (dz != NULL) {
#pragma omp simd
        for (int64_t j = 0; j < s->width; j++) {
            dz[j] = s->g[j] * x[j] * s->slope[j];
            s->g[j] *= s->open[j];
        }
    }
    if (accumulate) {
#pragma omp simd
        for (int64_t j = 0; j < s->width; j++)
            dx[j] += s->g[j];
    } else {
        memcpy(dx, s->g, (size_t)s->width * sizeof *dx);
    }
}

static void rmsnorm_backward_row(const struct m2_rmsnorm_backward *op,
                                 int64_t t, const struct slice *s, real *dw)
{
    for (int64_t group = 0; group < op->groups; group++) {
        int64_t first = group * s->width;
        const real *x = view_real(&op->x) + t * op->x.ld + first;
        const real *dy = view_real(&op->dy) + t * op->dy.ld + first;
        const real *z = NULL;
        real *dz = NULL;
        real rs = view_real(&op->rs)[t * op->rs.ld + group];

        if (op->z.buffer != NULL) {
            z = view_real(&op->z) + t * op->z.ld + first;
            dz = view_real(&op->dz) + t * op->dz.ld + first;
        }
        slice_read(s, dy, x, z, view_real(&op->w) + first, rs, dw + first);
        slice_write(s, x, rs, view_real(&op->dx) + t * op->dx.ld + first, dz,
                    op->accumulate);
    }
}

static void rmsnorm_backward_tile(const struct job *job, int64_t task,
                                  char *scratch)
{
    const struct m2_rmsnorm_backward *op = NORM(job)->args;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->x.rows);
    real *dw = NORM(job)->partial + task * op->x.cols;
    struct slice s = {.width = op->x.cols / op->groups};

    s.uh = scratch_real(&scratch, s.width);
    s.g = scratch_real(&scratch, s.width);
    s.open = scratch_real(&scratch, s.width);
    s.slope = scratch_real(&scratch, s.width);
    memset(dw, 0, (size_t)op->x.cols * sizeof *dw);
    for (int64_t t = task * COLUMN_TILE; t < end; t++)
        rmsnorm_backward_row(op, t, &s, dw);
}

static size_t partial_bytes(const struct m2_view *x)
{
    return scratch_size(ceil_div(x->rows, COLUMN_TILE) * x->cols, sizeof(real));
}

size_t WORKSPACE(rmsnorm_backward)(const struct handle *h, const void *args)
{
    const struct m2_rmsnorm_backward *op = args;
    size_t each = 4 * scratch_size(op->x.cols / op->groups, sizeof(real));

    return partial_bytes(&op->x) + (size_t)h->threads * each;
}

int OP(rmsnorm_backward)(struct handle *h, const void *args,
                         struct m2_error *err)
{
    const struct m2_rmsnorm_backward *op = args;
    int64_t tiles = ceil_div(op->x.rows, COLUMN_TILE);
    double cost = op->z.buffer != NULL ? 20 : 6;
    struct norm_job n = {
        .args = op,
        .partial = (real *)(void *)h->scratch,
        .job = {.tasks = tiles,
                .work = cost * (double)op->x.rows * (double)op->x.cols,
                .run = rmsnorm_backward_tile,
                .scratch = h->scratch + partial_bytes(&op->x),
                .scratch_each =
                    4 * scratch_size(op->x.cols / op->groups, sizeof(real))}};

    (void)err;
    parallel_run(h, &n.job);
    columns_add(n.partial, tiles, op->x.cols, view_real(&op->dw), op->x.cols);
    return M2_OK;
}
