/* dt.c: the step sizes of the scan: bias, softplus, clamp.  Few elements, so
 * both real types compute in f64. */
#include "backends/cpu/columns.h"
#include "backends/cpu/vector_math.h"

/* Elements of several rows are worked on together: rows alone are too short
 * for vectors. */
enum { BLOCK = 128, PAD = 8 };

struct dt_job {
    struct job job;
    const void *args;
    double *partial; /* (tiles, H): dbias of each tile of rows */
};

#define DT(job) ((const struct dt_job *)(const void *)(job))

/* Rows [row, row + rows) and columns [col, col + cols) of a (T, H) view, at
 * most BLOCK elements of it. */
struct patch {
    int64_t row, rows, col, cols;
};

static struct patch patch_start(int64_t task, int64_t total, int64_t heads)
{
    struct patch p = {.row = task * COLUMN_TILE, .cols = min_i64(heads, BLOCK)};

    p.rows = min_i64(BLOCK / p.cols, COLUMN_TILE);
    p.rows = min_i64(p.rows, total - p.row);
    return p;
}

/* Along the columns, then down; false after the last one of the tile. */
static bool patch_next(struct patch *p, int64_t end, int64_t heads)
{
    p->col += p->cols;
    p->cols = min_i64(heads - p->col, BLOCK);
    if (p->cols > 0)
        return true;
    p->col = 0;
    p->cols = min_i64(heads, BLOCK);
    p->row += p->rows;
    p->rows = min_i64(p->rows, end - p->row);
    return p->rows > 0;
}

/* v = raw + bias, zeros up to a whole vector; returns the padded length. */
static int64_t patch_load(const struct patch *p, const struct m2_view *raw,
                          const struct m2_view *bias, double *v)
{
    int64_t n = p->rows * p->cols, padded = round_up(n, PAD);

    for (int64_t i = 0; i < p->rows; i++) {
        const real *from = view_real(raw) + (p->row + i) * raw->ld + p->col;
        const real *add = view_real(bias) + p->col;

        for (int64_t j = 0; j < p->cols; j++)
            v[i * p->cols + j] = (double)from[j] + (double)add[j];
    }
    for (; n < padded; n++)
        v[n] = 0;
    return padded;
}

static void patch_store(const struct patch *p, const struct m2_view *out,
                        const double *v)
{
    for (int64_t i = 0; i < p->rows; i++) {
        real *to = view_real(out) + (p->row + i) * out->ld + p->col;

        for (int64_t j = 0; j < p->cols; j++)
            to[j] = (real)v[i * p->cols + j];
    }
}

static void dt_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_dt *op = DT(job)->args;
    int64_t heads = op->dt.cols;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->dt.rows);
    struct patch p = patch_start(task, op->dt.rows, heads);

    (void)scratch;
    do {
        double v[BLOCK];
        int64_t n = patch_load(&p, &op->raw, &op->bias, v);

#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            double step = softplus_f64(v[i]);

            step = step < op->low ? op->low : step;
            v[i] = step > op->high ? op->high : step;
        }
        patch_store(&p, &op->dt, v);
    } while (patch_next(&p, end, heads));
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

/* Slope of clamp(softplus(v)). */
ALWAYS_INLINE double dt_slope(double v, double low, double high)
{
    double step = softplus_f64(v);
    double slope = sigmoid_f64(v);

    slope = v > 20.0 ? 1.0 : slope;
    slope = step < low ? 0.0 : slope;
    return step > high ? 0.0 : slope;
}

static void dt_backward_tile(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_dt_backward *op = DT(job)->args;
    int64_t heads = op->draw.cols;
    int64_t end = min_i64((task + 1) * COLUMN_TILE, op->draw.rows);
    struct patch p = patch_start(task, op->draw.rows, heads);
    double *sum = DT(job)->partial + task * heads;

    (void)scratch;
    memset(sum, 0, (size_t)heads * sizeof *sum);
    do {
        double v[BLOCK];
        int64_t n = patch_load(&p, &op->raw, &op->bias, v);

#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            v[i] = dt_slope(v[i], op->low, op->high);
        for (int64_t i = 0; i < p.rows; i++) {
            const real *ddt =
                view_real(&op->ddt) + (p.row + i) * op->ddt.ld + p.col;

            for (int64_t j = 0; j < p.cols; j++) {
                v[i * p.cols + j] *= (double)ddt[j];
                sum[p.col + j] += v[i * p.cols + j];
            }
        }
        patch_store(&p, &op->draw, v);
    } while (patch_next(&p, end, heads));
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
