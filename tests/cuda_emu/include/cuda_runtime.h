/* The part of CUDA's runtime that backends/cuda uses, for a C++ compiler: own
 * text after the public API documentation, with nothing of NVIDIA's in it.
 *
 * What is missing here does not compile, on purpose: a CUDA call that the
 * backend begins to use gets an entry here, behaviour in tests/cuda_emu, and a
 * line in parity.cu, which nvcc compiles against the real headers. */
#ifndef M2_EMU_CUDA_RUNTIME_H
#define M2_EMU_CUDA_RUNTIME_H

#define M2_CUDA_EMU 1

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

/* ---- words of the language ---------------------------------------------- */

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
/* __shared__ is left undefined: launch.cuh has M2_SHARED. */

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
        : x(x), y(y), z(z)
    {
    }
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};

/* ---- errors ----------------------------------------------------------------
 */

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureUnmatched = 903,
    cudaErrorStreamCaptureUnjoined = 904,
    cudaErrorStreamCaptureImplicit = 906,
    cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;

/* ---- types ------------------------------------------------------------------
 */

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventDisableTiming = 2 };
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
    int warpSize, maxThreadsPerBlock, maxGridSize[3];
    int major, minor, multiProcessorCount;
};
struct cudaLaunchAttribute {
    int id;
};
typedef struct {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;

/* ---- the calls ---------------------------------------------------------- */

#define EMU_CALL extern "C" __attribute__((visibility("hidden")))

EMU_CALL cudaError_t cudaGetDeviceCount(int *);
EMU_CALL cudaError_t cudaSetDevice(int);
EMU_CALL cudaError_t cudaGetDevice(int *);
EMU_CALL cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
EMU_CALL cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
EMU_CALL cudaError_t cudaDeviceGetPCIBusId(char *, int, int);
EMU_CALL cudaError_t cudaDriverGetVersion(int *);
EMU_CALL cudaError_t cudaRuntimeGetVersion(int *);
EMU_CALL cudaError_t cudaDeviceSynchronize(void);
EMU_CALL cudaError_t cudaGetLastError(void);
EMU_CALL cudaError_t cudaPeekAtLastError(void);
EMU_CALL const char *cudaGetErrorString(cudaError_t);
EMU_CALL const char *cudaGetErrorName(cudaError_t);
EMU_CALL cudaError_t cudaFree(void *);
EMU_CALL cudaError_t cudaFreeHost(void *);
EMU_CALL cudaError_t cudaMemGetInfo(size_t *, size_t *);
EMU_CALL cudaError_t cudaMemcpyAsync(void *, const void *, size_t,
                                     cudaMemcpyKind, cudaStream_t);
EMU_CALL cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t);
EMU_CALL cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
EMU_CALL cudaError_t cudaStreamDestroy(cudaStream_t);
EMU_CALL cudaError_t cudaStreamSynchronize(cudaStream_t);
EMU_CALL cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
EMU_CALL cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned);
EMU_CALL cudaError_t cudaEventDestroy(cudaEvent_t);
EMU_CALL cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
EMU_CALL cudaError_t cudaEventSynchronize(cudaEvent_t);
EMU_CALL cudaError_t cudaStreamBeginCapture(cudaStream_t,
                                            cudaStreamCaptureMode);
EMU_CALL cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
EMU_CALL cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t,
                                          unsigned long long);
EMU_CALL cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
EMU_CALL cudaError_t cudaGraphDestroy(cudaGraph_t);
EMU_CALL cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);

EMU_CALL cudaError_t emu_malloc(void **out, size_t bytes, const char *file,
                                int line);
EMU_CALL cudaError_t emu_malloc_host(void **out, size_t bytes);
EMU_CALL cudaError_t emu_function_attribute(const void *function,
                                            cudaFuncAttribute attribute,
                                            int value);

template <class T>
static inline cudaError_t cudaMalloc(T **out, size_t bytes,
                                     const char *file = __builtin_FILE(),
                                     int line = __builtin_LINE())
{
    return emu_malloc((void **)out, bytes, file, line);
}
template <class T>
static inline cudaError_t cudaMallocHost(T **out, size_t bytes, unsigned = 0)
{
    return emu_malloc_host((void **)out, bytes);
}
template <class F>
static inline cudaError_t
cudaFuncSetAttribute(F *function, cudaFuncAttribute attribute, int value)
{
    return emu_function_attribute((const void *)function, attribute, value);
}

#include "emu_launch.h"

#include "emu_device.h"

#endif
