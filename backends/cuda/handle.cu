/* An open device. */
#include "backends/cuda/cuda.cuh"

#include <stdlib.h>

/* What cuBLAS may use beside its arguments.  Its documentation recommends 32
 * MiB for the largest architecture so far and 4 MiB for the others. */
enum { BLAS_WORKSPACE = 32 << 20 };

static __global__ void answer(int *out)
{
    if (threadIdx.x == 0)
        *out = 42;
}

/* Runs one kernel: a module built for other architectures fails here, with a
 * message that says so, and not in the first op. */
static int try_kernel(struct handle *h, struct m2_error *err)
{
    int *out = (int *)(void *)h->blas_workspace; /* any device memory will do */
    cudaDeviceProp device;
    cudaError_t result = M2_LAUNCH(answer, 1, 32, 0, h->stream, out);

    if (result == cudaSuccess)
        result = cudaStreamSynchronize(h->stream);
    if (result == cudaSuccess)
        return M2_OK;
    if (result != cudaErrorNoKernelImageForDevice ||
        cudaGetDeviceProperties(&device, h->index) != cudaSuccess)
        return cuda_check(result, "first kernel", err);
    (void)cudaGetLastError();
    return m2_fail(err, M2_E_DEVICE,
                   M2_CUDA_NAME ": %s (compute capability %d.%d): %s; the "
                                "backend was built for: " M2_CUDA_ARCHS,
                   device.name, device.major, device.minor,
                   cudaGetErrorString(result));
}

static int open_blas(struct handle *h, unsigned flags, struct m2_error *err)
{
    bool tf32 = (flags & M2_OPEN_TF32) != 0 && h->real == M2_F32;
    int code = blas_check(cublasCreate(&h->blas), "open", err);

    if (code == M2_OK)
        code = blas_check(cublasSetStream(h->blas, h->stream), "stream", err);
    if (code == M2_OK)
        code = device_memory(BLAS_WORKSPACE, &h->blas_workspace, err);
    /* setting a stream resets the workspace: in this order */
    if (code == M2_OK)
        code = blas_check(
            cublasSetWorkspace(h->blas, h->blas_workspace, BLAS_WORKSPACE),
            "workspace", err);
    if (code == M2_OK)
        code = blas_check(
            cublasSetMathMode(h->blas, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH
                                            : CUBLAS_PEDANTIC_MATH),
            "math mode", err);
    return code;
}

static int check_open(const struct m2_open *wanted, struct m2_error *err)
{
    struct m2_devices devices = {};
    int code;

    if (wanted->real != M2_F32 && wanted->real != M2_F64)
        return m2_fail(err, M2_E_UNSUPPORTED,
                       M2_CUDA_NAME ": real type %d is not supported, only "
                                    "f32 and f64",
                       (int)wanted->real);
    devices.index = -1;
    code = cuda_devices(NULL, &devices, err);
    if (code != M2_OK)
        return code;
    if (devices.count_out == 0)
        return cuda_check(cudaErrorNoDevice, "open", err);
    if (wanted->index < 0 || wanted->index >= devices.count_out)
        return m2_fail(err, M2_E_DEVICE,
                       M2_CUDA_NAME ": device %d does not exist, there %s %d",
                       wanted->index, devices.count_out == 1 ? "is" : "are",
                       devices.count_out);
    return M2_OK;
}

/* What was opened, in reverse; on a lost device every call fails, and there
 * is nothing left to save. */
static void handle_free(struct handle *h)
{
    steps_free(h);
    stage_free(h);
    if (h->blas != NULL)
        (void)cublasDestroy(h->blas);
    (void)cudaFree(h->blas_workspace);
    (void)cudaFree(h->scratch);
    if (h->stream != NULL)
        (void)cudaStreamDestroy(h->stream);
    (void)cudaGetLastError();
    free(h);
}

int cuda_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_open *wanted = (struct m2_open *)args;
    struct handle *h;
    int code = check_open(wanted, err);

    (void)handle;
    if (code != M2_OK)
        return code;
    h = (struct handle *)calloc(1, sizeof *h);
    if (h == NULL)
        return m2_fail(err, M2_E_MEMORY, M2_CUDA_NAME ": no memory");
    h->index = wanted->index;
    h->real = wanted->real;
    code = cuda_check(cudaSetDevice(h->index), "select device", err);
    if (code == M2_OK)
        code = cuda_check(
            cudaStreamCreateWithFlags(&h->stream, cudaStreamNonBlocking),
            "stream", err);
    if (code == M2_OK)
        code = open_blas(h, wanted->flags, err);
    if (code == M2_OK)
        code = try_kernel(h, err);
    if (code == M2_OK)
        code = stage_create(h, err);
    if (code == M2_OK)
        code = steps_create(h, err);
    if (code != M2_OK) {
        handle_free(h);
        return code;
    }
    wanted->handle_out = h;
    return M2_OK;
}

int cuda_close(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;

    (void)args;
    if (h->buffers > 0)
        return m2_fail(err, M2_E_INTERNAL,
                       M2_CUDA_NAME ": closed with %zu buffers still allocated",
                       h->buffers);
    (void)cudaSetDevice(h->index);
    (void)cudaStreamSynchronize(h->stream);
    handle_free(h);
    return M2_OK;
}
