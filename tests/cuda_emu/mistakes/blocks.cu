/* Planted mistakes: shared memory, barriers, and races between threads. */
#include "mistakes.h"

enum { N = 128 };

/* ---- a missing barrier ----------------------------------------------------
 */

static __global__ void reverse_at_once(const float *from, float *to)
{
    M2_SHARED(float, held, N);

    held[threadIdx.x] = from[threadIdx.x];
    to[threadIdx.x] = held[N - 1 - threadIdx.x];
}

/* Writes again before all have read. */
static __global__ void reverse_twice(const float *from, float *to)
{
    M2_SHARED(float, held, N);
    float v;

    held[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    v = held[N - 1 - threadIdx.x];
    held[threadIdx.x] = v + 1;
    __syncthreads();
    to[threadIdx.x] = held[threadIdx.x];
}

/* The next slice comes before all have read this one. */
static __global__ void sum_slices(const float *from, float *to, int n)
{
    M2_SHARED(float, held, N);
    float sum = 0;

    for (int slice = 0; slice < n; slice++) {
        held[threadIdx.x] = from[slice * N + (int)threadIdx.x];
        __syncthreads();
        sum += held[N - 1 - threadIdx.x];
    }
    to[threadIdx.x] = sum;
}

/* Warps do not wait for each other here. */
static __global__ void reverse_by_warps(const float *from, float *to)
{
    M2_SHARED(float, held, N);

    held[threadIdx.x] = from[threadIdx.x];
    __syncwarp();
    to[threadIdx.x] = held[N - 1 - threadIdx.x];
}

/* Threads of a warp do not run in step. */
static __global__ void reverse_in_step(const float *from, float *to)
{
    M2_SHARED(float, held, 32);

    held[threadIdx.x] = from[threadIdx.x];
    to[threadIdx.x] = held[31 - threadIdx.x];
}

/* A shuffle orders no memory. */
static __global__ void reverse_by_shuffle(const float *from, float *to)
{
    M2_SHARED(float, held, 32);
    float one;

    held[threadIdx.x] = from[threadIdx.x];
    one = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
    to[threadIdx.x] = one * held[31 - threadIdx.x];
}

/* The sum of a warp's lanes, without a barrier before its slot is reused. */
static __global__ void reuse_slot(const float *from, float *to)
{
    M2_SHARED(float, slot, 1);

    for (int i = 0; i < 2; i++) {
        if (threadIdx.x == 0)
            slot[0] = from[i];
        __syncthreads();
        to[i * N + (int)threadIdx.x] = slot[0];
    }
}

static void on_reversed(void (*kernel)(const float *, float *), unsigned n)
{
    float *from = filled(n, 2), *to = array_of<float>(n);

    RUN(kernel, 1, n, (const float *)from, to);
    RESULT(all_are(to, n, 2));
}

static void no_barrier(void)
{
    on_reversed(reverse_at_once, N);
}
static void warps_alone(void)
{
    on_reversed(reverse_by_warps, N);
}
static void lanes_in_step(void)
{
    on_reversed(reverse_in_step, 32);
}
static void shuffle_as_barrier(void)
{
    on_reversed(reverse_by_shuffle, 32);
}

static void write_after_read(void)
{
    float *to = array_of<float>(N);

    RUN(reverse_twice, 1, N, (const float *)filled(N, 2), to);
    RESULT(all_are(to, N, 3));
}

static void next_slice(void)
{
    float *to = array_of<float>(N), sums[N];

    RUN(sum_slices, 1, N, (const float *)counted(4 * N, 0), to, 4);
    fetch(sums, to, sizeof sums, first());
    for (int i = 0; i < N; i++) /* sum over slices of slice * N + N - 1 - i */
        RESULT(sums[i] == 6 * N + 4 * (N - 1 - i));
}

static void slot_reused(void)
{
    float *to = array_of<float>(2 * N);

    RUN(reuse_slot, 1, N, (const float *)counted(2, 1), to);
    RESULT(all_are(to, N, 1));
}

/* ---- barriers that not all reach ------------------------------------------
 */

static __global__ void wait_half(float *to)
{
    if (threadIdx.x < 16)
        __syncthreads();
    to[threadIdx.x] = 1;
}

static __global__ void wait_at_two_places(float *to)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
    to[threadIdx.x] = 1;
}

