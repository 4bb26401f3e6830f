/* Correct programs, which must pass in every mode: what is reported here would
 * be reported wrongly. */
#include "mistakes.h"

static const unsigned FULL = 0xffffffffu;

/* ---- within a block -------------------------------------------------------
 */

static __global__ void reverse(const float *from, float *to)
{
    M2_SHARED(float, held, 128);

    held[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = held[127 - threadIdx.x];
}

/* One barrier per slice is enough with two buffers. */
static __global__ void sum_slices(const float *from, float *to, int n)
{
    M2_SHARED(float, held, 2 * 64);
    float sum = 0;

    for (int slice = 0; slice < n; slice++) {
        float *buffer = held + slice % 2 * 64;

        buffer[threadIdx.x] = from[slice * 64 + (int)threadIdx.x];
        __syncthreads();
        sum += buffer[63 - threadIdx.x];
    }
    to[threadIdx.x] = sum;
}

/* Lanes, then warps, then one thread; all read what it wrote. */
static __global__ void sum_of_block(const float *from, float *to)
{
    M2_SHARED(float, of_warp, 33);
    float v = from[blockIdx.x * blockDim.x + threadIdx.x];

    for (int by = 16; by > 0; by /= 2)
        v += __shfl_down_sync(FULL, v, by);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        of_warp[32] = 0;
        for (unsigned w = 0; w < blockDim.x / 32; w++)
            of_warp[32] += of_warp[w];
    }
    __syncthreads();
    to[blockIdx.x * blockDim.x + threadIdx.x] = of_warp[32];
}

/* All lanes read a number before one of them writes it. */
static __global__ void replace_after_read(const float *from, float *to)
{
    M2_SHARED(float, held, 2);
    float sum = 0;
    unsigned warp = threadIdx.x / 32;

    for (int i = 0; i < 3; i++) {
        if (threadIdx.x % 32 == 0)
            held[warp] = from[i];
        __syncwarp();
        sum += held[warp];
        __syncwarp();
    }
    to[threadIdx.x] = sum;
}

/* The halves of a warp go their own ways. */
static __global__ void halves(float *to)
{
    float v = (float)(threadIdx.x % 16);

    if (threadIdx.x % 32 < 16) {
        for (int by = 8; by > 0; by /= 2)
            v += __shfl_xor_sync(0xffffu, v, by);
    } else {
        for (int by = 8; by > 0; by /= 2)
            v += __shfl_xor_sync(0xffff0000u, v, by);
        v += 0 * (float)__popc(__ballot_sync(0xffff0000u, v > 0));
    }
    to[threadIdx.x] = v;
}

static __global__ void in_dynamic(float *to, int n)
{
    M2_DYN_SHARED(float, held);

    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        held[i] = (float)i;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        to[i] = held[n - 1 - i] + (float)(i + 1 - n);
}

static void run_reverse(void)
{
    float *to = array_of<float>(128);

    RUN(reverse, 1, 128, (const float *)filled(128, 2), to);
    EXPECT(all_are(to, 128, 2));
}

static void run_slices(void)
{
    float *to = array_of<float>(64);

    RUN(sum_slices, 1, 64, (const float *)filled(5 * 64, 2), to, 5);
    EXPECT(all_are(to, 64, 10));
}

static void run_sum(void)
{
    float *to = array_of<float>(3 * 256);

    RUN(sum_of_block, 3, 256, (const float *)filled(3 * 256, 1), to);
    EXPECT(all_are(to, 3 * 256, 256));
}

static void run_replace(void)
{
    float *to = array_of<float>(64);

    RUN(replace_after_read, 1, 64, (const float *)counted(3, 1), to);
    EXPECT(all_are(to, 64, 6));
}

static void run_halves(void)
{
    float *to = array_of<float>(64);

    RUN(halves, 1, 64, to);
    EXPECT(all_are(to, 64, 120));
}

