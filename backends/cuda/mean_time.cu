/* The mean over the steps of each sequence, and its gradient. */
#include "backends/cuda/columns.cuh"
#include "backends/cuda/walk.cuh"

/* A block is 32 columns of one sequence, by 8 steps at a time. */
template <class R>
static __global__ void average(int64_t length, matrix<R> x, matrix<R> y)
{
    M2_SHARED(double, shared, SLAB_WIDTH *SLAB_HEIGHT);
    int64_t j = blockIdx.x * (int64_t)SLAB_WIDTH + threadIdx.x;

    for (int64_t b = blockIdx.y; b < y.rows; b += gridDim.y) {
        double sum = 0;

        if (j < x.cols)
            for (int64_t t = threadIdx.y; t < length; t += SLAB_HEIGHT)
                sum += (double)x.at(b * length + t, j);
        sum = slab_sum(sum, shared);
        if (threadIdx.y == 0 && j < x.cols)
            y.at(b, j) = (R)(sum / (double)length);
    }
}

template <class R>
int op_mean_time(struct handle *h, const struct m2_mean_time *a,
                 struct m2_error *err)
{
    matrix<R> x = matrix_of<R>(a->x), y = matrix_of<R>(a->y);
    int64_t blocks = y.rows < MAX_GRID_Y ? y.rows : MAX_GRID_Y;
    dim3 grid((unsigned)ceil_div(y.cols, SLAB_WIDTH), (unsigned)blocks);

    if (y.rows * y.cols == 0)
        return M2_OK;
    return cuda_check(
        M2_LAUNCH(average<R>, grid, slab_block(), 0, h->stream, a->L, x, y),
        "op mean_time", err);
}
OP_INSTANTIATE(mean_time, m2_mean_time)
OP_NO_SCRATCH(mean_time, m2_mean_time)

template <class R> struct spread_gradients {
    matrix<R> dy, dx;
    int64_t length;
    int64_t accumulate;

    __device__ void run(int64_t i, int64_t j) const
    {
        R gradient = dy.at(quotient(i, length), j) / (R)length;

        dx.at(i, j) = accumulate ? dx.at(i, j) + gradient : gradient;
    }
};

template <class R>
int op_mean_time_backward(struct handle *h,
                          const struct m2_mean_time_backward *a,
                          struct m2_error *err)
{
    struct spread_gradients<R> f = {
        matrix_of<R>(a->dy), matrix_of<R>(a->dx), a->L, a->accumulate
    };
    struct walk by_rows = {f.dx.rows, f.dx.cols};

    return walk_run(h, f, by_rows, "op mean_time_backward", err);
}
OP_INSTANTIATE(mean_time_backward, m2_mean_time_backward)
OP_NO_SCRATCH(mean_time_backward, m2_mean_time_backward)
