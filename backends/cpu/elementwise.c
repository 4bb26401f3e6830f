/* elementwise.c: add, scale, fill, copy, the mean over time, SiLU. */
#include "backends/cpu/vector_math.h"

/* Elements are cut into tiles of about this many; the cut changes no bits. */
enum { TILE_ELEMENTS = 8192 };

/* A job over tiles of a (rows, cols) shape. */
struct sweep {
    struct job job;
    const void *args;
    int64_t rows, cols, tile_rows, tile_cols, col_tiles;
};
struct range {
    int64_t row, row_end, col, width;
};

static struct range range_of(const struct sweep *s, int64_t task)
{
    struct range r = {.row = task / s->col_tiles * s->tile_rows,
                      .col = task % s->col_tiles * s->tile_cols};

    r.row_end = min_i64(r.row + s->tile_rows, s->rows);
    r.width = min_i64(s->tile_cols, s->cols - r.col);
    return r;
}

static void sweep_run(const struct handle *h, const struct m2_view *shape,
                      const void *args, double cost,
                      void (*run)(const struct job *, int64_t, char *))
{
    struct sweep s = {.args = args, .rows = shape->rows, .cols = shape->cols};

    s.tile_cols = min_i64(s.cols, TILE_ELEMENTS);
    s.col_tiles = ceil_div(s.cols, s.tile_cols);
    s.tile_rows = max_i64(1, TILE_ELEMENTS / s.tile_cols);
    s.job = (struct job){.tasks = ceil_div(s.rows, s.tile_rows) * s.col_tiles,
                         .work = cost * (double)s.rows * (double)s.cols,
                         .run = run};
    parallel_run(h, &s.job);
}

#define SWEEP(job)              ((const struct sweep *)(const void *)(job))
#define AT(pointer, view, r, i) ((pointer) + (i) * (view).ld + (r).col)

static void add_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_add *op = SWEEP(job)->args;
    struct range r = range_of(SWEEP(job), task);

    (void)scratch;
    for (int64_t i = r.row; i < r.row_end; i++) {
        const real *a = AT(view_real(&op->a), op->a, r, i);
        const real *b = AT(view_real(&op->b), op->b, r, i);
        real *y = AT(view_real(&op->y), op->y, r, i);

#pragma omp simd
        for (int64_t j = 0; j < r.width; j++)
            y[j] = a[j] + b[j];
    }
}

int OP(add)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_add *op = args;

    (void)err;
    sweep_run(h, &op->y, op, 1, add_tile);
    return M2_OK;
}

static void scale_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_scale *op = SWEEP(job)->args;
    struct range r = range_of(SWEEP(job), task);
    real factor = (real)op->factor;

    (void)scratch;
    for (int64_t i = r.row; i < r.row_end; i++) {
        real *y = AT(view_real(&op->y), op->y, r, i);

#pragma omp simd
        for (int64_t j = 0; j < r.width; j++)
            y[j] *= factor;
    }
}

int OP(scale)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_scale *op = args;

    (void)err;
    sweep_run(h, &op->y, op, 1, scale_tile);
    return M2_OK;
}

static void fill_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_fill *op = SWEEP(job)->args;
    struct range r = range_of(SWEEP(job), task);

    (void)scratch;
    for (int64_t i = r.row; i < r.row_end; i++) {
        if (op->y.dtype == M2_F64) {
            double *y = AT(view_f64(&op->y), op->y, r, i);

            for (int64_t j = 0; j < r.width; j++)
                y[j] = op->value;
        } else {
            real *y = AT(view_real(&op->y), op->y, r, i);

            for (int64_t j = 0; j < r.width; j++)
                y[j] = (real)op->value;
        }
    }
}

int OP(fill)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_fill *op = args;

    (void)err;
    sweep_run(h, &op->y, op, 1, fill_tile);
    return M2_OK;
}

static void copy_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_copy *op = SWEEP(job)->args;
    struct range r = range_of(SWEEP(job), task);
    size_t size = m2_dtype_size(op->y.dtype);
    const char *x = op->x.buffer->data;
    char *y = op->y.buffer->data;

    (void)scratch;
    for (int64_t i = r.row; i < r.row_end; i++)
        memcpy(y + (size_t)(op->y.offset + i * op->y.ld + r.col) * size,
               x + (size_t)(op->x.offset + i * op->x.ld + r.col) * size,
               (size_t)r.width * size);
}

int OP(copy)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_copy *op = args;

    (void)err;
    sweep_run(h, &op->y, op, 1, copy_tile);
    return M2_OK;
}

static void silu_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_silu *op = SWEEP(job)->args;
    struct range r = range_of(SWEEP(job), task);

    (void)scratch;
    for (int64_t i = r.row; i < r.row_end; i++) {
        const real *x = AT(view_real(&op->x), op->x, r, i);
        real *y = AT(view_real(&op->y), op->y, r, i);

#pragma omp simd
        for (int64_t j = 0; j < r.width; j++)
            y[j] = silu_real(x[j]);
    }
}

int OP(silu)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_silu *op = args;

    (void)err;
    sweep_run(h, &op->y, op, 8, silu_tile);
    return M2_OK;
}

static void silu_backward_tile(const struct job *job, int64_t task,
                               char *scratch)
{
    const struct m2_silu_backward *op = SWEEP(job)->args;
    struct range r = range_of(SWEEP(job), task);

    (void)scratch;
    for (int64_t i = r.row; i < r.row_end; i++) {
        const real *x = AT(view_real(&op->x), op->x, r, i);
        const real *dy = AT(view_real(&op->dy), op->dy, r, i);
        real *dx = AT(view_real(&op->dx), op->dx, r, i);

        if (op->accumulate) {
#pragma omp simd
            for (int64_t j = 0; j < r.width; j++)
                dx[j] = fma_real(dy[j], silu_slope(x[j]), dx[j]);
        } else {
#pragma omp simd
            for (int64_t j = 0; j < r.width; j++)
                dx[j] = dy[j] * silu_slope(x[j]);
        }
    }
}

int OP(silu_backward)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_silu_backward *op = args;

    (void)err;
    sweep_run(h, &op->dx, op, 8, silu_backward_tile);
    return M2_OK;
}