/* 80 kB: more than there is without opting in. */
static void run_dynamic(void)
{
    enum { COUNT = 20000 };
    float *to = array_of<float>(COUNT);

    GOOD(cudaFuncSetAttribute(in_dynamic,
                              cudaFuncAttributeMaxDynamicSharedMemorySize,
                              COUNT * (int)sizeof(float)));
    GOOD(M2_LAUNCH(in_dynamic, 1, 96, COUNT * sizeof(float), first(), to,
                   (int)COUNT));
    EXPECT(all_are(to, COUNT, 0));
}

/* ---- across blocks --------------------------------------------------------
 */

/* Blocks and threads of more dimensions than one. */
static __global__ void plane(float *to, int rows, int columns)
{
    int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    int column = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (row < rows && column < columns)
        to[row * columns + column] = 4;
}

/* Threads of two blocks write bytes of the same word. */
static __global__ void set_bytes(unsigned char *to)
{
    if (threadIdx.x == 0)
        to[blockIdx.x] = (unsigned char)blockIdx.x;
}

static __global__ void count(int *of, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    atomicAdd(&of[i % n], 1);
    atomicMax(&of[n], i);
}

/* All threads read the first number, and each writes its own. */
static __global__ void broadcast(const float *from, float *to, int n)
{
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += (int)(gridDim.x * blockDim.x))
        to[i] = from[0] + 1;
}

static void run_plane(void)
{
    float *to = array_of<float>(7 * 13);

    RUN(plane, dim3(2, 4), dim3(8, 2), to, 7, 13);
    EXPECT(all_are(to, 7 * 13, 4));
}

static void run_bytes(void)
{
    unsigned char *to = array_of<unsigned char>(5), host[5];

    RUN(set_bytes, 5, 32, to);
    fetch(host, to, sizeof host, first());
    for (int i = 0; i < 5; i++)
        EXPECT(host[i] == i);
    GOOD(cudaFree(to));
}

static void run_count(void)
{
    int *of = zeroes(4), host[4];

    RUN(count, 5, 96, of, 3);
    fetch(host, of, sizeof host, first());
    EXPECT(host[0] == 160 && host[2] == 160 && host[3] == 479);
}

/* Read by all in one kernel, written by the next. */
static void run_broadcast(void)
{
    float *one = filled(1, 1), *to = array_of<float>(100);

    RUN(broadcast, 2, 32, (const float *)one, to, 100);
    RUN(broadcast, 1, 32, (const float *)to, one, 1);
    EXPECT(all_are(one, 1, 3));
}

/* ---- what a thread may touch ----------------------------------------------
 */

static const float table[4] = {1, 2, 3, 4};

struct parts {
    const float *from;
    float *to;
    float factors[6];
    int n;
};

/* Its arguments, its stack, constants, aligned vectors. */
static __global__ void gather(struct parts p)
{
    float held[8];
    float4 four = *(const float4 *)(p.from + 4 * (threadIdx.x % 2));

    for (int i = 0; i < 8; i++)
        held[(i + (int)threadIdx.x) % 8] = p.factors[i % 6] + table[i % 4];
    if ((int)threadIdx.x < p.n)
        p.to[threadIdx.x] =
            held[threadIdx.x % 8] + four.x + four.w - p.factors[0] - table[0];
}

static void run_gather(void)
{
    struct parts p = {
        filled(8, 1), array_of<float>(40), {1, 2, 3, 4, 5, 6}, 40};

    RUN(gather, 1, 64, p);
    EXPECT(value_at(p.to, 0) == 2 && value_at(p.to, 8) == 2);
}

/* An argument at the end of its array, of which nothing is read. */
static void run_empty_tail(void)
{
    float *to = filled(16, 1);

    RUN(set_numbers, 1, 32, to + 16, 0, 5.0f);
    RUN(set_numbers, 1, 32, to + 8, 8, 1.0f);
    EXPECT(all_are(to, 16, 1));
}

static void run_again(void)
{
    for (int i = 1; i < 5; i++) {
        float *to = array_of<float>((size_t)(100 * i));

        RUN(set_numbers, 4, 128, to, 100 * i, (float)i);
        EXPECT(all_are(to, (size_t)(100 * i), (float)i));
        GOOD(cudaFree(to));
    }
}

