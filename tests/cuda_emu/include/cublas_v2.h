/* The part of cuBLAS that backends/cuda uses; see cuda_runtime.h. */
#ifndef M2_EMU_CUBLAS_V2_H
#define M2_EMU_CUBLAS_V2_H

#include <cuda_runtime.h>

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15
} cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 } cublasOperation_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef struct cublasContext *cublasHandle_t;

EMU_CALL cublasStatus_t cublasCreate(cublasHandle_t *);
EMU_CALL cublasStatus_t cublasDestroy(cublasHandle_t);
EMU_CALL cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t);
EMU_CALL cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t);
EMU_CALL cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t);
EMU_CALL const char *cublasGetStatusString(cublasStatus_t);
EMU_CALL const char *cublasGetStatusName(cublasStatus_t);
EMU_CALL cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t,
                                    cublasOperation_t, int, int, int,
                                    const float *, const float *, int,
                                    const float *, int, const float *, float *,
                                    int);
EMU_CALL cublasStatus_t cublasDgemm(cublasHandle_t, cublasOperation_t,
                                    cublasOperation_t, int, int, int,
                                    const double *, const double *, int,
                                    const double *, int, const double *,
                                    double *, int);

#endif
