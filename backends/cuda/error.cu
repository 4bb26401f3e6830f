/* What went wrong, in CUDA's own words. */
#include <stdio.h>

#include "backends/cuda/cuda.cuh"

int cuda_check(cudaError_t result, const char *what, struct m2_error *err)
{
    if (result == cudaSuccess)
        return M2_OK;
    /* An error that does not stick must not surface at a later call. */
    (void)cudaGetLastError();
    return m2_fail(
        err, result == cudaErrorMemoryAllocation ? M2_E_MEMORY : M2_E_DEVICE,
        M2_CUDA_NAME ": %s: %s (%s)", what, cudaGetErrorString(result),
        cudaGetErrorName(result));
}

/* A library of CUDA's has its own codes; what CUDA itself reports beneath says
 * more, and must not surface at a later call. */
int blas_check(cublasStatus_t result, const char *what, struct m2_error *err)
{
    cudaError_t beneath;
    char reason[256] = "";

    if (result == CUBLAS_STATUS_SUCCESS)
        return M2_OK;
    beneath = cudaGetLastError();
    if (beneath != cudaSuccess)
        snprintf(reason, sizeof reason, ", %s (%s)",
                 cudaGetErrorString(beneath), cudaGetErrorName(beneath));
    return m2_fail(
        err, result == CUBLAS_STATUS_ALLOC_FAILED ? M2_E_MEMORY : M2_E_DEVICE,
        M2_CUDA_NAME ": %s: cuBLAS: %s (%s)%s", what,
        cublasGetStatusString(result), cublasGetStatusName(result), reason);
}
