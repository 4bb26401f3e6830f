/* Sums down the columns of a matrix, as the gradients of biases and of norm
 * weights are: in two passes, for one block per column would leave the device
 * idle.  Pass 1 cuts the rows into slabs of SLAB_ROWS and writes one partial
 * sum per slab and column; pass 2 adds them in the order of the slabs. */
#ifndef M2_CUDA_COLUMNS_CUH
#define M2_CUDA_COLUMNS_CUH

#include "backends/cuda/reduce.cuh"

/* A block of pass 1 is 32 columns by 8 rows, and walks down one slab. */
enum { SLAB_ROWS = 128, SLAB_WIDTH = 32, SLAB_HEIGHT = 8 };

static __host__ __device__ inline int64_t slab_count(int64_t rows)
{
    return ceil_div(rows, SLAB_ROWS);
}

/* The row behind slab k. */
static __device__ inline int64_t slab_end(int64_t k, int64_t rows)
{
    return (k + 1) * SLAB_ROWS < rows ? (k + 1) * SLAB_ROWS : rows;
}

/* Bytes of the partial sums of a (rows, cols) matrix, n matrices at once. */
static inline size_t slabs_bytes(const struct handle *h, int64_t rows,
                                 int64_t cols, int n)
{
    return (size_t)(slab_count(rows) * cols * n) * m2_dtype_size(h->real);
}

/* The block's sum per column of its 32 x 8 values, at the threads with
 * threadIdx.y 0.  shared holds 256 values and may be used again at once. */
template <class R> static __device__ inline R slab_sum(R value, R *shared)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    R sum = 0;

    __syncthreads(); /* readers of the last sum are done */
    shared[y * SLAB_WIDTH + x] = value;
    __syncthreads();
    if (y == 0)
        for (int i = 0; i < SLAB_HEIGHT; i++)
            sum += shared[i * SLAB_WIDTH + x];
    return sum;
}

/* x over columns, y over slabs, which strides by gridDim.y. */
static inline dim3 slab_grid(int64_t rows, int64_t cols)
{
    int64_t slabs = slab_count(rows);

    return dim3((unsigned)ceil_div(cols, SLAB_WIDTH),
                (unsigned)(slabs < MAX_GRID_Y ? slabs : MAX_GRID_Y));
}

static inline dim3 slab_block(void)
{
    return dim3(SLAB_WIDTH, SLAB_HEIGHT);
}

/* Pass 2 for up to two sums of equal width: first[0..cols) += the n partial
 * sums of part (n, cols); second likewise (NULL: none), its partial sums follow
 * those of the first. */
template <class R>
static __global__ void add_slabs(const R *__restrict__ part, int64_t n,
                                 int64_t cols, R *__restrict__ first,
                                 R *__restrict__ second)
{
    M2_SHARED(R, shared, SLAB_WIDTH * SLAB_HEIGHT);
    int64_t j = blockIdx.x * (int64_t)SLAB_WIDTH + threadIdx.x;
    const R *own = part + (blockIdx.y == 0 ? 0 : n * cols);
    R *out = blockIdx.y == 0 ? first : second;
    R sum = 0;

    if (j < cols)
        for (int64_t i = threadIdx.y; i < n; i += SLAB_HEIGHT)
            sum += own[i * cols + j];
    sum = slab_sum(sum, shared);
    if (threadIdx.y == 0 && j < cols)
        out[j] += sum;
}

template <class R>
static inline int partials_add(struct handle *h, const R *part, int64_t n,
                               int64_t cols, R *first, R *second,
                               const char *what, struct m2_error *err)
{
    dim3 grid((unsigned)ceil_div(cols, SLAB_WIDTH), second == NULL ? 1 : 2);

    if (n * cols == 0)
        return M2_OK;
    return cuda_check(M2_LAUNCH(add_slabs<R>, grid, slab_block(), 0, h->stream,
                                part, n, cols, first, second),
                      what, err);
}

/* The same for slabs of SLAB_ROWS. */
template <class R>
static inline int slabs_add(struct handle *h, const R *part, int64_t rows,
                            int64_t cols, R *first, R *second, const char *what,
                            struct m2_error *err)
{
    return partials_add(h, part, slab_count(rows), cols, first, second, what,
                        err);
}

/* ---- plain column sums ----------------------------------------------------
 */

template <class R>
static __global__ void sum_slabs(matrix<R> x, R *__restrict__ part)
{
    M2_SHARED(R, shared, SLAB_WIDTH * SLAB_HEIGHT);
    int64_t j = blockIdx.x * (int64_t)SLAB_WIDTH + threadIdx.x;

    for (int64_t k = blockIdx.y; k < slab_count(x.rows); k += gridDim.y) {
        int64_t end = slab_end(k, x.rows), i = k * SLAB_ROWS + threadIdx.y;
        R sum = 0;

        if (j < x.cols)
            for (; i < end; i += SLAB_HEIGHT)
                sum += x.at(i, j);
        sum = slab_sum(sum, shared);
        if (threadIdx.y == 0 && j < x.cols)
            part[k * x.cols + j] = sum;
    }
}

static inline size_t column_sums_scratch(const struct handle *h, int64_t rows,
                                         int64_t cols)
{
    return slabs_bytes(h, rows, cols, 1);
}

/* out (1, cols) += the sums down the columns of x. */
template <class R>
static inline int column_sums(struct handle *h, matrix<R> x, matrix<R> out,
                              const char *what, struct m2_error *err)
{
    R *part = (R *)h->scratch;
    int code = M2_OK;

    if (x.rows * x.cols > 0)
        code = cuda_check(M2_LAUNCH(sum_slabs<R>, slab_grid(x.rows, x.cols),
                                    slab_block(), 0, h->stream, x, part),
                          what, err);
    return code != M2_OK ? code
                         : slabs_add<R>(h, part, x.rows, x.cols, out.data, NULL,
                                        what, err);
}

#endif
