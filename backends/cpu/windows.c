/* windows.c: cuts a batch of windows out of series on the device. */
#include "backends/cpu/real.h"

/* Columns whose statistics are on the stack at a time. */
enum { BLOCK = 64 };

struct window_job {
    struct job job;
    const struct m2_gather_windows *op;
};

/* How a block of columns of one window is normalised: (value - shift) /
 * spread. */
struct norms {
    double shift[BLOCK], spread[BLOCK];
};

static void window_norms(const struct m2_gather_windows *op, const real *first,
                         int64_t ld, int64_t width, struct norms *n)
{
    for (int64_t j = 0; j < width; j++) {
        n->shift[j] = 0;
        n->spread[j] = op->window_norm == M2_NORM_ZSCORE ? 0 : 1;
        if (op->window_norm == M2_NORM_LAST)
            n->shift[j] = (double)first[(op->L - 1) * ld + j];
    }
    if (op->window_norm != M2_NORM_ZSCORE)
        return;
    for (int64_t t = 0; t < op->L; t++)
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            n->shift[j] += (double)first[t * ld + j];
    for (int64_t j = 0; j < width; j++)
        n->shift[j] /= (double)op->L;
    for (int64_t t = 0; t < op->L; t++)
#pragma omp simd
        for (int64_t j = 0; j < width; j++) {
            double distance = (double)first[t * ld + j] - n->shift[j];

            n->spread[j] += distance * distance;
        }
    for (int64_t j = 0; j < width; j++)
        n->spread[j] = sqrt(n->spread[j] / (double)op->L + op->eps);
}

/* The features of columns [col, col + width) of window b. */
static void gather_features(const struct m2_gather_windows *op, int64_t b,
                            int64_t start, int64_t col, int64_t width)
{
    const struct m2_view *from = &op->features;
    const real *first = view_real(from) + start * from->ld + col;
    real *x = view_real(&op->x) + b * op->L * op->x.ld + col;
    struct norms n;

    window_norms(op, first, from->ld, width, &n);
    for (int64_t t = 0; t < op->L; t++)
        for (int64_t j = 0; j < width; j++) {
            double value = (double)first[t * from->ld + j];

            x[t * op->x.ld + j] = (real)((value - n.shift[j]) / n.spread[j]);
        }
}

/* Target column o of window b; `row` is its first future value. */
static void gather_target(const struct m2_gather_windows *op, int64_t b,
                          const real *row, int64_t o, double shift,
                          double spread)
{
    int64_t ld = op->targets.ld, columns = op->targets.cols;
    real *y = view_real(&op->y) + b * op->y.ld;
    double sum = 0;

    if (op->horizon_mode == M2_HORIZON_LAST) {
        double value = (double)row[(op->horizon - 1) * ld];

        y[o] = (real)((value - shift) / spread);
        return;
    }
    for (int64_t k = 0; k < op->horizon; k++) {
        double value = (double)row[k * ld];

        sum += value;
        if (op->horizon_mode == M2_HORIZON_PATH)
            y[k * columns + o] = (real)((value - shift) / spread);
    }
    if (op->horizon_mode == M2_HORIZON_SUM)
        y[o] = (real)((sum - (double)op->horizon * shift) / spread);
}

static void gather_targets(const struct m2_gather_windows *op, int64_t b,
                           int64_t start, int64_t col, int64_t width)
{
    const struct m2_view *from = &op->targets;
    const real *first = view_real(from) + start * from->ld + col;
    double times = op->horizon_mode == M2_HORIZON_SUM ? (double)op->horizon : 1;
    struct norms n;

    window_norms(op, first, from->ld, width, &n);
    for (int64_t j = 0; j < width; j++) {
        if (op->y.buffer != NULL)
            gather_target(op, b, first + op->L * from->ld + j, col + j,
                          n.shift[j], n.spread[j]);
        if (op->norms.buffer != NULL) {
            double *out = view_f64(&op->norms) + b * op->norms.ld + col + j;

            out[0] = times * n.shift[j];
            out[from->cols] = n.spread[j];
        }
    }
}

static void gather_window(const struct job *job, int64_t b, char *scratch)
{
    const struct m2_gather_windows *op =
        ((const struct window_job *)(const void *)job)->op;
    int64_t start = view_i32(&op->starts)[b];
    int64_t outputs = 0;

    (void)scratch;
    if (op->y.buffer != NULL || op->norms.buffer != NULL)
        outputs = op->targets.cols;
    for (int64_t j = 0; j < op->features.cols; j += BLOCK)
        gather_features(op, b, start, j, min_i64(BLOCK, op->features.cols - j));
    for (int64_t j = 0; j < outputs; j += BLOCK)
        gather_targets(op, b, start, j, min_i64(BLOCK, outputs - j));
}

int OP(gather_windows)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_gather_windows *op = args;
    int64_t rows = op->L + (op->y.buffer != NULL ? op->horizon : 0);
    const int32_t *starts = view_i32(&op->starts);
    struct window_job w = {
        .op = op,
        .job = {.tasks = op->B,
                .work = 6.0 * (double)op->x.rows * (double)op->x.cols,
                .run = gather_window}};

    for (int64_t b = 0; b < op->B; b++)
        if (starts[b] < 0 || starts[b] > op->features.rows - rows)
            return m2_fail(err, M2_E_ARGUMENT,
                           "gather_windows: starts[%lld] is %d, but a window "
                           "of %lld rows must lie in %lld",
                           (long long)b, (int)starts[b], (long long)rows,
                           (long long)op->features.rows);
    parallel_run(h, &w.job);
    return M2_OK;
}
