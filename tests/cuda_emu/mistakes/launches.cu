/* Planted mistakes: warp operations, atomics, and how kernels are launched. */
#include "mistakes.h"

static const unsigned FULL = 0xffffffffu;

/* ---- warps ----------------------------------------------------------------
 */

static __global__ void shuffle_all(float *to)
{
    to[threadIdx.x] = __shfl_down_sync(FULL, (float)threadIdx.x, 1);
}

static __global__ void shuffle_half(float *to)
{
    if (threadIdx.x < 16)
        to[threadIdx.x] = __shfl_xor_sync(FULL, 1.0f, 1);
}

/* Lane 0 reads lane 16, which takes no part. */
static __global__ void shuffle_outside(float *to)
{
    if (threadIdx.x < 16)
        to[threadIdx.x] = __shfl_xor_sync(0xffffu, 1.0f, 16);
}

static __global__ void shuffle_not_in_mask(float *to)
{
    to[threadIdx.x] = __shfl_xor_sync(0xffffu, 1.0f, 1);
}

static __global__ void shuffle_at_two_places(float *to)
{
    float v;

    if (threadIdx.x < 16)
        v = __shfl_xor_sync(FULL, 1.0f, 1);
    else
        v = __shfl_xor_sync(FULL, 2.0f, 1);
    to[threadIdx.x] = v;
}

/* Lanes with less to do call less often. */
static __global__ void shuffle_in_loop(float *to)
{
    float v = 0;

    for (unsigned i = 0; i <= threadIdx.x / 16; i++)
        v += __shfl_xor_sync(FULL, 1.0f, 1);
    to[threadIdx.x] = v;
}

static void partial_warp(void)
{
    RUN(shuffle_all, 1, 48, array_of<float>(48));
}
static void half_warp(void)
{
    RUN(shuffle_half, 1, 32, array_of<float>(32));
}
static void outside_mask(void)
{
    RUN(shuffle_outside, 1, 32, array_of<float>(32));
}
static void not_in_mask(void)
{
    RUN(shuffle_not_in_mask, 1, 32, array_of<float>(32));
}
static void two_shuffles(void)
{
    RUN(shuffle_at_two_places, 1, 32, array_of<float>(32));
}
static void uneven_shuffles(void)
{
    RUN(shuffle_in_loop, 1, 32, array_of<float>(32));
}

/* ---- atomics --------------------------------------------------------------
 */

static __global__ void add_atomically(float *to)
{
    atomicAdd(to, 1.0f);
}

static __global__ void add_doubles(double *to)
{
    atomicAdd(to, 1.0);
}

static __global__ void add_and_write(int *to)
{
    if (threadIdx.x > 0)
        atomicAdd(to, 1);
    else
        *to = 5;
}

/* The sum is read before all have added. */
static __global__ void add_and_read(int *sum, int *to)
{
    atomicAdd(sum, 1);
    to[threadIdx.x] = *sum;
}

static void atomic_float(void)
{
    RUN(add_atomically, 1, 32, filled(1, 0));
    FINISH();
}
static void atomic_double(void)
{
    double zero = 0, *to = array_of<double>(1);

    send(to, &zero, sizeof zero, first());
    RUN(add_doubles, 1, 32, to);
    FINISH();
}
static void atomic_and_write(void)
{
    RUN(add_and_write, 1, 32, zeroes(1));
    FINISH();
}
static void atomic_and_read(void)
{
    RUN(add_and_read, 1, 64, zeroes(1), zeroes(64));
    FINISH();
}

/* ---- the launch -----------------------------------------------------------
 */

static __global__ void use_dynamic(float *to)
{
    M2_DYN_SHARED(float, held);

    held[threadIdx.x] = 1;
    to[threadIdx.x] = held[threadIdx.x];
}

static cudaError_t launch(dim3 grid, dim3 block)
{
    return M2_LAUNCH(set_numbers, grid, block, 0, first(), array_of<float>(32),
                     32, 1.0f);
}

static cudaError_t launch_with(size_t bytes)
{
    return M2_LAUNCH(use_dynamic, 1, 32, bytes, first(), array_of<float>(32));
}

