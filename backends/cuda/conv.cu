/* Causal depthwise convolution with SiLU, forward: specification 4.5. */
#include "backends/cuda/conv.cuh"

enum { CONV_BLOCK = 128 };

/* All inputs of the run are asked for before the first is used. */
template <class R, int TAPS>
static __device__ void few_taps(const filter<R> &f, const matrix<R> &y,
                                int64_t b, int64_t t, int64_t c)
{
    R tap[TAPS], past[TAPS], value[CONV_RUN], bias = bias_of(f, c);

#pragma unroll
    for (int k = 0; k < TAPS; k++)
        tap[k] = f.w.at(c, k);
    look_back(past, f, b, t, c);
#pragma unroll
    for (int i = 0; i < CONV_RUN; i++)
        value[i] = t + i < f.L ? f.x.at(b * f.L + t + i, c) : R(0);
#pragma unroll
    for (int i = 0; i < CONV_RUN; i++) {
        push(past, value[i]);
        if (t + i < f.L)
            y.at(b * f.L + t + i, c) = silu(inner(tap, past, bias));
    }
}

template <class R>
static __device__ void any_taps(const filter<R> &f, const matrix<R> &y,
                                int64_t b, int64_t t, int64_t c)
{
    int64_t end = t + CONV_RUN < f.L ? t + CONV_RUN : f.L;

    for (; t < end; t++)
        y.at(b * f.L + t, c) = silu(pre_activation(f, b, t, c));
}

/* Block: CONV_BLOCK channels of one run of one sequence. */
template <class R, int TAPS>
static __global__ void convolve(filter<R> f, matrix<R> y)
{
    int64_t wide = ceil_div(y.cols, CONV_BLOCK), runs = conv_runs(f.L);
    int64_t c = blockIdx.x % wide * CONV_BLOCK + threadIdx.x;
    int64_t run = blockIdx.x / wide;

    if (c >= y.cols)
        return;
    if constexpr (TAPS > 0)
        few_taps<R, TAPS>(f, y, run / runs, run % runs * CONV_RUN, c);
    else
        any_taps<R>(f, y, run / runs, run % runs * CONV_RUN, c);
}

/* The last K inputs.  Ascending: state_out may be state, and reads run
 * ahead. */
template <class R>
static __global__ void keep_inputs(filter<R> f, matrix<R> state_out)
{
    int64_t c = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

    if (c >= f.x.cols)
        return;
    for (int64_t b = blockIdx.y; b < state_out.rows; b += gridDim.y)
        for (int64_t k = 0; k < f.K; k++)
            state_out.at(b, c * f.K + k) = history(f, b, f.L - f.K + k, c);
}

template <class R, int TAPS>
static cudaError_t launch(struct handle *h, const filter<R> &f, matrix<R> y,
                          int64_t B)
{
    int64_t blocks = B * conv_runs(f.L) * ceil_div(y.cols, CONV_BLOCK);

    return M2_LAUNCH((convolve<R, TAPS>), (unsigned)blocks, CONV_BLOCK, 0,
                     h->stream, f, y);
}

template <class R>
static cudaError_t launch_for(struct handle *h, const filter<R> &f, matrix<R> y,
                              int64_t B)
{
    switch (f.K) {
    case 1:
        return launch<R, 1>(h, f, y, B);
    case 2:
        return launch<R, 2>(h, f, y, B);
    case 3:
        return launch<R, 3>(h, f, y, B);
    case MAX_TAPS:
        return launch<R, MAX_TAPS>(h, f, y, B);
    default:
        return launch<R, 0>(h, f, y, B);
    }
}

template <class R>
int op_conv1d_silu(struct handle *h, const struct m2_conv1d_silu *a,
                   struct m2_error *err)
{
    filter<R> f = {matrix_of<R>(a->x),
                   matrix_of<R>(a->w),
                   matrix_of<R>(a->b),
                   matrix_of<R>(a->state),
                   a->L,
                   a->K};
    matrix<R> kept = matrix_of<R>(a->state_out);
    int code = cuda_check(launch_for<R>(h, f, matrix_of<R>(a->y), a->B),
                          "op conv1d_silu", err);

    if (code != M2_OK || kept.data == NULL)
        return code;
    return cuda_check(M2_LAUNCH(keep_inputs<R>, map_grid(a->B, f.x.cols),
                                MAP_BLOCK, 0, h->stream, f, kept),
                      "op conv1d_silu", err);
}
OP_INSTANTIATE(conv1d_silu, m2_conv1d_silu)
OP_NO_SCRATCH(conv1d_silu, m2_conv1d_silu)
