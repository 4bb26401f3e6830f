/* Cases: devices, errors that were asked for, and what is left at the end. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- no device ---------------------------------------------------------- */

static void expect_no_device(cudaError_t error, const char *words)
{
    int count = 77;
    char *memory = NULL;
    cublasHandle_t blas = NULL;

    EXPECT_EQUAL(cudaGetDeviceCount(&count), error);
    EXPECT_EQUAL(count, 77);
    EXPECT_EQUAL(cudaGetLastError(), error);
    EXPECT_EQUAL(cudaSetDevice(0), error);
    EXPECT_EQUAL(cudaMalloc(&memory, 16), error);
    EXPECT_EQUAL(cublasCreate(&blas), CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT(blas == NULL);
    EXPECT(strcmp(cudaGetErrorString(error), words) == 0);
}

static void driver_too_old(void)
{
    expect_no_device(
        cudaErrorInsufficientDriver,
        "CUDA driver version is insufficient for CUDA runtime version");
    EXPECT(strcmp(cudaGetErrorName(cudaErrorInsufficientDriver),
                  "cudaErrorInsufficientDriver") == 0);
}

static void no_device(void)
{
    expect_no_device(cudaErrorNoDevice, "no CUDA-capable device is detected");
}

/* ---- several ------------------------------------------------------------ */

static void three_devices(void)
{
    int count = 0, device = 0;
    char first[32], last[32];

    GOOD(cudaGetDeviceCount(&count));
    EXPECT_EQUAL(count, 3);
    GOOD(cudaDeviceGetPCIBusId(first, sizeof first, 0));
    GOOD(cudaDeviceGetPCIBusId(last, sizeof last, 2));
    EXPECT(strcmp(first, last) != 0);
    GOOD(cudaSetDevice(2));
    GOOD(cudaGetDevice(&device));
    EXPECT_EQUAL(device, 2);
    EXPECT_EQUAL(cudaSetDevice(3), cudaErrorInvalidDevice);
    EXPECT_EQUAL(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT_EQUAL(cudaDeviceGetPCIBusId(last, sizeof last, 3),
                 cudaErrorInvalidDevice);
    GOOD(cudaGetDevice(&device));
    EXPECT_EQUAL(device, 2);
}

static size_t free_memory(void)
{
    size_t free_bytes = 0, total = 0;

    GOOD(cudaMemGetInfo(&free_bytes, &total));
    EXPECT_EQUAL(total, 1048576);
    return free_bytes;
}

static void memory_by_device(void)
{
    char *memory = new_device(1000000);

    EXPECT_EQUAL(free_memory(), 1048576 - 1000000);
    GOOD(cudaSetDevice(1));
    EXPECT_EQUAL(free_memory(), 1048576);
    new_device(1000000);
    GOOD(cudaFree(memory)); /* of device 0, though 1 is selected */
    EXPECT_EQUAL(free_memory(), 1048576 - 1000000);
    GOOD(cudaSetDevice(0));
    EXPECT_EQUAL(free_memory(), 1048576);
}

static void memory_limit(void)
{
    char *memory = new_device(1000000), *more = NULL;

    EXPECT_EQUAL(cudaMalloc(&more, 50000), cudaErrorMemoryAllocation);
    EXPECT(more == NULL);
    EXPECT_EQUAL(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQUAL(cudaMalloc(&more, (size_t)-1), cudaErrorMemoryAllocation);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation),
                  "out of memory") == 0);
    GOOD(cudaFree(memory));
    EXPECT_EQUAL(free_memory(), 1048576);
    GOOD(cudaMalloc(&more, 1048576));
}

static void properties(void)
{
    cudaDeviceProp device;
    int value = 0, driver = 0, runtime = 0;

    GOOD(cudaGetDeviceProperties(&device, 0));
    EXPECT_EQUAL(device.major, 7);
    EXPECT_EQUAL(device.minor, 5);
    EXPECT_EQUAL(device.sharedMemPerBlockOptin, 64 << 10);
    EXPECT_EQUAL(device.totalGlobalMem, 123456789);
    EXPECT_EQUAL(device.warpSize, 32);
    GOOD(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT_EQUAL(value, 7);
    GOOD(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                0));
    EXPECT_EQUAL(value, 64 << 10);
    GOOD(cudaDriverGetVersion(&driver));
    GOOD(cudaRuntimeGetVersion(&runtime));
    EXPECT(driver >= runtime && runtime >= 11000);
    EXPECT_EQUAL(cudaGetDeviceProperties(&device, 1), cudaErrorInvalidDevice);
}

/* ---- calls that fail on order ------------------------------------------- */

static void second_malloc(void)
{
    char *memory = NULL;

    new_device(16);
    EXPECT_EQUAL(cudaMalloc(&memory, 16), cudaErrorUnknown);
    EXPECT(memory == NULL);
    EXPECT_EQUAL(cudaPeekAtLastError(), cudaErrorUnknown);
    EXPECT_EQUAL(cudaGetLastError(), cudaErrorUnknown);
    EXPECT_EQUAL(cudaGetLastError(), cudaSuccess);
    new_device(16);
}

static void third_of_any(void)
{
    char *memory = new_device(16);
    cudaStream_t stream = new_stream();

    EXPECT_EQUAL(cudaMemsetAsync(memory, 0, 16, stream),
                 cudaErrorInvalidConfiguration);
    GOOD(cudaMemsetAsync(memory, 0, 16, stream));
}

