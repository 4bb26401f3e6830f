/* Planted mistakes: device memory, and pointers that are none of it. */
#include "mistakes.h"

#include <string.h>

static volatile float seen;

__global__ void copy_numbers(const float *from, float *to, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        to[i] = from[i];
}

__global__ void set_numbers(float *to, int n, float v)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        to[i] = v;
}

/* ---- the host touches it --------------------------------------------------
 */

static void host_reads(void)
{
    float *device = filled(4, 1);

    seen = device[1];
}

static void host_writes(void)
{
    float *device = filled(4, 1);

    device[1] = 2;
}

static void host_sets(void)
{
    memset(filled(4000, 1), 0, 16000);
}

/* ---- host memory in a kernel ----------------------------------------------
 */

struct holder {
    int n;
    float *to;
    const float *from;
};

static __global__ void set_held(struct holder held)
{
    if ((int)threadIdx.x < held.n)
        held.to[threadIdx.x] = 1;
}

static __global__ void follow(const float *const *from, float *to)
{
    *to = **from;
}

static volatile float host_number = 3;

static __global__ void read_host_number(float *to)
{
    to[threadIdx.x] = host_number;
}

static void host_pointer(void)
{
    float host[4] = {1, 2, 3, 4};

    RUN(copy_numbers, 1, 4, (const float *)host, array_of<float>(4), 4);
    FINISH();
}

static void host_pointer_in_struct(void)
{
    std::vector<float> host(100);
    struct holder held = {4, array_of<float>(4), host.data()};

    RUN(set_held, 1, 32, held);
    FINISH();
}

static void host_pointer_in_memory(void)
{
    static float number = 1;
    float *there = &number;
    float **from = array_of<float *>(1);

    send(from, &there, sizeof there, first());
    RUN(follow, 1, 1, (const float *const *)from, array_of<float>(1));
    FINISH();
}

static void host_global(void)
{
    RUN(read_host_number, 1, 32, array_of<float>(32));
    FINISH();
}

static void pinned_pointer(void)
{
    const float *pinned = (const float *)(void *)new_pinned(16);

    RUN(copy_numbers, 1, 4, pinned, array_of<float>(4), 4);
    FINISH();
}

/* ---- beyond its ends ------------------------------------------------------
 */

static __global__ void set_bytes(unsigned char *to, int n)
{
    if ((int)threadIdx.x < n)
        to[threadIdx.x] = (unsigned char)threadIdx.x;
}

static __global__ void set_one_before(float *to)
{
    to[(int)threadIdx.x - 1] = 1;
}

/* The product is past 2^31. */
static __global__ void set_row(float *to, int row, int width)
{
    int i = (int)((unsigned)row * (unsigned)width + threadIdx.x);

    to[i] = 1;
}

static void reads_past_end(void)
{
    RUN(copy_numbers, 1, 256, (const float *)filled(128, 1),
        array_of<float>(129), 129);
    FINISH();
}

static void writes_past_end(void)
{
    RUN(set_numbers, 1, 256, array_of<float>(128), 129, 1.0f);
    FINISH();
}

/* Between the end and the next multiple of 16. */
static void writes_just_past_end(void)
{
    unsigned char *bytes = array_of<unsigned char>(13);

    RUN(set_bytes, 1, 32, bytes, 14);
    FINISH();
    GOOD(cudaFree(bytes));
}

static void reads_just_past_end(void)
{
    RUN(copy_numbers, 1, 32, (const float *)filled(5, 1), array_of<float>(6),
        6);
    FINISH();
}

static void writes_before(void)
{
    float *numbers = array_of<float>(128);

    RUN(set_one_before, 1, 32, numbers);
    FINISH();
    GOOD(cudaFree(numbers));
}

static void index_overflows(void)
{
    RUN(set_row, 1, 32, array_of<float>(64), 70000, 40000);
    FINISH();
}

static void argument_past_end(void)
{
    RUN(set_numbers, 1, 32, array_of<float>(128) + 200, 1, 1.0f);
    FINISH();
}

/* ---- what is in it --------------------------------------------------------
 */

static __global__ void read_four(float *at)
{
    at[0] = ((const float4 *)(at + 1))->x;
}

static void unwritten(void)
{
    float *to = array_of<float>(32);

    RUN(copy_numbers, 1, 32, (const float *)array_of<float>(32), to, 32);
    RESULT(value_at(to, 0) == 0);
}

/* Reads a tensor of which only a part was set. */
static void unwritten_tail(void)
{
    float *from = array_of<float>(33), *to = array_of<float>(33);

    RUN(set_numbers, 1, 32, from, 32, 1.0f);
    RUN(copy_numbers, 1, 64, (const float *)from, to, 33);
    RESULT(value_at(to, 32) == 0);
}

static void misaligned(void)
{
    RUN(read_four, 1, 1, filled(16, 1));
    FINISH();
}

/* ---- freed ----------------------------------------------------------------
 */

