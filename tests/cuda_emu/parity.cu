/* That the emulator's headers agree with NVIDIA's: nvcc compiles this file
 * against theirs, a C++ compiler against ours.  Values, signatures and struct
 * members that the backend uses; nothing here is ever run. */
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <type_traits>

/* ---- values ------------------------------------------------------------- */

#define VALUE(name, value) static_assert((int)name == value, #name)

VALUE(cudaSuccess, 0);
VALUE(cudaErrorInvalidValue, 1);
VALUE(cudaErrorMemoryAllocation, 2);
VALUE(cudaErrorInitializationError, 3);
VALUE(cudaErrorInvalidConfiguration, 9);
VALUE(cudaErrorInsufficientDriver, 35);
VALUE(cudaErrorNoDevice, 100);
VALUE(cudaErrorInvalidDevice, 101);
VALUE(cudaErrorNoKernelImageForDevice, 209);
VALUE(cudaErrorInvalidResourceHandle, 400);
VALUE(cudaErrorNotReady, 600);
VALUE(cudaErrorIllegalAddress, 700);
VALUE(cudaErrorLaunchFailure, 719);
VALUE(cudaErrorNotSupported, 801);
VALUE(cudaErrorStreamCaptureUnsupported, 900);
VALUE(cudaErrorStreamCaptureInvalidated, 901);
VALUE(cudaErrorStreamCaptureUnmatched, 903);
VALUE(cudaErrorStreamCaptureUnjoined, 904);
VALUE(cudaErrorStreamCaptureImplicit, 906);
VALUE(cudaErrorUnknown, 999);

VALUE(cudaMemcpyHostToHost, 0);
VALUE(cudaMemcpyHostToDevice, 1);
VALUE(cudaMemcpyDeviceToHost, 2);
VALUE(cudaMemcpyDeviceToDevice, 3);
VALUE(cudaMemcpyDefault, 4);
VALUE(cudaStreamDefault, 0);
VALUE(cudaStreamNonBlocking, 1);
VALUE(cudaEventDefault, 0);
VALUE(cudaEventDisableTiming, 2);
VALUE(cudaStreamCaptureModeGlobal, 0);
VALUE(cudaStreamCaptureModeThreadLocal, 1);
VALUE(cudaStreamCaptureModeRelaxed, 2);
VALUE(cudaFuncAttributeMaxDynamicSharedMemorySize, 8);
VALUE(cudaDevAttrMultiProcessorCount, 16);
VALUE(cudaDevAttrComputeCapabilityMajor, 75);
VALUE(cudaDevAttrComputeCapabilityMinor, 76);
VALUE(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97);

VALUE(CUBLAS_STATUS_SUCCESS, 0);
VALUE(CUBLAS_STATUS_NOT_INITIALIZED, 1);
VALUE(CUBLAS_STATUS_ALLOC_FAILED, 3);
VALUE(CUBLAS_STATUS_INVALID_VALUE, 7);
VALUE(CUBLAS_STATUS_ARCH_MISMATCH, 8);
VALUE(CUBLAS_STATUS_EXECUTION_FAILED, 13);
VALUE(CUBLAS_STATUS_INTERNAL_ERROR, 14);
VALUE(CUBLAS_STATUS_NOT_SUPPORTED, 15);
VALUE(CUBLAS_OP_N, 0);
VALUE(CUBLAS_OP_T, 1);
VALUE(CUBLAS_DEFAULT_MATH, 0);
VALUE(CUBLAS_PEDANTIC_MATH, 2);
VALUE(CUBLAS_TF32_TENSOR_OP_MATH, 3);
static_assert(CUBLAS_VER_MAJOR >= 11 && CUBLAS_VER_MINOR >= 0, "version");

/* ---- types -------------------------------------------------------------- */

static_assert(std::is_same<cudaError_t, enum cudaError>::value, "cudaError_t");
static_assert(sizeof(dim3) == 12 && sizeof(uint3) == 12, "dim3, uint3");
static_assert(sizeof(float2) == 8 && alignof(float2) == 8, "float2");
static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "float4");
static_assert(sizeof(double2) == 16 && alignof(double2) == 16, "double2");

