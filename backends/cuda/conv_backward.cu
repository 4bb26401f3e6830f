/* Causal depthwise convolution with SiLU, backward: specification 4.5.
 *
 * A run needs the gradients dpre of its own steps and of the K-1 after it,
 * which it computes again: that is cheaper than a second kernel.  The filter's
 * gradient is summed over a run, over the runs of a block, and then over the
 * blocks by a second kernel, always in the same order. */
#include "backends/cuda/columns.cuh"
#include "backends/cuda/conv.cuh"

template <class R> struct conv_gradients {
    filter<R> f;
    matrix<R> dy, dstate_out, dx, dstate;
    R *part;      /* (slabs, K+1, C): dw and db of the runs of a block */
    int64_t runs; /* of all sequences */
};

/* One run of one channel. */
struct conv_run {
    int64_t b, t, end, c;
};

/* The gradient of x_ext[b, s, c], which is an input or an entry of the
 * incoming state; some of it comes through the outgoing state. */
template <class R>
static __device__ inline void give(const conv_gradients<R> &g,
                                   const conv_run &run, int64_t s, R value)
{
    int64_t entry = s - (g.f.L - g.f.K), at = run.c * g.f.K;

    if (s < 0 && g.dstate.data == NULL)
        return;
    if (g.dstate_out.data != NULL && entry >= 0)
        value += g.dstate_out.at(run.b, at + entry);
    if (s < 0)
        g.dstate.at(run.b, at + g.f.K + s) = value;
    else
        g.dx.at(run.b * g.f.L + s, run.c) = value;
}

/* ---- few taps: everything in registers ----------------------------------
 */

/* What is read from memory for a run and the K-1 steps after it, all of it
 * asked for before the first value is used. */
template <class R, int TAPS> struct conv_inputs {
    R x[CONV_RUN + TAPS - 1], dy[CONV_RUN + TAPS - 1];
};

template <class R, int TAPS>
static __device__ inline void
fetch(conv_inputs<R, TAPS> &in, const conv_gradients<R> &g, const conv_run &run)
{
#pragma unroll
    for (int i = 0; i < CONV_RUN + TAPS - 1; i++) {
        int64_t row = run.b * g.f.L + run.t + i;
        bool inside = run.t + i < g.f.L;

        in.x[i] = inside ? g.f.x.at(row, run.c) : R(0);
        in.dy[i] = inside ? g.dy.at(row, run.c) : R(0);
    }
}

/* tap is the filter turned around, as the gradients of the inputs want it. */
template <class R, int TAPS>
static __device__ void few_taps(const conv_gradients<R> &g, const conv_run &run,
                                R (&sum)[TAPS + 1])
{
    R tap[TAPS], past[TAPS], grad[TAPS] = {}, bias = bias_of(g.f, run.c);
    conv_inputs<R, TAPS> in;

#pragma unroll
    for (int k = 0; k < TAPS; k++)
        tap[k] = g.f.w.at(run.c, TAPS - 1 - k);
    look_back(past, g.f, run.b, run.t, run.c);
    fetch(in, g, run);
    if (run.t == 0)
        give(g, run, -TAPS, R(0));
#pragma unroll
    for (int i = 0; i < CONV_RUN + TAPS - 1; i++) {
        int64_t s = run.t + i - (TAPS - 1);
        R pre = bias, dpre;

        push(past, in.x[i]);
#pragma unroll
        for (int k = 0; k < TAPS; k++)
            pre += tap[TAPS - 1 - k] * past[k];
        dpre = run.t + i < g.f.L ? in.dy[i] * silu_slope(pre) : R(0);
        push(grad, dpre);
        if (i < CONV_RUN) {
#pragma unroll
            for (int k = 0; k < TAPS; k++)
                sum[k] += dpre * past[k];
            sum[TAPS] += dpre;
        }
        if ((run.t == 0 || s >= run.t) && s < g.f.L)
            give(g, run, s, inner(tap, grad, R(0)));
    }
}

/* ---- any number of taps --------------------------------------------------
 */

template <class R>
static __device__ R dpre_at(const conv_gradients<R> &g, const conv_run &run,
                            int64_t t)
{
    if (t < 0 || t >= g.f.L)
        return R(0);
    return g.dy.at(run.b * g.f.L + t, run.c) *
           silu_slope(pre_activation(g.f, run.b, t, run.c));
}

template <class R>
static __device__ void any_inputs(const conv_gradients<R> &g,
                                  const conv_run &run)
{
    int64_t s = run.t == 0 ? -g.f.K : run.t;

    for (; s < run.end; s++) {
        R value = 0;

        for (int64_t k = 0; k < g.f.K; k++)
            value += g.f.w.at(run.c, k) * dpre_at(g, run, s + g.f.K - 1 - k);
        give(g, run, s, value);
    }
}

/* The run's share of dw[c, k], or of db[c] where k is K. */
template <class R>
static __device__ R any_sum(const conv_gradients<R> &g, const conv_run &run,
                            int k)
{
    R sum = 0;

    for (int64_t t = run.t; t < run.end; t++) {
        R dpre = dpre_at(g, run, t);

        sum += k < g.f.K
                   ? dpre * history(g.f, run.b, t - (g.f.K - 1) + k, run.c)
                   : dpre;
    }
    return sum;
}

