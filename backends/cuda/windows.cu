/* Cuts a batch of windows out of series that stay on the device.
 *
 * A block is one window of up to 32 columns of features, or of targets.  One
 * thread per column sums its statistics, in f64 and in the order of the rows;
 * then the whole block writes.  What a start outside of the series would give
 * is NaN: the device cannot refuse it, and the loss must not look good. */
#include "backends/cuda/walk.cuh"

#include <math.h>

enum { WINDOW_COLUMNS = 32, WINDOW_BLOCK = 256, BATCH = 8 };

template <class R> struct windows {
    int64_t length, horizon, last_start;
    int horizon_mode, norm;
    double eps;
    matrix<R> features, targets, x, y;
    matrix<const int32_t> starts;
    matrix<double> norms;
};

/* The columns of one window that the block works on. */
template <class R> struct window {
    const R *rows; /* of the first column in the first row; NULL: no such */
    int64_t ld, first;
    int width;
    const double *shift, *spread; /* by column, shared */

    __device__ R normalised(int64_t t, int j) const
    {
        double value = rows != NULL ? (double)rows[t * ld + j] : 0.0;

        return (R)((value - shift[j]) / spread[j]);
    }
};

/* Sum over n rows of a column's values, or of their squared distances from
 * *center.  Loads are issued in batches: one at a time would be waited for. */
template <class R>
static __device__ double sum_rows(const R *at, int64_t ld, int64_t n,
                                  const double *center)
{
    double sum = 0;

    for (int64_t t = 0; t < n; t += BATCH) {
        R batch[BATCH];

        for (int k = 0; k < BATCH; k++)
            batch[k] = t + k < n ? at[(t + k) * ld] : R(0);
        for (int k = 0; k < BATCH; k++) {
            double value = (double)batch[k];
            double distance = center != NULL ? value - *center : 0;

            if (t + k < n)
                sum += center != NULL ? distance * distance : value;
        }
    }
    return sum;
}

/* At the thread of column j. */
template <class R>
static __device__ void find_norm(const struct windows<R> &a,
                                 const struct window<R> &w, int j,
                                 double *shift, double *spread)
{
    double center = a.norm == M2_NORM_NONE ? 0 : NAN;

    *spread = 1;
    if (w.rows == NULL) {
        *shift = NAN;
        return;
    }
    if (a.norm == M2_NORM_LAST)
        center = (double)w.rows[(a.length - 1) * w.ld + j];
    if (a.norm == M2_NORM_ZSCORE) {
        double n = (double)a.length;

        center = sum_rows<R>(w.rows + j, w.ld, a.length, NULL) / n;
        *spread =
            sqrt(sum_rows<R>(w.rows + j, w.ld, a.length, &center) / n + a.eps);
    }
    *shift = center;
}

template <class R>
static __device__ void write_inputs(const struct windows<R> &a,
                                    const struct window<R> &w, int64_t b)
{
    int64_t n = a.length * w.width;

    for (int64_t at = threadIdx.x; at < n; at += WINDOW_BLOCK) {
        int64_t t = quotient(at, w.width);
        int j = (int)(at - t * w.width);

        a.x.at(b * a.length + t, w.first + j) = w.normalised(t, j);
    }
}

template <class R>
static __device__ void write_path(const struct windows<R> &a,
                                  const struct window<R> &w, int64_t b)
{
    bool last = a.horizon_mode == M2_HORIZON_LAST;
    int64_t n = last ? w.width : a.horizon * w.width;

    for (int64_t at = threadIdx.x; at < n; at += WINDOW_BLOCK) {
        int64_t k = quotient(at, w.width);
        int j = (int)(at - k * w.width);
        int64_t t = a.length + (last ? a.horizon - 1 : k);

        a.y.at(b, k * a.targets.cols + w.first + j) = w.normalised(t, j);
    }
}

template <class R>
static __device__ void write_targets(const struct windows<R> &a,
                                     const struct window<R> &w, int64_t b)
{
    bool summed = a.horizon_mode == M2_HORIZON_SUM;
    double times = summed ? (double)a.horizon : 1;
    int j = (int)threadIdx.x;

    if (a.y.data != NULL && !summed)
        write_path(a, w, b);
    if (j >= w.width)
        return;
    if (a.y.data != NULL && summed) {
        const R *from = w.rows + a.length * w.ld + j;
        double sum =
            w.rows != NULL ? sum_rows<R>(from, w.ld, a.horizon, NULL) : 0;

        a.y.at(b, w.first + j) = (R)((sum - times * w.shift[j]) / w.spread[j]);
    }
    if (a.norms.data != NULL) {
        a.norms.at(b, w.first + j) = times * w.shift[j];
        a.norms.at(b, a.targets.cols + w.first + j) = w.spread[j];
    }
}

template <class R> static __global__ void cut_windows(struct windows<R> a)
{
    M2_SHARED(double, shift, WINDOW_COLUMNS);
    M2_SHARED(double, spread, WINDOW_COLUMNS);
    int64_t of_features = ceil_div(a.features.cols, WINDOW_COLUMNS);
    bool inputs = blockIdx.x < of_features;
    matrix<R> series = inputs ? a.features : a.targets;
    int64_t block = inputs ? blockIdx.x : blockIdx.x - of_features;
    int64_t first = block * WINDOW_COLUMNS, left = series.cols - first;
    int j = (int)threadIdx.x;

    for (int64_t b = blockIdx.y; b < a.starts.cols; b += gridDim.y) {
        int64_t start = a.starts.at(0, b);
        bool inside = start >= 0 && start <= a.last_start;
        struct window<R> w = {
            inside ? &series.at(start, first) : NULL, series.ld, first,
                left < WINDOW_COLUMNS ? (int)left : (int)WINDOW_COLUMNS, shift,
                spread
        };

        __syncthreads(); /* readers of the last window's are done */
        if (j < w.width)
            find_norm(a, w, j, &shift[j], &spread[j]);
        __syncthreads();
        if (inputs)
            write_inputs(a, w, b);
        else
            write_targets(a, w, b);
    }
}

template <class R>
int op_gather_windows(struct handle *h, const struct m2_gather_windows *a,
                      struct m2_error *err)
{
    bool has_y = a->y.buffer != NULL, has_norms = a->norms.buffer != NULL;
    int64_t rows = a->L + (has_y ? a->horizon : 0);
    int64_t outputs = has_y || has_norms ? a->targets.cols : 0;
    struct windows<R> w = {
        a->L, a->horizon, a->features.rows - rows, a->horizon_mode,
            a->window_norm, a->eps, matrix_of<R>(a->features),
            matrix_of<R>(a->targets), matrix_of<R>(a->x), matrix_of<R>(a->y),
            matrix_of<const int32_t>(a->starts), matrix_of<double>(a->norms)
    };
    int64_t blocks = ceil_div(a->features.cols, WINDOW_COLUMNS) +
                     ceil_div(outputs, WINDOW_COLUMNS);
    dim3 grid((unsigned)blocks,
              (unsigned)(a->B < MAX_GRID_Y ? a->B : MAX_GRID_Y));

    if (blocks == 0)
        return M2_OK;
    return cuda_check(
        M2_LAUNCH(cut_windows<R>, grid, WINDOW_BLOCK, 0, h->stream, w),
        "op gather_windows", err);
}
OP_INSTANTIATE(gather_windows, m2_gather_windows)
OP_NO_SCRATCH(gather_windows, m2_gather_windows)
