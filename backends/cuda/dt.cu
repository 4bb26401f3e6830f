/* The step sizes of the scan: bias, softplus, clamp.  Few elements, and where
 * the clamp begins decides about gradients: both real types compute in f64. */
#include "backends/cuda/columns.cuh"
#include "backends/cuda/real.cuh"

/* softplus is the identity above this */
#define DT_LINEAR 20.0

static __device__ inline double softplus(double v)
{
    return v > DT_LINEAR ? v : log1p(exp(v));
}

template <class R>
static __global__ void step_size(double low, double high, matrix<R> raw,
                                 const R *__restrict__ bias, matrix<R> dt)
{
    int64_t j = blockIdx.x * (int64_t)SLAB_WIDTH + threadIdx.x;
    int64_t i = blockIdx.y * (int64_t)SLAB_HEIGHT + threadIdx.y;

    if (j >= dt.cols)
        return;
    for (; i < dt.rows; i += gridDim.y * (int64_t)SLAB_HEIGHT) {
        double step = softplus((double)raw.at(i, j) + (double)bias[j]);

        step = step < low ? low : step;
        dt.at(i, j) = (R)(step > high ? high : step);
    }
}

template <class R>
int op_dt(struct handle *h, const struct m2_dt *a, struct m2_error *err)
{
    matrix<R> dt = matrix_of<R>(a->dt);
    int64_t rows = ceil_div(dt.rows, SLAB_HEIGHT);
    dim3 grid((unsigned)ceil_div(dt.cols, SLAB_WIDTH),
              (unsigned)(rows < MAX_GRID_Y ? rows : MAX_GRID_Y));

    return cuda_check(M2_LAUNCH(step_size<R>, grid, slab_block(), 0, h->stream,
                                a->low, a->high, matrix_of<R>(a->raw),
                                matrix_of<R>(a->bias).data, dt),
                      "op dt", err);
}
OP_INSTANTIATE(dt, m2_dt)
OP_NO_SCRATCH(dt, m2_dt)

/* ---- backward -------------------------------------------------------------
 */

/* Slope of clamp(softplus(v)), whose interval is closed. */
static __device__ inline double step_slope(double v, double low, double high)
{
    double step = softplus(v);

    if (step < low || step > high)
        return 0;
    return v > DT_LINEAR ? 1 : sigmoid(v);
}

template <class R> struct dt_gradients {
    double low, high;
    matrix<R> ddt, raw, bias, draw;
    double *part; /* (slabs, H): dbias of each slab of rows */

    /* What dt (i, j) gives to its bias. */
    __device__ double give(int64_t i, int64_t j) const
    {
        double v = (double)raw.at(i, j) + (double)bias.data[j];
        double value = (double)ddt.at(i, j) * step_slope(v, low, high);

        draw.at(i, j) = (R)value;
        return value;
    }
};

template <class R> static __global__ void step_size_back(dt_gradients<R> g)
{
    M2_SHARED(double, shared, (SLAB_WIDTH * SLAB_HEIGHT));
    int64_t j = blockIdx.x * (int64_t)SLAB_WIDTH + threadIdx.x;
    int64_t rows = g.draw.rows;

    for (int64_t k = blockIdx.y; k < slab_count(rows); k += gridDim.y) {
        int64_t end = slab_end(k, rows), i = k * SLAB_ROWS + threadIdx.y;
        double sum = 0;

        if (j < g.draw.cols)
            for (; i < end; i += SLAB_HEIGHT)
                sum += g.give(i, j);
        sum = slab_sum(sum, shared);
        if (threadIdx.y == 0 && j < g.draw.cols)
            g.part[k * g.draw.cols + j] = sum;
    }
}

template <class R>
static __global__ void add_bias(const double *__restrict__ part, int64_t slabs,
                                matrix<R> dbias)
{
    M2_SHARED(double, shared, (SLAB_WIDTH * SLAB_HEIGHT));
    int64_t j = blockIdx.x * (int64_t)SLAB_WIDTH + threadIdx.x;
    double sum = 0;

    if (j < dbias.cols)
        for (int64_t s = threadIdx.y; s < slabs; s += SLAB_HEIGHT)
            sum += part[s * dbias.cols + j];
    sum = slab_sum(sum, shared);
    if (threadIdx.y == 0 && j < dbias.cols)
        dbias.data[j] += (R)sum;
}

template <class R>
int op_dt_backward(struct handle *h, const struct m2_dt_backward *a,
                   struct m2_error *err)
{
    dt_gradients<R> g = {a->low,
                         a->high,
                         matrix_of<R>(a->ddt),
                         matrix_of<R>(a->raw),
                         matrix_of<R>(a->bias),
                         matrix_of<R>(a->draw),
                         (double *)h->scratch};
    int64_t rows = a->draw.rows, cols = a->draw.cols;
    int code = cuda_check(M2_LAUNCH(step_size_back<R>, slab_grid(rows, cols),
                                    slab_block(), 0, h->stream, g),
                          "op dt_backward", err);

    if (code != M2_OK)
        return code;
    return cuda_check(M2_LAUNCH(add_bias<R>,
                                (unsigned)ceil_div(cols, SLAB_WIDTH),
                                slab_block(), 0, h->stream, g.part,
                                slab_count(rows), matrix_of<R>(a->dbias)),
                      "op dt_backward", err);
}
OP_INSTANTIATE(dt_backward, m2_dt_backward)

size_t scratch_dt_backward(const struct handle *,
                           const struct m2_dt_backward *a)
{
    return (size_t)(slab_count(a->draw.rows) * a->draw.cols) * sizeof(double);
}
