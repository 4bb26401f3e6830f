/* Functions of both real types, for kernels. */
#ifndef M2_CUDA_REAL_CUH
#define M2_CUDA_REAL_CUH

#include "backends/cuda/cuda.cuh"

static __device__ inline float real_exp(float x)
{
    return expf(x);
}
static __device__ inline double real_exp(double x)
{
    return exp(x);
}
static __device__ inline float real_log1p(float x)
{
    return log1pf(x);
}
static __device__ inline double real_log1p(double x)
{
    return log1p(x);
}
static __device__ inline float real_sqrt(float x)
{
    return sqrtf(x);
}
static __device__ inline double real_sqrt(double x)
{
    return sqrt(x);
}

/* Without the library's, which the compilers declare in different places. */
static __device__ inline bool is_finite(double x)
{
    return x - x == 0;
}

template <class R> static __device__ inline R sigmoid(R x)
{
    return R(1) / (R(1) + real_exp(-x));
}

template <class R> static __device__ inline R silu(R x)
{
    return x * sigmoid(x);
}

/* d silu(x) / dx = s (1 + x (1 - s)), s = sigmoid(x) */
template <class R> static __device__ inline R silu_slope(R x)
{
    R s = sigmoid(x);

    return s * (R(1) + x * (R(1) - s));
}

#endif