static void too_many_threads(void)
{
    REFUSED(launch(1, 2048), cudaErrorInvalidConfiguration);
}
static void too_many_in_all(void)
{
    REFUSED(launch(1, dim3(64, 32)), cudaErrorInvalidConfiguration);
}
static void too_deep_block(void)
{
    REFUSED(launch(1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
}
static void no_block(void)
{
    REFUSED(launch(0, 32), cudaErrorInvalidConfiguration);
}
static void too_high_grid(void)
{
    REFUSED(launch(dim3(1, 65536), 32), cudaErrorInvalidConfiguration);
}
static void not_opted_in(void)
{
    REFUSED(launch_with(60000), cudaErrorInvalidValue);
}

static void more_than_opted_in(void)
{
    GOOD(cudaFuncSetAttribute(
        use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    GOOD(launch_with(60000));
    REFUSED(launch_with(60004), cudaErrorInvalidValue);
}

/* An old device has less than the newest. */
static void more_than_there_is(void)
{
    EXPECT(emu_set("cc", "75"));
    REFUSED(cudaFuncSetAttribute(use_dynamic,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 100000),
            cudaErrorInvalidValue);
}

static void default_stream(void)
{
    (void)M2_LAUNCH(set_numbers, 1, 32, 0, nullptr, array_of<float>(32), 32,
                    1.0f);
}

static void blocking_stream(void)
{
    cudaStream_t stream;

    (void)cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
}

static void destroyed_stream(void)
{
    cudaStream_t stream = new_stream();

    GOOD(cudaStreamDestroy(stream));
    REFUSED(
        M2_LAUNCH(set_numbers, 1, 32, 0, stream, array_of<float>(32), 32, 1.0f),
        cudaErrorInvalidResourceHandle);
}

/* After a fault every call gives its error, until the process ends. */
static void lost_context(void)
{
    float *more;
    cudaError_t lost = cudaErrorIllegalAddress;

    EXPECT(emu_set("fail", "kernel:set_numbers:2"));
    RUN(set_numbers, 1, 32, array_of<float>(32), 32, 1.0f);
    FINISH();
    (void)launch(1, 32);
    EXPECT_EQUAL(cudaStreamSynchronize(first()), lost);
    EXPECT_EQUAL(cudaGetLastError(), lost);
    EXPECT_EQUAL(cudaGetLastError(), lost);
    REFUSED(cudaMalloc(&more, 4), lost);
}

static const struct mistake mistakes[] = {
    {"a shuffle in a block of one warp and a half", partial_warp, "adrc",
     "the block's size is no multiple of 32", NULL},
    {"a shuffle that half of the warp reaches", half_warp, "ac",
     "deadlock in block", NULL},
    {"a shuffle after half of the warp has left", half_warp, "d",
     "names lanes that have left", NULL},
    {"a shuffle that reads a lane outside of its mask", outside_mask, "adrc",
     "which is not in the mask 0xffff", NULL},
    {"a shuffle by lanes that are not in its mask", not_in_mask, "adrc",
     "in which it is not", NULL},
    {"a shuffle at two places", two_shuffles, "adrc", "a warp diverges", NULL},
    {"a shuffle in a loop of uneven length", uneven_shuffles, "ac",
     "names lanes that have left", NULL},
    {"an atomic sum of float", atomic_float, "adlc",
     "no atomics on floating-point numbers", NULL},
    {"an atomic sum of double", atomic_double, "ac",
     "no atomics on floating-point numbers", NULL},
    {"an atomic sum and a plain write", atomic_and_write, "pc", NULL,
     "a race ("},
    {"an atomic sum that is read too early", atomic_and_read, "pc", NULL,
     "a race ("},
    {"2048 threads in a block", too_many_threads, "alc", "refused", NULL},
    {"64 by 32 threads in a block", too_many_in_all, "a", "refused", NULL},
    {"a block of depth 65", too_deep_block, "a", "refused", NULL},
    {"a grid without blocks", no_block, "ac", "refused", NULL},
    {"a grid of 65536 rows", too_high_grid, "a", "refused", NULL},
    {"dynamic shared memory without opting in", not_opted_in, "ac", "refused",
     NULL},
    {"dynamic shared memory beyond what was opted in", more_than_opted_in, "ac",
     "refused", NULL},
    {"opting in to more than an old device has", more_than_there_is, "a",
     "refused", NULL},
    {"the default stream", default_stream, "ac", "no work on the default",
     NULL},
    {"a stream that waits for the default one", blocking_stream, "ac",
     "cudaStreamNonBlocking", NULL},
    {"a destroyed stream", destroyed_stream, "alc", "refused", NULL},
    {"a call after a kernel has faulted", lost_context, "alc", "refused", NULL},
};
static const int added =
    emu_add_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0]);