static __global__ void leave_early(float *to, int n)
{
    if ((int)threadIdx.x >= n)
        return;
    __syncthreads();
    to[threadIdx.x] = 1;
}

static __global__ void wait_in_loop(float *to)
{
    for (unsigned i = 0; i <= threadIdx.x / 32; i++)
        __syncthreads();
    to[threadIdx.x] = 1;
}

static __global__ void wait_for_each_other(float *to)
{
    if (threadIdx.x < 16)
        __syncwarp();
    else
        __syncthreads();
    to[threadIdx.x] = 1;
}

static void half_waits(void)
{
    RUN(wait_half, 1, 64, array_of<float>(64));
}
static void two_places(void)
{
    RUN(wait_at_two_places, 1, 64, array_of<float>(64));
}
static void early_return(void)
{
    RUN(leave_early, 1, 64, array_of<float>(64), 40);
}
static void divergent_loop(void)
{
    RUN(wait_in_loop, 1, 64, array_of<float>(64));
}
static void deadlock(void)
{
    RUN(wait_for_each_other, 1, 32, array_of<float>(32));
}

/* ---- races in device memory -----------------------------------------------
 */

static __global__ void write_one(float *to)
{
    if (threadIdx.x == 0)
        to[0] = (float)blockIdx.x;
}

static __global__ void read_neighbour(float *at)
{
    if (threadIdx.x == 0)
        at[blockIdx.x] = at[(blockIdx.x + 1) % gridDim.x] + 1;
}

static __global__ void write_the_same(float *to)
{
    to[0] = 1;
}

static __global__ void add_one(float *to)
{
    to[0] += 1;
}

/* In place, while a neighbour still reads. */
static __global__ void shift(float *at, int n)
{
    if ((int)threadIdx.x + 1 < n)
        at[threadIdx.x] = at[threadIdx.x + 1];
}

static void blocks_write_one(void)
{
    RUN(write_one, 4, 32, filled(4, 0));
    FINISH();
}
static void blocks_read_each_other(void)
{
    RUN(read_neighbour, 4, 32, filled(4, 0));
    FINISH();
}
static void threads_write_the_same(void)
{
    RUN(write_the_same, 1, 64, filled(1, 0));
    FINISH();
}
static void threads_add(void)
{
    RUN(add_one, 1, 64, filled(1, 0));
    FINISH();
}
static void threads_shift(void)
{
    RUN(shift, 1, 64, counted(64, 0), 64);
    FINISH();
}

/* ---- shared memory itself -------------------------------------------------
 */

static __global__ void read_unset(float *to)
{
    M2_SHARED(float, held, 64);

    if (threadIdx.x < 32)
        held[threadIdx.x] = 1;
    __syncthreads();
    to[threadIdx.x] = held[threadIdx.x];
}

static __global__ void read_of_last_block(float *to)
{
    M2_SHARED(float, held, 64);

    if (blockIdx.x == 0)
        held[threadIdx.x] = 1;
    __syncthreads();
    to[blockIdx.x * 64 + threadIdx.x] = held[threadIdx.x];
}

static __global__ void past_static(float *to)
{
    M2_SHARED(float, held, 64);

    held[threadIdx.x] = 1;
    __syncthreads();
    to[threadIdx.x & 63] = held[threadIdx.x];
}

static __global__ void in_dynamic(float *to, int by)
{
    M2_DYN_SHARED(float, held);

    held[(int)threadIdx.x + by] = 1;
    __syncthreads();
    to[threadIdx.x] = held[(int)threadIdx.x + by];
}

