/* Sums over a warp and over a block, in an order that never changes. */
#ifndef M2_CUDA_REDUCE_CUH
#define M2_CUDA_REDUCE_CUH

#include "backends/cuda/cuda.cuh"

enum { WARP = 32, FULL_WARP = -1 };

/* Every lane gets the sum. */
template <class T> static __device__ inline T warp_sum(T value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync((unsigned)FULL_WARP, value, distance);
    return value;
}

/* Every thread gets the sum of the block's values; blockDim.x is a multiple of
 * 32 and at most 1024, all threads call it.  shared holds 32 values, and may
 * be used again at once. */
template <class T> static __device__ inline T block_sum(T value, T *shared)
{
    int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    int n_warps = (int)blockDim.x / WARP;

    value = warp_sum(value);
    __syncthreads(); /* readers of the last sum are done */
    if (lane == 0)
        shared[warp] = value;
    __syncthreads();
    return warp_sum(lane < n_warps ? shared[lane] : T(0));
}

/* Sums of a team, which is a warp or the whole block (TEAM threads), at each
 * of its threads.  Without a barrier where it is a warp. */
template <int TEAM, class T>
static __device__ inline T team_sum(T value, T *shared)
{
    return TEAM == WARP ? warp_sum(value) : block_sum(value, shared);
}

#endif
