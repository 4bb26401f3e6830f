/* optimiser.c: sum of squares, clipping, AdamW, the spectral constraint. */
#include "backends/cpu/real.h"

/* Vectors are cut into tiles of this many elements. */
enum { TILE_ELEMENTS = 8192 };

struct vector_job {
    struct job job;
    const void *args;
    int64_t cols, col_tiles; /* a tile is part of one row */
    double *partial;         /* sumsq: one sum per tile */
    real factor;             /* clip */
};

#define VECTOR(job) ((const struct vector_job *)(const void *)(job))

/* Sets the tiles of a (rows, cols) matrix; contiguous rows are one. */
static struct vector_job vector_job(const struct m2_view *x, const void *args)
{
    struct vector_job v = {.args = args, .cols = x->cols};
    int64_t rows = x->rows;

    if (x->ld == x->cols) {
        v.cols *= rows;
        rows = 1;
    }
    v.col_tiles = ceil_div(v.cols, TILE_ELEMENTS);
    v.job.tasks = rows * v.col_tiles;
    return v;
}

struct piece {
    int64_t first, count; /* elements from the view's first one on */
};

static struct piece piece_of(const struct job *job, int64_t task, int64_t ld)
{
    const struct vector_job *v = VECTOR(job);
    int64_t col = task % v->col_tiles * TILE_ELEMENTS;

    return (struct piece){.first = task / v->col_tiles * ld + col,
                          .count = min_i64(TILE_ELEMENTS, v->cols - col)};
}

static void sumsq_tile(const struct job *job, int64_t task, char *scratch)
{
    enum { F64_LANES = 16 };
    const struct m2_sumsq *op = VECTOR(job)->args;
    struct piece p = piece_of(job, task, op->x.ld);
    const real *x = view_real(&op->x) + p.first;
    double lane[F64_LANES] = {0}, sum = 0;

    (void)scratch;
    for (int64_t i = 0; i < p.count; i += F64_LANES) {
        int64_t width = min_i64(F64_LANES, p.count - i);

        if (width == F64_LANES) {
#pragma omp simd
            for (int l = 0; l < F64_LANES; l++)
                lane[l] = fma_f64((double)x[i + l], (double)x[i + l], lane[l]);
            continue;
        }
        for (int l = 0; l < width; l++)
            lane[l] = fma_f64((double)x[i + l], (double)x[i + l], lane[l]);
    }
    for (int l = 0; l < F64_LANES; l++)
        sum += lane[l];
    VECTOR(job)->partial[task] = sum;
}

size_t WORKSPACE(sumsq)(const struct handle *h, const void *args)
{
    const struct m2_sumsq *op = args;

    (void)h;
    return scratch_size(vector_job(&op->x, op).job.tasks, sizeof(double));
}

int OP(sumsq)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_sumsq *op = args;
    struct vector_job v = vector_job(&op->x, op);
    double sum = 0, *out = view_f64(&op->out);

    (void)err;
    v.partial = (double *)(void *)h->scratch;
    v.job.work = (double)op->x.rows * (double)op->x.cols;
    v.job.run = sumsq_tile;
    parallel_run(h, &v.job);
    for (int64_t i = 0; i < v.job.tasks; i++)
        sum += v.partial[i];
    out[0] = op->accumulate ? out[0] + sum : sum;
    return M2_OK;
}

static void clip_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_clip *op = VECTOR(job)->args;
    struct piece p = piece_of(job, task, op->x.ld);
    real *x = view_real(&op->x) + p.first, factor = VECTOR(job)->factor;

    (void)scratch;
#pragma omp simd
    for (int64_t i = 0; i < p.count; i++)
        x[i] *= factor;
}

/* Absent values are finite. */
static bool all_finite(const struct m2_view *view)
{
    for (int64_t i = 0; view->buffer != NULL && i < view->rows; i++)
        for (int64_t j = 0; j < view->cols; j++)
            if (!isfinite(view_f64(view)[i * view->ld + j]))
                return false;
    return true;
}

int OP(clip)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_clip *op = args;
    double norm = sqrt(view_f64(&op->sumsq)[0]);
    double coefficient = op->max_norm / (norm + 1e-6);
    double *out = view_f64(&op->out);
    bool finite = isfinite(norm) && all_finite(&op->also);

    (void)err;
    out[0] = norm;
    out[1] = 1;
    out[2] = finite ? 1 : 0;
    if (finite && op->max_norm > 0 && coefficient < 1) {
        struct vector_job v = vector_job(&op->x, op);

        out[1] = coefficient;
        v.factor = (real)coefficient;
        v.job.work = (double)op->x.rows * (double)op->x.cols;
        v.job.run = clip_tile;
        parallel_run(h, &v.job);
    }
    return M2_OK;
}

static void adamw_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_adamw *op = VECTOR(job)->args;
    const double *step = view_f64(&op->step);
    struct piece at = piece_of(job, task, op->p.ld);
    real *p = view_real(&op->p) + at.first;
    const real *g = view_real(&op->g) + at.first;
    real *m = view_real(&op->m) + at.first, *v = view_real(&op->v) + at.first;
    real keep = (real)(1 - step[0] * op->weight_decay);
    real rate = (real)(step[0] / step[1]), eps = (real)op->eps;
    real root = (real)(1 / sqrt(step[2]));
    real b1 = (real)op->beta1, c1 = (real)(1 - op->beta1);
    real b2 = (real)op->beta2, c2 = (real)(1 - op->beta2);

    (void)scratch;
#pragma omp simd
    for (int64_t i = 0; i < at.count; i++) {
        real first = fma_real(b1, m[i], c1 * g[i]);
        real second = fma_real(b2, v[i], c2 * g[i] * g[i]);
        real down = fma_real(SQRT(second), root, eps);

        m[i] = first;
        v[i] = second;
        p[i] = fma_real(-rate, first / down, keep * p[i]);
    }
}

int OP(adamw)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_adamw *op = args;
    struct vector_job v = vector_job(&op->p, op);

    (void)err;
    if (view_f64(&op->finite)[0] == 0)
        return M2_OK;
    v.job.work = 6.0 * (double)op->p.cols;
    v.job.run = adamw_tile;
    parallel_run(h, &v.job);
    return M2_OK;
}

int OP(spectral)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_spectral *op = args;
    real *a = view_real(&op->a_log);
    double largest = -INFINITY, bound = log(op->rho);

    (void)h;
    (void)err;
    if (op->finite.buffer != NULL && view_f64(&op->finite)[0] == 0)
        return M2_OK;
    if (op->mode == M2_SPECTRAL_DISCRETE) {
        bound = log(-log(op->rho) / op->dt_ref);
        for (int64_t i = 0; i < op->a_log.cols; i++)
            if ((double)a[i] < bound)
                a[i] = (real)bound;
        return M2_OK;
    }
    for (int64_t i = 0; i < op->a_log.cols; i++)
        largest = (double)a[i] > largest ? (double)a[i] : largest;
    for (int64_t i = 0; i < op->a_log.cols && largest > bound; i++)
        a[i] = (real)((double)a[i] + (bound - largest));
    return M2_OK;
}