static __global__ void large_static(float *to)
{
    M2_SHARED(float, held, 13000);

    held[threadIdx.x] = 1;
    to[threadIdx.x] = held[threadIdx.x];
}

static void shared_unset(void)
{
    float *to = array_of<float>(64);

    RUN(read_unset, 1, 64, to);
    RESULT(all_are(to, 64, 1));
}
static void shared_of_last_block(void)
{
    float *to = array_of<float>(128);

    RUN(read_of_last_block, 2, 64, to);
    RESULT(all_are(to, 128, 1));
}
static void static_past_end(void)
{
    RUN(past_static, 1, 66, array_of<float>(64));
}
static void dynamic_past_end(void)
{
    GOOD(M2_LAUNCH(in_dynamic, 1, 64, 64 * sizeof(float), first(),
                   array_of<float>(64), 1));
    FINISH();
}
static void dynamic_before(void)
{
    GOOD(M2_LAUNCH(in_dynamic, 1, 64, 64 * sizeof(float), first(),
                   array_of<float>(64), -1));
    FINISH();
}
static void static_too_large(void)
{
    RUN(large_static, 1, 32, array_of<float>(32));
    FINISH();
}

static const struct mistake mistakes[] = {
    {"no barrier between write and read", no_barrier, "adlrpc", NULL,
     "a read of shared memory that nobody has written"},
    {"no barrier between read and write", write_after_read, "adrpc", NULL,
     "a race ("},
    {"no barrier before the next slice", next_slice, "adrpc", NULL, "a race ("},
    {"no barrier before a slot is used again", slot_reused, "apc", NULL,
     "a race ("},
    {"a barrier of the warp where the block's is due", warps_alone, "adc", NULL,
     "a read of shared memory that nobody has written"},
    {"lanes taken to run in step", lanes_in_step, "adrc", NULL,
     "a read of shared memory that nobody has written"},
    {"a shuffle taken for a barrier", shuffle_as_barrier, "c", "a race (",
     NULL},
    {"a barrier that half of the threads reach", half_waits, "adrc",
     "a barrier (", NULL},
    {"a barrier at two places", two_places, "adrc", "barriers diverge", NULL},
    {"a barrier after a return", early_return, "adrc", "a barrier (", NULL},
    {"a barrier in a loop of uneven length", divergent_loop, "adrc",
     "a barrier (", NULL},
    {"threads that wait for each other", deadlock, "adrc",
     "deadlock in block (0,0,0)", NULL},
    {"blocks that write one number", blocks_write_one, "pc", NULL,
     "a race (two writes)"},
    {"blocks that read each other's numbers", blocks_read_each_other, "pc",
     NULL, "a race ("},
    {"threads that write one number, all the same", threads_write_the_same, "c",
     "a race (two writes)", NULL},
    {"threads that add to one number", threads_add, "c", "a race (", NULL},
    {"a shift in place", threads_shift, "pc", NULL, "a race ("},
    {"shared memory that nobody has written", shared_unset, "adlrc", NULL,
     "a read of shared memory that nobody has written"},
    {"shared memory of the block before", shared_of_last_block, "adc", NULL,
     "a read of shared memory that nobody has written"},
    {"a write past a static array", static_past_end, "adc",
     "a write past the end of a shared array of 256 bytes",
     "a write of shared memory out of bounds"},
    {"a write past the dynamic array", dynamic_past_end, "adc",
     "offset 256 of 256 bytes of dynamic shared memory",
     "a write of shared memory out of bounds"},
    {"a write before the dynamic array", dynamic_before, "c",
     "a write of shared memory out of bounds", NULL},
    {"more static shared memory than there is", static_too_large, "ac",
     "bytes of static shared memory", NULL},
};
static const int added =
    emu_add_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0]);
