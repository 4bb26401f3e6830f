/* linear.c: y = x W^T + b + residual, and its gradients. */
#include "backends/cpu/columns.h"
#include "backends/cpu/gemm.h"

size_t WORKSPACE(linear)(const struct handle *h, const void *args)
{
    const struct m2_linear *op = args;

    return gemm_scratch(h, op->w.rows, op->w.cols);
}

int OP(linear)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_linear *op = args;
    struct gemm g = {.m = op->x.rows,
                     .n = op->w.rows,
                     .k = op->w.cols,
                     .a = view_real(&op->x),
                     .a_row = op->x.ld,
                     .a_k = 1,
                     .b = view_real(&op->w),
                     .b_k = 1,
                     .b_col = op->w.ld,
                     .c = view_real(&op->y),
                     .ldc = op->y.ld,
                     .bias = view_real(&op->b),
                     .residual = view_real(&op->residual),
                     .residual_ld = op->residual.ld};

    (void)err;
    gemm_run(h, &g, h->scratch);
    return M2_OK;
}

/* dx = dy W */
static struct gemm input_gradient(const struct m2_linear_backward *op)
{
    return (struct gemm){.m = op->dy.rows,
                         .n = op->w.cols,
                         .k = op->dy.cols,
                         .a = view_real(&op->dy),
                         .a_row = op->dy.ld,
                         .a_k = 1,
                         .b = view_real(&op->w),
                         .b_k = op->w.ld,
                         .b_col = 1,
                         .c = view_real(&op->dx),
                         .ldc = op->dx.ld,
                         .accumulate = op->accumulate};
}

/* dw += dy^T x */
static struct gemm weight_gradient(const struct m2_linear_backward *op)
{
    return (struct gemm){.m = op->dy.cols,
                         .n = op->x.cols,
                         .k = op->dy.rows,
                         .a = view_real(&op->dy),
                         .a_row = 1,
                         .a_k = op->dy.ld,
                         .b = view_real(&op->x),
                         .b_k = op->x.ld,
                         .b_col = 1,
                         .c = view_real(&op->dw),
                         .ldc = op->dw.ld,
                         .accumulate = 1};
}

struct bias_job {
    struct job job;
    const struct m2_linear_backward *op;
    real *partial; /* (tiles, O) */
};

static void bias_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct bias_job *bias = (const struct bias_job *)(const void *)job;
    const struct m2_view *dy = &bias->op->dy;
    real *sum = bias->partial + task * dy->cols;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, dy->rows);

    (void)scratch;
    memset(sum, 0, (size_t)dy->cols * sizeof *sum);
    for (int64_t t = task * COLUMN_TILE; t < end; t++) {
        const real *row = view_real(dy) + t * dy->ld;

#pragma omp simd
        for (int64_t j = 0; j < dy->cols; j++)
            sum[j] += row[j];
    }
}

static void bias_gradient(struct handle *h, const struct m2_linear_backward *op)
{
    int64_t tiles = ceil_div(op->dy.rows, COLUMN_TILE);
    struct bias_job bias = {
        .op = op,
        .partial = (real *)(void *)h->scratch,
        .job = {.tasks = tiles,
                .work = (double)op->dy.rows * (double)op->dy.cols,
                .run = bias_tile}};

    parallel_run(h, &bias.job);
    columns_add(bias.partial, tiles, op->dy.cols, view_real(&op->db),
                op->dy.cols);
}

size_t WORKSPACE(linear_backward)(const struct handle *h, const void *args)
{
    const struct m2_linear_backward *op = args;
    int64_t tiles = ceil_div(op->dy.rows, COLUMN_TILE);
    size_t dx = gemm_scratch(h, op->w.cols, op->dy.cols);
    size_t dw = gemm_scratch(h, op->x.cols, op->dy.rows);
    size_t db = scratch_size(tiles * op->dy.cols, sizeof(real));

    dx = dx > dw ? dx : dw;
    return dx > db ? dx : db;
}

int OP(linear_backward)(struct handle *h, const void *args,
                        struct m2_error *err)
{
    const struct m2_linear_backward *op = args;

    (void)err;
    if (op->dx.buffer != NULL) {
        struct gemm g = input_gradient(op);

        gemm_run(h, &g, h->scratch);
    }
    if (op->dw.buffer != NULL) {
        struct gemm g = weight_gradient(op);

        gemm_run(h, &g, h->scratch);
    }
    if (op->db.buffer != NULL)
        bias_gradient(h, op);
    return M2_OK;
}