static void freed_argument(void)
{
    float *from = filled(64, 1);

    GOOD(cudaFree(from));
    RUN(copy_numbers, 1, 64, (const float *)from, array_of<float>(64), 64);
}

static void freed_in_struct(void)
{
    float *from = filled(64, 1);
    struct holder held = {4, array_of<float>(4), from};

    GOOD(cudaFree(from));
    RUN(set_held, 1, 32, held);
}

static void freed_twice(void)
{
    float *device = array_of<float>(64);

    GOOD(cudaFree(device));
    (void)cudaFree(device);
}

static void pinned_freed_twice(void)
{
    char *pinned = new_pinned(64);

    GOOD(cudaFreeHost(pinned));
    (void)cudaFreeHost(pinned);
}

static void freed_inside(void)
{
    (void)cudaFree(array_of<float>(64) + 1);
}

static void freed_by_wrong_call(void)
{
    (void)cudaFree(new_pinned(64));
}

/* ---- elsewhere ------------------------------------------------------------
 */

static void other_device(void)
{
    float *there;

    EXPECT(emu_set("devices", "2"));
    there = filled(4, 1);
    GOOD(cudaSetDevice(1));
    GOOD(M2_LAUNCH(set_numbers, 1, 4, 0, new_stream(), there, 4, 1.0f));
}

static __device__ __attribute__((noinline)) float deep(int n, float x)
{
    volatile float held[256];

    held[n & 255] = x;
    return n == 0 ? x : deep(n - 1, x + 1) + held[n & 255];
}

static __global__ void recurse(float *to)
{
    to[threadIdx.x] = deep(10000, 1);
}

static void stack_full(void)
{
    RUN(recurse, 1, 1, array_of<float>(1));
    FINISH();
}

static const struct mistake mistakes[] = {
    {"the host reads device memory", host_reads, "adlrc",
     "the host touches device memory: offset 4 of the 16-byte", NULL},
    {"the host writes device memory", host_writes, "ac",
     "the host touches device memory", NULL},
    {"the host's memset of device memory", host_sets, "ac",
     "the host touches device memory", NULL},
    {"a host pointer as argument", host_pointer, "alc",
     "kernel copy_numbers, argument 0: the host pointer", NULL},
    {"a pinned pointer as argument", pinned_pointer, "ac",
     "argument 0: the host pointer", NULL},
    {"a host pointer in a struct", host_pointer_in_struct, "ac",
     "kernel set_held, argument 0: a struct holds the host pointer", NULL},
    {"a host pointer that came in device memory", host_pointer_in_memory, "c",
     "a kernel reads host memory", NULL},
    {"a variable of the host in a kernel", host_global, "c",
     "a kernel reads host memory", NULL},
    {"a read past the end", reads_past_end, "adrc",
     "0 bytes past the end of the 512-byte allocation",
     "a read of device memory out of bounds"},
    {"a write past the end", writes_past_end, "adrc",
     "0 bytes past the end of the 512-byte allocation",
     "a write of device memory out of bounds"},
    {"a write into the rounding past the end", writes_just_past_end, "ac",
     "bytes outside of the allocation were overwritten: 0 bytes past the end",
     "a write of device memory out of bounds"},
    {"a read in the rounding past the end", reads_just_past_end, "c",
     "a read of device memory out of bounds", NULL},
    {"a write before the begin", writes_before, "ac",
     "bytes outside of the allocation were overwritten: 4 bytes before",
     "a write of device memory out of bounds: 4 bytes before"},
    {"an index that overflows int", index_overflows, "ac",
     "a kernel's access to memory that is not there", "a kernel writes host"},
    {"an argument past the end", argument_past_end, "ac",
     "argument 0: a bad device pointer", NULL},
    {"a misaligned vector", misaligned, "c", "a misaligned access", NULL},
    {"memory that nobody has written", unwritten, "adlrc", NULL,
     "a read of device memory that nobody has written"},
    {"a tail that nobody has written", unwritten_tail, "adlrc", NULL,
     "a read of device memory that nobody has written: offset 128"},
    {"a freed argument", freed_argument, "alc", "already freed", NULL},
    {"a freed pointer in a struct", freed_in_struct, "ac", "already freed",
     NULL},
    {"device memory freed twice", freed_twice, "alc",
     "not a live allocation: offset 0", NULL},
    {"pinned memory freed twice", pinned_freed_twice, "ac",
     "which is not pinned memory", NULL},
    {"a free inside of an allocation", freed_inside, "ac",
     "not a live allocation: offset 4", NULL},
    {"cudaFree of pinned memory", freed_by_wrong_call, "ac",
     "which is not device memory", NULL},
    {"memory of another device", other_device, "ac",
     "memory of device 0 on a stream of device 1", NULL},
    {"a recursion that fills the stack", stack_full, "ac",
     "the stack of a thread is full", NULL},
};
static const int added =
    emu_add_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0]);
