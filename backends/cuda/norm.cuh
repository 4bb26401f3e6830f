/* What RMSNorm and LayerNorm share.
 *
 * Rows (or slices of them) are worked on by teams: warps where they are narrow,
 * blocks where they are wide.  A row is read once per pass over it, and again
 * from the cache.
 *
 * Backward, one kernel gives the gradients of the activations and the sums for
 * those of the weights, of 32 rows at a time; a second one adds these sums to
 * the weights' gradients.  The sums are in shared memory, where they fit. */
#ifndef M2_CUDA_NORM_CUH
#define M2_CUDA_NORM_CUH

#include "backends/cuda/columns.cuh"
#include "backends/cuda/real.cuh"
#include "backends/cuda/walk.cuh"

enum {
    NORM_BLOCK = 256,
    NORM_ROWS = 32,      /* rows per block, backward */
    FORWARD_WIDTH = 512, /* from here on a block works on a row */
    BACKWARD_WIDTH = 256,
    NORM_SHARED = 40960 /* bytes of sums in shared memory at most */
};

template <class R> struct partial_sums {
    R *data; /* (sums, blocks of rows, cols) */
    int64_t blocks, cols;
    int64_t in_shared; /* not 0: until the block is done */
};

static inline int64_t norm_blocks(int64_t rows)
{
    return ceil_div(rows, NORM_ROWS);
}

static inline size_t norm_scratch(const struct handle *h,
                                  const struct m2_view &x, int sums)
{
    return (size_t)(norm_blocks(x.rows) * x.cols * sums) *
           m2_dtype_size(h->real);
}

/* N is a norm: its rows, groups and width, its number of SUMS, and
 *   row<TEAM>(t, slice, lane, sums, step, shared)
 * which handles slice `slice` of row t with one team, and adds to column j of
 * sum i at sums[i * step + j]; a column is always its thread's own. */
template <class R, int TEAM, class N>
static __global__ void norm_backward(N norm, struct partial_sums<R> part)
{
    M2_DYN_SHARED(R, dynamic);
    M2_SHARED(R, shared, WARP);
    constexpr int teams = NORM_BLOCK / TEAM;
    int team = (int)threadIdx.x / TEAM, lane = (int)threadIdx.x % TEAM;
    int64_t block = quotient(blockIdx.x, norm.groups);
    int64_t slice = blockIdx.x - block * norm.groups, width = norm.width;
    int64_t begin = block * NORM_ROWS;
    int64_t end = begin + NORM_ROWS < norm.rows ? begin + NORM_ROWS : norm.rows;
    R *out = part.data + block * part.cols + slice * width;
    int64_t out_step = part.blocks * part.cols;
    R *sums = part.in_shared ? dynamic + team * N::SUMS * width : out;
    int64_t step = part.in_shared ? width : out_step;

    for (int i = 0; i < N::SUMS; i++)
        for (int64_t j = lane; j < width; j += TEAM)
            sums[i * step + j] = 0;
    for (int64_t t = begin + team; t < end; t += teams)
        norm.template row<TEAM>(t, slice, lane, sums, step, shared);
    if (!part.in_shared)
        return;
    __syncthreads();
    for (int i = 0; i < N::SUMS; i++)
        for (int64_t j = threadIdx.x; j < width; j += NORM_BLOCK) {
            R sum = 0;

            for (int k = 0; k < teams; k++)
                sum += dynamic[(k * N::SUMS + i) * width + j];
            out[i * out_step + j] = sum;
        }
}

/* Runs it; the weights' gradients are first and second (NULL where there is
 * one only). */
template <class R, class N>
static inline int norm_backward_run(struct handle *h, const N &norm, R *first,
                                    R *second, const char *what,
                                    struct m2_error *err)
{
    bool narrow = norm.width <= BACKWARD_WIDTH;
    int64_t teams = narrow ? NORM_BLOCK / WARP : 1;
    size_t bytes = (size_t)(teams * norm.width * N::SUMS) * sizeof(R);
    int64_t cols = norm.groups * norm.width, blocks = norm_blocks(norm.rows);
    struct partial_sums<R> part = {
        (R *)h->scratch, blocks, cols, bytes <= NORM_SHARED
    };
    dim3 grid((unsigned)(blocks * norm.groups));
    int code;

    if (norm.rows * cols == 0)
        return M2_OK;
    if (!part.in_shared)
        bytes = 0;
    if (narrow)
        code = cuda_check(M2_LAUNCH((norm_backward<R, WARP, N>), grid,
                                    NORM_BLOCK, bytes, h->stream, norm, part),
                          what, err);
    else
        code = cuda_check(M2_LAUNCH((norm_backward<R, NORM_BLOCK, N>), grid,
                                    NORM_BLOCK, bytes, h->stream, norm, part),
                          what, err);
    return code != M2_OK ? code
                         : partials_add<R>(h, part.data, blocks, cols, first,
                                           second, what, err);
}

#endif
