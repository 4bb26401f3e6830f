/* gemm_rate: what cuBLAS reaches in one large matrix product on this device,
 * as the backend sets it up: prints "f32 GFLOP/s" and "f64 GFLOP/s". */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>

enum { SIZE = 4096, ROUNDS = 10 };

static cublasStatus_t multiply(cublasHandle_t handle, const float *a,
                               const float *b, float *c)
{
    const float one = 1, zero = 0;

    return cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one,
                       a, SIZE, b, SIZE, &zero, c, SIZE);
}

static cublasStatus_t multiply(cublasHandle_t handle, const double *a,
                               const double *b, double *c)
{
    const double one = 1, zero = 0;

    return cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one,
                       a, SIZE, b, SIZE, &zero, c, SIZE);
}

/* Milliseconds of ROUNDS products after one that warms up; negative: failed. */
template <class R> static float time_products(cublasHandle_t handle, R *memory)
{
    const size_t n = (size_t)SIZE * SIZE;
    cudaEvent_t begin = nullptr, end = nullptr;
    float ms = -1;
    bool good = cudaMemset(memory, 0, 3 * n * sizeof(R)) == cudaSuccess &&
                cudaEventCreate(&begin) == cudaSuccess &&
                cudaEventCreate(&end) == cudaSuccess;

    for (int i = 0; i <= ROUNDS && good; i++) {
        if (i == 1)
            good = cudaEventRecord(begin) == cudaSuccess;
        good = good && multiply(handle, memory, memory + n, memory + 2 * n) ==
                           CUBLAS_STATUS_SUCCESS;
    }
    good = good && cudaEventRecord(end) == cudaSuccess &&
           cudaEventSynchronize(end) == cudaSuccess &&
           cudaEventElapsedTime(&ms, begin, end) == cudaSuccess;
    return good ? ms : -1;
}

static bool print_rate(const char *name, float ms)
{
    const double flops = 2.0 * SIZE * SIZE * SIZE * ROUNDS;

    if (ms > 0)
        printf("%s %.0f\n", name, flops / ms * 1e-6);
    return ms > 0;
}

int main(void)
{
    cublasHandle_t handle;
    void *memory;

    if (cudaMalloc(&memory, 3 * sizeof(double) * SIZE * SIZE) != cudaSuccess ||
        cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
        cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH) !=
            CUBLAS_STATUS_SUCCESS ||
        !print_rate("f32", time_products(handle, (float *)memory)) ||
        !print_rate("f64", time_products(handle, (double *)memory))) {
        fprintf(stderr, "gemm_rate: %s\n",
                cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    return 0;
}
