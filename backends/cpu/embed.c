/* embed.c: rows of a table by index, and the gradient of the table. */
#include "backends/cpu/real.h"

enum { ROW_TILE = 64, COLUMN_BLOCK = 64 };

struct embed_job {
    struct job job;
    const void *args;
};

/* Contents of a buffer cannot be checked before the call. */
static int check_ids(const char *op, const struct m2_view *ids, int64_t limit,
                     struct m2_error *err)
{
    const int32_t *id = view_i32(ids);

    for (int64_t t = 0; t < ids->cols; t++)
        if (id[t] < 0 || id[t] >= limit)
            return m2_fail(err, M2_E_ARGUMENT,
                           "%s: ids[%lld] is %d, expected 0 to %lld", op,
                           (long long)t, (int)id[t], (long long)limit - 1);
    return M2_OK;
}

static void embed_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_embed *op =
        ((const struct embed_job *)(const void *)job)->args;
    const int32_t *ids = view_i32(&op->ids);
    int64_t end = min_i64((task + 1) * ROW_TILE, op->y.rows);

    (void)scratch;
    for (int64_t t = task * ROW_TILE; t < end; t++)
        memcpy(view_real(&op->y) + t * op->y.ld,
               view_real(&op->w) + ids[t] * op->w.ld,
               (size_t)op->y.cols * sizeof(real));
}

int OP(embed)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_embed *op = args;
    struct embed_job e = {
        .args = op,
        .job = {.tasks = ceil_div(op->y.rows, ROW_TILE),
                .work = (double)op->y.rows * (double)op->y.cols,
                .run = embed_tile}};
    int code = check_ids("embed", &op->ids, op->w.rows, err);

    if (code == M2_OK)
        parallel_run(h, &e.job);
    return code;
}

/* Repeated ids accumulate in the order of t, so a task owns columns. */
static void embed_backward_block(const struct job *job, int64_t task,
                                 char *scratch)
{
    const struct m2_embed_backward *op =
        ((const struct embed_job *)(const void *)job)->args;
    const int32_t *ids = view_i32(&op->ids);
    int64_t first = task * COLUMN_BLOCK;
    int64_t width = min_i64(COLUMN_BLOCK, op->dy.cols - first);

    (void)scratch;
    for (int64_t t = 0; t < op->dy.rows; t++) {
        const real *dy = view_real(&op->dy) + t * op->dy.ld + first;
        real *dw = view_real(&op->dw) + ids[t] * op->dw.ld + first;

#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            dw[j] += dy[j];
    }
}

int OP(embed_backward)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_embed_backward *op = args;
    struct embed_job e = {
        .args = op,
        .job = {.tasks = ceil_div(op->dy.cols, COLUMN_BLOCK),
                .work = (double)op->dy.rows * (double)op->dy.cols,
                .run = embed_backward_block}};
    int code = check_ids("embed_backward", &op->ids, op->dw.rows, err);

    if (code == M2_OK)
        parallel_run(h, &e.job);
    return code;
}