/* ---- kernels --------------------------------------------------------------
 */

/* Block: 32 channels, 8 runs. */
template <class R, int TAPS>
static __global__ void convolve_back(conv_gradients<R> g)
{
    M2_SHARED(R, shared, SLAB_WIDTH * SLAB_HEIGHT);
    int64_t C = g.dx.cols, wide = ceil_div(C, SLAB_WIDTH);
    int64_t slab = blockIdx.x / wide, runs = conv_runs(g.f.L);
    int64_t index = slab * SLAB_HEIGHT + threadIdx.y;
    conv_run run = {index / runs, index % runs * CONV_RUN, 0,
                    (int64_t)(blockIdx.x % wide) * SLAB_WIDTH + threadIdx.x};
    bool inside = run.c < C && index < g.runs;
    int taps = TAPS > 0 ? TAPS : (int)g.f.K;
    R sum[TAPS + 1] = {};

    run.end = run.t + CONV_RUN < g.f.L ? run.t + CONV_RUN : g.f.L;
    if constexpr (TAPS > 0) {
        if (inside)
            few_taps<R, TAPS>(g, run, sum);
    } else {
        if (inside)
            any_inputs(g, run);
    }
#pragma unroll
    for (int k = 0; k <= taps; k++) {
        R own = TAPS > 0 ? sum[TAPS > 0 ? k : 0]
                         : (inside ? any_sum(g, run, k) : R(0));
        R total = slab_sum(own, shared);

        if (threadIdx.y == 0 && run.c < C)
            g.part[(slab * (taps + 1) + k) * C + run.c] = total;
    }
}

/* dw and db += the slabs' sums.  Block: 32 of the (K+1) C columns, 8 slabs at
 * a time. */
template <class R>
static __global__ void add_filter(const R *__restrict__ part, int64_t slabs,
                                  int64_t K, matrix<R> dw, R *db)
{
    M2_SHARED(R, shared, SLAB_WIDTH * SLAB_HEIGHT);
    int64_t C = dw.rows, cols = (K + 1) * C;
    int64_t j = blockIdx.x * (int64_t)SLAB_WIDTH + threadIdx.x;
    R sum = 0;

    if (j < cols)
        for (int64_t s = threadIdx.y; s < slabs; s += SLAB_HEIGHT)
            sum += part[s * cols + j];
    sum = slab_sum(sum, shared);
    if (threadIdx.y != 0 || j >= cols)
        return;
    if (j < K * C)
        dw.at(j % C, j / C) += sum;
    else if (db != NULL)
        db[j - K * C] += sum;
}

/* ---- host -----------------------------------------------------------------
 */

static int64_t conv_slabs(const struct m2_conv1d_silu_backward *a)
{
    return ceil_div(a->B * conv_runs(a->L), SLAB_HEIGHT);
}

template <class R, int TAPS>
static cudaError_t launch(struct handle *h, const conv_gradients<R> &g)
{
    int64_t blocks =
        ceil_div(g.runs, SLAB_HEIGHT) * ceil_div(g.dx.cols, SLAB_WIDTH);

    return M2_LAUNCH((convolve_back<R, TAPS>), (unsigned)blocks, slab_block(),
                     0, h->stream, g);
}

template <class R>
static cudaError_t launch_for(struct handle *h, const conv_gradients<R> &g)
{
    switch (g.f.K) {
    case 1:
        return launch<R, 1>(h, g);
    case 2:
        return launch<R, 2>(h, g);
    case 3:
        return launch<R, 3>(h, g);
    case MAX_TAPS:
        return launch<R, MAX_TAPS>(h, g);
    default:
        return launch<R, 0>(h, g);
    }
}

template <class R>
int op_conv1d_silu_backward(struct handle *h,
                            const struct m2_conv1d_silu_backward *a,
                            struct m2_error *err)
{
    conv_gradients<R> g = {{matrix_of<R>(a->x), matrix_of<R>(a->w),
                            matrix_of<R>(a->b), matrix_of<R>(a->state), a->L,
                            a->K},
                           matrix_of<R>(a->dy),
                           matrix_of<R>(a->dstate_out),
                           matrix_of<R>(a->dx),
                           matrix_of<R>(a->dstate),
                           (R *)h->scratch,
                           a->B * conv_runs(a->L)};
    int64_t cols = (a->K + 1) * a->dx.cols;
    int code = cuda_check(launch_for<R>(h, g), "op conv1d_silu_backward", err);

    if (code != M2_OK)
        return code;
    return cuda_check(
        M2_LAUNCH(add_filter<R>, (unsigned)ceil_div(cols, SLAB_WIDTH),
                  slab_block(), 0, h->stream, g.part, conv_slabs(a), a->K,
                  matrix_of<R>(a->dw), matrix_of<R>(a->db).data),
        "op conv1d_silu_backward", err);
}
OP_INSTANTIATE(conv1d_silu_backward, m2_conv1d_silu_backward)

size_t scratch_conv1d_silu_backward(const struct handle *h,
                                    const struct m2_conv1d_silu_backward *a)
{
    return (size_t)(conv_slabs(a) * (a->K + 1) * a->dx.cols) *
           m2_dtype_size(h->real);
}
