/* norm.c: RMSNorm, plain and gated, forward and backward. */
#include "backends/cpu/columns.h"
#include "backends/cpu/vector_math.h"

struct norm_job {
    struct job job;
    const void *args;
    real *partial; /* (tiles, I): dw of each tile of rows */
};

#define NORM(job) ((const struct norm_job *)(const void *)(job))

/* Elements that are worked on between two looks ahead: rows of a view with a
 * long ld lie on pages of their own, where the hardware does not look ahead,
 * and the sigmoid leaves it no time to catch up. */
enum { STRIP = 64, LINE = 64 / (int)sizeof(real) };

/* u = x silu(z) of row t */
static void gate(const struct m2_rmsnorm *op, int64_t t, int64_t offset,
                 int64_t width)
{
    const real *x = view_real(&op->x) + t * op->x.ld + offset;
    const real *z = view_real(&op->z) + t * op->z.ld + offset;
    real *u = view_real(&op->y) + t * op->y.ld + offset;

    for (int64_t first = 0; first < width; first += STRIP) {
        int64_t end = min_i64(first + STRIP, width);

        for (int64_t j = first; j < first + STRIP; j += LINE) {
            __builtin_prefetch(x + op->x.ld + j);
            __builtin_prefetch(z + op->z.ld + j);
            __builtin_prefetch(u + op->y.ld + j, 1);
        }
#pragma omp simd
        for (int64_t j = first; j < end; j++)
            u[j] = x[j] * silu_real(z[j]);
    }
}

static void rmsnorm_row(const struct m2_rmsnorm *op, int64_t t)
{
    int64_t width = op->x.cols / op->groups;

    for (int64_t g = 0; g < op->groups; g++) {
        int64_t first = g * width;
        const real *u = view_real(&op->x) + t * op->x.ld + first;
        const real *w = view_real(&op->w) + first;
        real *y = view_real(&op->y) + t * op->y.ld + first;
        double mean;
        real rs;

        if (op->z.buffer != NULL) {
            gate(op, t, first, width);
            u = y;
        }
        mean = (double)dot_real(u, u, width) / (double)width;
        rs = (real)(1.0 / sqrt(mean + op->eps));
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

/* One slice of one row in the backward pass. */
struct slice {
    int64_t width;
    const real *dy, *x, *z, *w; /* z may be NULL */
    real rs;
    real *dx, *dz, *dw;
    real *uh, *g;              /* scratch: u rs, dy w */
    real *open;                /* scratch: silu(z) */
    real *slope;               /* scratch: silu'(z) */
    int64_t dy_ld, x_ld, z_ld; /* to the next row */
};

/* Asks for a strip of the next row's inputs and of this row's outputs. */
ALWAYS_INLINE void strip_prefetch(const struct slice *s, int64_t first)
{
    for (int64_t j = first; j < first + STRIP; j += LINE) {
        __builtin_prefetch(s->z + s->z_ld + j);
        __builtin_prefetch(s->x + s->x_ld + j);
        __builtin_prefetch(s->dy + s->dy_ld + j);
        __builtin_prefetch(s->dx + j, 1);
        __builtin_prefetch(s->dz + j, 1);
    }
}

static void gated_read(const struct slice *s)
{
    for (int64_t first = 0; first < s->width; first += STRIP) {
        int64_t end = min_i64(first + STRIP, s->width);

        strip_prefetch(s, first);
#pragma omp simd
        for (int64_t j = first; j < end; j++) {
            real z = s->z[j], open = sigmoid_real(z);

            s->slope[j] = open * fma_real(z, R(1.0) - open, R(1.0));
            s->open[j] = z * open;
            s->uh[j] = s->x[j] * (z * open) * s->rs;
            s->g[j] = s->dy[j] * s->w[j];
            s->dw[j] = fma_real(s->dy[j], s->uh[j], s->dw[j]);
        }
    }
}

static void plain_read(const struct slice *s)
{
#pragma omp simd
    for (int64_t j = 0; j < s->width; j++) {
        s->uh[j] = s->x[j] * s->rs;
        s->g[j] = s->dy[j] * s->w[j];
        s->dw[j] = fma_real(s->dy[j], s->uh[j], s->dw[j]);
    }
}

/* du = rs (g - uh mean), handed on to x and z.  The last two arguments are
 * constants in every call. */
ALWAYS_INLINE void slice_write(const struct slice *s, real mean,
                               const bool gated, const bool accumulate)
{
#pragma omp simd
    for (int64_t j = 0; j < s->width; j++) {
        real du = s->rs * fma_real(-s->uh[j], mean, s->g[j]);

        if (gated) {
            s->dz[j] = du * s->x[j] * s->slope[j];
            du *= s->open[j];
        }
        s->dx[j] = accumulate ? s->dx[j] + du : du;
    }
}

static void slice_backward(const struct slice *s, int accumulate)
{
    real mean;

    if (s->z != NULL)
        gated_read(s);
    else
        plain_read(s);
    mean = dot_real(s->g, s->uh, s->width) / (real)s->width;
    if (s->z != NULL && accumulate)
        slice_write(s, mean, true, true);
    else if (s->z != NULL)
        slice_write(s, mean, true, false);
    else if (accumulate)
        slice_write(s, mean, false, true);
    else
        slice_write(s, mean, false, false);
}

static void rmsnorm_backward_row(const struct m2_rmsnorm_backward *op,
                                 int64_t t, struct slice *s, real *dw)
{
    for (int64_t group = 0; group < op->groups; group++) {
        int64_t first = group * s->width;

        s->x = view_real(&op->x) + t * op->x.ld + first;
        s->dy = view_real(&op->dy) + t * op->dy.ld + first;
        s->dx = view_real(&op->dx) + t * op->dx.ld + first;
        s->w = view_real(&op->w) + first;
        s->dw = dw + first;
        s->rs = view_real(&op->rs)[t * op->rs.ld + group];
        if (op->z.buffer != NULL) {
            s->z = view_real(&op->z) + t * op->z.ld + first;
            s->dz = view_real(&op->dz) + t * op->dz.ld + first;
        }
        slice_backward(s, op->accumulate);
    }
}

static void rmsnorm_backward_tile(const struct job *job, int64_t task,
                                  char *scratch)
{
    const struct m2_rmsnorm_backward *op = NORM(job)->args;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->x.rows);
    real *dw = NORM(job)->partial + task * op->x.cols;
    struct slice s = {.width = op->x.cols / op->groups,
                      .x_ld = op->x.ld,
                      .dy_ld = op->dy.ld,
                      .z_ld = op->z.ld};

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
