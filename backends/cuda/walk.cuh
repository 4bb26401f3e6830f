/* Kernels that do one thing per element of a matrix.
 *
 * What is done is a struct with a device function run(i, j), without padding,
 * for it is an argument, and these are compared bit by bit.  Elements are
 * counted through the whole matrix, so that a narrow one fills its warps, too;
 * matrices without a gap between their rows are walked as one row, which saves
 * the division. */
#ifndef M2_CUDA_WALK_CUH
#define M2_CUDA_WALK_CUH

#include "backends/cuda/cuda.cuh"

struct walk {
    int64_t rows, cols;
};

/* Of matrices that all have the shape of the first, where run() does not look
 * at i but to find its element. */
template <class T, class... M>
static inline struct walk walk_of(const matrix<T> &first, const M &...others)
{
    bool dense =
        first.ld == first.cols && ((others.ld == others.cols) && ... && true);
    struct walk by_rows = {first.rows, first.cols};
    struct walk one_row = {1, first.rows * first.cols};

    return dense ? one_row : by_rows;
}

/* a / b of numbers that are not negative; most fit 32 bits, which is many
 * times as fast. */
static __device__ inline int64_t quotient(int64_t a, int64_t b)
{
    return (a | b) >> 32 == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}

template <class F> static __global__ void for_each(F f, struct walk w)
{
    int64_t n = w.rows * w.cols, step = gridDim.x * (int64_t)blockDim.x;
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

    for (; at < n; at += step) {
        int64_t i = w.rows == 1 ? 0 : quotient(at, w.cols);

        f.run(i, at - i * w.cols);
    }
}

template <class F>
static inline int walk_run(struct handle *h, const F &f, struct walk w,
                           const char *what, struct m2_error *err)
{
    int64_t blocks = ceil_div(w.rows * w.cols, MAP_BLOCK);

    if (blocks == 0)
        return M2_OK;
    if (blocks > INT32_MAX)
        blocks = INT32_MAX;
    return cuda_check(
        M2_LAUNCH(for_each<F>, (unsigned)blocks, MAP_BLOCK, 0, h->stream, f, w),
        what, err);
}

#endif