/* What is to be given back is given back even where the call is to fail:
 * otherwise no test of errors could ask that nothing is left. */
static void failed_free(void)
{
    char *memory = new_device(16), *pinned = new_pinned(16);
    cudaStream_t stream = new_stream();

    EXPECT_EQUAL(cudaFree(memory), cudaErrorUnknown);
    EXPECT_EQUAL(cudaFreeHost(pinned), cudaErrorUnknown);
    EXPECT_EQUAL(cudaStreamDestroy(stream), cudaErrorUnknown);
    EXPECT_EQUAL(emu_live_count() + emu_pinned_count() + emu_stream_count(), 0);
}

static __global__ void set_to(char *memory, int value)
{
    memory[threadIdx.x] = (char)value;
}

static cudaError_t launch(cudaStream_t stream, char *memory, int value)
{
    cudaLaunchConfig_t config = {};

    config.blockDim = 32;
    config.stream = stream;
    emu_next_name("set_to", __FILE__, __LINE__);
    return cudaLaunchKernelEx(&config, set_to, memory, value);
}

static void second_kernel(void)
{
    cudaStream_t stream = new_stream();
    char *memory = new_device(32), got[32];

    GOOD(launch(stream, memory, 1));
    EXPECT_EQUAL(launch(stream, memory, 2), cudaErrorInvalidConfiguration);
    EXPECT_EQUAL(cudaGetLastError(), cudaErrorInvalidConfiguration);
    fetch(got, memory, 32, stream);
    EXPECT_EQUAL(got[31], 1);
    GOOD(launch(stream, memory, 3));
    fetch(got, memory, 32, stream);
    EXPECT_EQUAL(got[31], 3);
}

/* An illegal address loses the context: every later call fails, the error
 * stays, but what the program gives back is off the books. */
static void lost_context(void)
{
    cudaStream_t stream = new_stream();
    char *memory = new_device(16), *more = NULL;
    size_t free_bytes, total;

    GOOD(cudaMemsetAsync(memory, 0, 16, stream));
    EXPECT_EQUAL(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
    EXPECT_EQUAL(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQUAL(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQUAL(cudaMalloc(&more, 16), cudaErrorIllegalAddress);
    EXPECT_EQUAL(cudaMemGetInfo(&free_bytes, &total), cudaErrorIllegalAddress);
    EXPECT_EQUAL(launch(stream, memory, 1), cudaErrorIllegalAddress);
    EXPECT_EQUAL(cudaFree(memory), cudaErrorIllegalAddress);
    EXPECT_EQUAL(cudaStreamDestroy(stream), cudaErrorIllegalAddress);
    EXPECT_EQUAL(emu_live_count() + emu_stream_count(), 0);
}

/* ---- what is left ------------------------------------------------------- */

static void leave_things(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event;

    new_pinned(100);
    new_device(300);
    new_device(20);
    GOOD(cudaFree(new_device(1000)));
    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    GOOD(cudaEventRecord(event, stream));
    setenv("M2_EMU_STATS", "/dev/stderr", 1);
    exit(0); /* as a program ends that forgot to give things back */
}

/* Keys in the order in which the emulator writes them. */
static const char left_line[] =
    "\"live_allocations\": 2, \"live_bytes\": 320, \"pinned\": 1, "
    "\"streams\": 1, \"events\": 1, \"graphs\": 0";

static void wrong_setting(void)
{
    EXPECT(!emu_set("order", "sideways"));
    EXPECT(!emu_set("async", "sometimes"));
    EXPECT(!emu_set("driver", "bad"));
    EXPECT(!emu_set("fail", "cudaMalloc"));
    EXPECT(!emu_set("speed", "1"));
    EXPECT(emu_set("order", "rand:7"));
    EXPECT(emu_set("fail", "kernel:x:3:700"));
}

static const emu_case cases[] = {
    {"no driver: every call says so", "driver=none", driver_too_old, 0, NULL},
    {"driver too old: every call says so", "driver=old", driver_too_old, 0,
     NULL},
    {"no device: every call says so", "devices=0", no_device, 0, NULL},
    {"three devices have numbers and addresses", "devices=3", three_devices, 0,
     NULL},
    {"memory is counted by device", "devices=2,mem=1048576", memory_by_device,
     0, NULL},
    {"memory has a limit", "mem=1048576", memory_limit, 0, NULL},
    {"a device has the properties asked for", "cc=75,mem=123456789", properties,
     0, NULL},
    {"the k-th call of a name fails", "fail=cudaMalloc:2", second_malloc, 0,
     NULL},
    {"the k-th call of all fails, with an error", "fail=any:3:9", third_of_any,
     0, NULL},
    {"a free that fails has freed",
     "fail=cudaFree:1,fail=cudaFreeHost:1,fail=cudaStreamDestroy:1",
     failed_free, 0, NULL},
    {"the k-th launch of a kernel fails", "fail=kernel:set_to:2:9",
     second_kernel, 0, NULL},
    {"an illegal address loses the context", "fail=cudaStreamSynchronize:1:700",
     lost_context, 0, NULL},
    {"what is left at the end is counted", "", leave_things, 0, left_line},
    {"a wrong setting is refused", "", wrong_setting, 0, NULL},
};

static __attribute__((constructor)) void add(void)
{
    emu_add_cases(cases, sizeof cases / sizeof *cases);
}
