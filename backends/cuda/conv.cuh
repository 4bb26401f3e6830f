/* What the causal convolution's two passes share: specification section 4.5.
 *
 * A thread walks along a run of CONV_RUN steps of one channel.  With 1 to 4
 * taps, as all models have, the filter and the inputs it covers stay in
 * registers, and a kernel exists for each number; TAPS is 0 in the one that
 * takes any number. */
#ifndef M2_CUDA_CONV_CUH
#define M2_CUDA_CONV_CUH

#include "backends/cuda/real.cuh"

enum { CONV_RUN = 16, MAX_TAPS = 4 };

template <class R> struct filter {
    matrix<R> x, w, b, state;
    int64_t L;
    int64_t K; /* no padding: kernels take it as it is */
};

/* x_ext[b, t, c], t >= -K. */
template <class R>
static __device__ inline R history(const filter<R> &f, int64_t b, int64_t t,
                                   int64_t c)
{
    if (t >= 0)
        return f.x.at(b * f.L + t, c);
    return f.state.data != NULL ? f.state.at(b, c * f.K + f.K + t) : R(0);
}

template <class R>
static __device__ inline R bias_of(const filter<R> &f, int64_t c)
{
    return f.b.data != NULL ? f.b.data[c] : R(0);
}

/* The value that SiLU is applied to, for any number of taps. */
template <class R>
static __device__ inline R pre_activation(const filter<R> &f, int64_t b,
                                          int64_t t, int64_t c)
{
    R sum = bias_of(f, c);

    for (int64_t k = 0; k < f.K; k++)
        sum += f.w.at(c, k) * history(f, b, t - (f.K - 1) + k, c);
    return sum;
}

/* The oldest of the TAPS values goes, the new one comes last. */
template <int TAPS, class R>
static __device__ inline void push(R (&past)[TAPS], R value)
{
#pragma unroll
    for (int k = 0; k + 1 < TAPS; k++)
        past[k] = past[k + 1];
    past[TAPS - 1] = value;
}

/* past[1 ..] become the inputs right before step t, ready for push. */
template <int TAPS, class R>
static __device__ inline void look_back(R (&past)[TAPS], const filter<R> &f,
                                        int64_t b, int64_t t, int64_t c)
{
    past[0] = R(0);
#pragma unroll
    for (int k = 1; k < TAPS; k++)
        past[k] = history(f, b, t - TAPS + k, c);
}

template <int TAPS, class R>
static __device__ inline R inner(const R (&a)[TAPS], const R (&b)[TAPS], R sum)
{
#pragma unroll
    for (int k = 0; k < TAPS; k++)
        sum += a[k] * b[k];
    return sum;
}

static __host__ __device__ inline int64_t conv_runs(int64_t L)
{
    return ceil_div(L, CONV_RUN);
}

#endif