/* ---- streams, graphs, cuBLAS ----------------------------------------------
 */

/* `waiting` goes on after all that `stream` has. */
static void follow(cudaStream_t stream, cudaStream_t waiting)
{
    cudaEvent_t event;

    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    GOOD(cudaEventRecord(event, stream));
    GOOD(cudaStreamWaitEvent(waiting, event, 0));
    GOOD(cudaEventDestroy(event));
}

static void run_streams(void)
{
    float *a = filled(64, 1), *b = filled(64, 0), *c = filled(64, 0);

    RUN(copy_numbers, 1, 64, (const float *)a, b, 64);
    follow(first(), second());
    GOOD(M2_LAUNCH(copy_numbers, 1, 64, 0, second(), (const float *)b, c, 64));
    follow(second(), first());
    RUN(set_numbers, 1, 64, b, 64, 9.0f);
    EXPECT(all_are(c, 64, 1));
}

/* A fork and a join in a graph, whose staging the host fills in between. */
static void run_graph(void)
{
    float *staging = (float *)(void *)new_pinned(4), *a = array_of<float>(1);
    float *b = array_of<float>(1), *c = array_of<float>(1);
    cudaGraph_t graph;
    cudaGraphExec_t executable;

    (void)second();
    GOOD(cudaStreamBeginCapture(first(), cudaStreamCaptureModeThreadLocal));
    GOOD(cudaMemcpyAsync(a, staging, 4, cudaMemcpyHostToDevice, first()));
    follow(first(), second());
    RUN(copy_numbers, 1, 32, (const float *)a, b, 1);
    GOOD(M2_LAUNCH(copy_numbers, 1, 32, 0, second(), (const float *)a, c, 1));
    follow(second(), first());
    RUN(broadcast, 1, 32, (const float *)c, b, 1);
    GOOD(cudaStreamEndCapture(first(), &graph));
    GOOD(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 1; i < 4; i++) {
        *staging = (float)i;
        GOOD(cudaGraphLaunch(executable, first()));
        EXPECT(value_at(b, 0) == (float)i + 1);
    }
    GOOD(cudaGraphExecDestroy(executable));
    GOOD(cudaGraphDestroy(graph));
}

static void run_product(void)
{
    cublasHandle_t blas;
    float *a = filled(64, 1), *c = array_of<float>(64), one = 1, zero = 0;

    (void)cublasCreate(&blas);
    (void)cublasSetStream(blas, first());
    (void)cublasSetWorkspace(blas, new_device(1 << 20), 1 << 20);
    (void)cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, a, 8,
                      &zero, c, 8);
    RUN(copy_numbers, 1, 64, (const float *)c, a, 64);
    EXPECT(all_are(a, 64, 8));
    EXPECT_EQUAL(cublasDestroy(blas), CUBLAS_STATUS_SUCCESS);
}

static const int added =
    emu_add_correct("correct: a barrier between write and read", run_reverse) +
    emu_add_correct("correct: slices in two buffers", run_slices) +
    emu_add_correct("correct: the sum of a block", run_sum) +
    emu_add_correct("correct: lanes read, then one writes", run_replace) +
    emu_add_correct("correct: two halves of a warp", run_halves) +
    emu_add_correct("correct: 80 kB of dynamic shared memory", run_dynamic) +
    emu_add_correct("correct: blocks in two dimensions", run_plane) +
    emu_add_correct("correct: bytes of one word from two blocks", run_bytes) +
    emu_add_correct("correct: counting atomically", run_count) +
    emu_add_correct("correct: all read one number", run_broadcast) +
    emu_add_correct("correct: arguments, stack, constants", run_gather) +
    emu_add_correct("correct: a pointer to the end", run_empty_tail) +
    emu_add_correct("correct: memory freed and allocated", run_again) +
    emu_add_correct("correct: streams with events", run_streams) +
    emu_add_correct("correct: a graph with two branches", run_graph) +
    emu_add_correct("correct: a product and a kernel", run_product);