/* A type may have more members than are used, and in another order. */
#define MEMBER(type, name, member_type)                                        \
    static_assert(                                                             \
        std::is_same<decltype(((type *)nullptr)->name), member_type>::value,   \
        #type "." #name)

typedef char device_name[256];
typedef int three_ints[3];

MEMBER(cudaDeviceProp, name, device_name);
MEMBER(cudaDeviceProp, totalGlobalMem, size_t);
MEMBER(cudaDeviceProp, sharedMemPerBlock, size_t);
MEMBER(cudaDeviceProp, sharedMemPerBlockOptin, size_t);
MEMBER(cudaDeviceProp, warpSize, int);
MEMBER(cudaDeviceProp, maxThreadsPerBlock, int);
MEMBER(cudaDeviceProp, maxGridSize, three_ints);
MEMBER(cudaDeviceProp, major, int);
MEMBER(cudaDeviceProp, minor, int);
MEMBER(cudaDeviceProp, multiProcessorCount, int);
MEMBER(cudaLaunchConfig_t, gridDim, dim3);
MEMBER(cudaLaunchConfig_t, blockDim, dim3);
MEMBER(cudaLaunchConfig_t, dynamicSmemBytes, size_t);
MEMBER(cudaLaunchConfig_t, stream, cudaStream_t);
MEMBER(cudaLaunchConfig_t, numAttrs, unsigned);

/* ---- signatures --------------------------------------------------------- */

/* A function may have an overload, so that it is converted, not compared. */
#define CALL(result, name, ...)                                                \
    extern result (*const parity_##name)(__VA_ARGS__);                         \
    result (*const parity_##name)(__VA_ARGS__) = name

CALL(cudaError_t, cudaGetDeviceCount, int *);
CALL(cudaError_t, cudaSetDevice, int);
CALL(cudaError_t, cudaGetDevice, int *);
CALL(cudaError_t, cudaGetDeviceProperties, cudaDeviceProp *, int);
CALL(cudaError_t, cudaDeviceGetAttribute, int *, cudaDeviceAttr, int);
CALL(cudaError_t, cudaDeviceGetPCIBusId, char *, int, int);
CALL(cudaError_t, cudaDriverGetVersion, int *);
CALL(cudaError_t, cudaRuntimeGetVersion, int *);
CALL(cudaError_t, cudaDeviceSynchronize);
CALL(cudaError_t, cudaGetLastError);
CALL(cudaError_t, cudaPeekAtLastError);
CALL(const char *, cudaGetErrorString, cudaError_t);
CALL(const char *, cudaGetErrorName, cudaError_t);
CALL(cudaError_t, cudaFree, void *);
CALL(cudaError_t, cudaFreeHost, void *);
CALL(cudaError_t, cudaMemGetInfo, size_t *, size_t *);
CALL(cudaError_t, cudaMemcpyAsync, void *, const void *, size_t,
     enum cudaMemcpyKind, cudaStream_t);
CALL(cudaError_t, cudaMemsetAsync, void *, int, size_t, cudaStream_t);
CALL(cudaError_t, cudaStreamCreateWithFlags, cudaStream_t *, unsigned);
CALL(cudaError_t, cudaStreamDestroy, cudaStream_t);
CALL(cudaError_t, cudaStreamSynchronize, cudaStream_t);
CALL(cudaError_t, cudaStreamWaitEvent, cudaStream_t, cudaEvent_t, unsigned);
CALL(cudaError_t, cudaEventCreateWithFlags, cudaEvent_t *, unsigned);
CALL(cudaError_t, cudaEventDestroy, cudaEvent_t);
CALL(cudaError_t, cudaEventRecord, cudaEvent_t, cudaStream_t);
CALL(cudaError_t, cudaEventSynchronize, cudaEvent_t);
CALL(cudaError_t, cudaStreamBeginCapture, cudaStream_t,
     enum cudaStreamCaptureMode);
CALL(cudaError_t, cudaStreamEndCapture, cudaStream_t, cudaGraph_t *);
CALL(cudaError_t, cudaGraphInstantiate, cudaGraphExec_t *, cudaGraph_t,
     unsigned long long);
CALL(cudaError_t, cudaGraphLaunch, cudaGraphExec_t, cudaStream_t);
CALL(cudaError_t, cudaGraphDestroy, cudaGraph_t);
CALL(cudaError_t, cudaGraphExecDestroy, cudaGraphExec_t);

CALL(cublasStatus_t, cublasCreate, cublasHandle_t *);
CALL(cublasStatus_t, cublasDestroy, cublasHandle_t);
CALL(cublasStatus_t, cublasSetStream, cublasHandle_t, cudaStream_t);
CALL(cublasStatus_t, cublasSetWorkspace, cublasHandle_t, void *, size_t);
CALL(cublasStatus_t, cublasSetMathMode, cublasHandle_t, cublasMath_t);
CALL(const char *, cublasGetStatusString, cublasStatus_t);
CALL(const char *, cublasGetStatusName, cublasStatus_t);
CALL(cublasStatus_t, cublasSgemm, cublasHandle_t, cublasOperation_t,
     cublasOperation_t, int, int, int, const float *, const float *, int,
     const float *, int, const float *, float *, int);
CALL(cublasStatus_t, cublasDgemm, cublasHandle_t, cublasOperation_t,
     cublasOperation_t, int, int, int, const double *, const double *, int,
     const double *, int, const double *, double *, int);

/* ---- templates, and what kernels call ----------------------------------- */

#define GIVES(type, expression)                                                \
    static_assert(std::is_same<decltype(expression), type>::value, #expression)

static __global__ void kernel(float *out, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    GIVES(float, __shfl_sync(0u, 1.0f, 1));
    GIVES(int, __shfl_up_sync(0u, 1, 1));
    GIVES(double, __shfl_down_sync(0u, 1.0, 1, 16));
    GIVES(double, __shfl_xor_sync(0u, 1.0, 1));
    GIVES(unsigned, __ballot_sync(0u, 1));
    GIVES(int, __any_sync(0u, 1));
    GIVES(int, __all_sync(0u, 1));
    GIVES(int, atomicAdd((int *)nullptr, 1));
    GIVES(int, atomicMax((int *)nullptr, 1));
    GIVES(float, rsqrtf(1.0f));
    GIVES(double, rsqrt(1.0));
    GIVES(int, __popc(1u));
    GIVES(float, __ldg((const float *)nullptr));
    GIVES(int, min(1, 2));
    GIVES(float, max(1.0f, 2.0f));
    __syncthreads();
    __syncwarp();
    if (i < gridDim.x * blockDim.x && (int)i < n)
        out[i] = (float)(threadIdx.y + blockIdx.z);
}

cudaError_t parity_templates(cudaStream_t stream);
cudaError_t parity_templates(cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};
    float *device = nullptr;

    GIVES(cudaError_t, cudaMalloc(&device, (size_t)8));
    GIVES(cudaError_t, cudaMallocHost(&device, (size_t)8));
    GIVES(cudaError_t,
          cudaFuncSetAttribute(kernel,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    config.gridDim = dim3(1, 2, 3);
    config.blockDim = 32;
    config.dynamicSmemBytes = 4;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, device, 1);
}
