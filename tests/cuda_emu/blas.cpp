/* cuBLAS on CBLAS: column-major products, with every operand's range, leading
 * dimension and contents checked, and TF32 rounding where it was asked for. */
#include "emu.h"

#include "cublas_v2.h"

#include <cblas.h>
#include <stdio.h>
#include <string.h>

/* Threads of OpenBLAS have no rights to device memory: none are used. */
extern "C" void omp_set_num_threads(int) __attribute__((weak));
extern "C" int omp_get_max_threads(void) __attribute__((weak));

struct cublasContext {
    cudaStream_t stream;
    void *workspace;
    cublasMath_t math;
};

static size_t handles;

size_t emu_blas_count(void)
{
    return handles;
}

static cublasStatus_t status_of(cudaError_t error)
{
    return error == cudaSuccess                 ? CUBLAS_STATUS_SUCCESS
           : error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
           : error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice
               ? CUBLAS_STATUS_NOT_INITIALIZED
               : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasCreate(cublasHandle_t *out)
{
    emu_call call("cublasCreate");

    *out = NULL;
    if (call.failure != cudaSuccess)
        return status_of(call.failure);
    *out = new cublasContext{NULL, NULL, CUBLAS_DEFAULT_MATH};
    handles++;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    emu_call call("cublasDestroy");

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    handles--;
    return status_of(call.failure);
}

/* Resets the workspace, as documented. */
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    emu_call call("cublasSetStream");

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (call.failure == cudaSuccess) {
        handle->stream = stream;
        handle->workspace = NULL;
    }
    return status_of(call.failure);
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace,
                                  size_t bytes)
{
    emu_call call("cublasSetWorkspace");

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (call.failure != cudaSuccess)
        return status_of(call.failure);
    if (((uintptr_t)workspace & 255) != 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    emu_require("cublasSetWorkspace", workspace, bytes);
    handle->workspace = workspace;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t math)
{
    emu_call call("cublasSetMathMode");

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (call.failure == cudaSuccess)
        handle->math = math;
    return status_of(call.failure);
}

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} words[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED",
     "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the GPU program failed to execute"},
};

const char *cublasGetStatusString(cublasStatus_t status)
{
    for (const auto &word : words)
        if (word.status == status)
            return word.text;
    return "unknown status";
}

const char *cublasGetStatusName(cublasStatus_t status)
{
    for (const auto &word : words)
        if (word.status == status)
            return word.name;
    return "unknown status";
}

/* ---- products ----------------------------------------------------------- */

/* Column-major: (rows, columns), ld from column to column. */
struct operand {
    const char *name;
    const void *data;
    int rows, columns, ld;
};

struct product {
    const char *name;
    bool transpose_a, transpose_b, tf32;
    int m, n, k;
    double alpha, beta;
    operand a, b, c;
    size_t element;
};

static bool has_good_shape(const operand &o)
{
    return o.rows >= 0 && o.columns >= 0 && o.ld >= (o.rows > 1 ? o.rows : 1);
}

static void check_range(const product &p, const operand &o)
{
    char what[80];

    if (o.rows == 0 || o.columns == 0)
        return;
    snprintf(what, sizeof what, "%s, operand %s", p.name, o.name);
    emu_require(what, o.data,
                ((size_t)(o.columns - 1) * (size_t)o.ld + (size_t)o.rows) *
                    p.element);
}

static void touch(const product &p, const operand &o, bool write)
{
    for (int j = 0; j < o.columns; j++)
        emu_shadow_touch((const char *)o.data +
                             (size_t)j * (size_t)o.ld * p.element,
                         (size_t)o.rows * p.element, write, p.name);
}

/* 10 bits of mantissa, rounded to nearest. */
static float round_tf32(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000) != 0x7f800000)
        bits = (bits + 0x1000) & ~0x1fffu;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

static const float *rounded(const operand &o, std::vector<float> *copy)
{
    const float *from = (const float *)o.data;

    copy->resize((size_t)o.ld * (size_t)o.columns);
    for (int j = 0; j < o.columns; j++)
        for (int i = 0; i < o.rows; i++) {
            size_t at = (size_t)j * (size_t)o.ld + (size_t)i;

            (*copy)[at] = round_tf32(from[at]);
        }
    return copy->data();
}

static void multiply(const product &p)
{
    CBLAS_TRANSPOSE op_a = p.transpose_a ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE op_b = p.transpose_b ? CblasTrans : CblasNoTrans;
    std::vector<float> copy_a, copy_b;

    if (p.element == sizeof(double)) {
        cblas_dgemm(CblasColMajor, op_a, op_b, p.m, p.n, p.k, p.alpha,
                    (const double *)p.a.data, p.a.ld, (const double *)p.b.data,
                    p.b.ld, p.beta, (double *)p.c.data, p.c.ld);
        return;
    }
    cblas_sgemm(CblasColMajor, op_a, op_b, p.m, p.n, p.k, (float)p.alpha,
                p.tf32 ? rounded(p.a, &copy_a) : (const float *)p.a.data,
                p.a.ld,
                p.tf32 ? rounded(p.b, &copy_b) : (const float *)p.b.data,
                p.b.ld, (float)p.beta, (float *)p.c.data, p.c.ld);
}

static void run_product(const product &p)
{
    emu_access open;
    int threads = omp_get_max_threads != NULL ? omp_get_max_threads() : 1;

    if (p.k > 0 && p.alpha != 0) {
        touch(p, p.a, false);
        touch(p, p.b, false);
    }
    if (p.beta != 0)
        touch(p, p.c, false);
    touch(p, p.c, true);
    if (omp_set_num_threads != NULL)
        omp_set_num_threads(1);
    multiply(p);
    if (omp_set_num_threads != NULL)
        omp_set_num_threads(threads);
}

static cublasStatus_t gemm(cublasHandle_t handle, product p)
{
    emu_call call(p.name);

    if (call.failure != cudaSuccess)
        return status_of(call.failure);
    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!has_good_shape(p.a) || !has_good_shape(p.b) || !has_good_shape(p.c))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (p.m == 0 || p.n == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (handle->workspace == NULL)
        emu_mistake(NULL,
                    "rule: %s without cublasSetWorkspace after "
                    "cublasSetStream",
                    p.name);
    if (p.k > 0) {
        check_range(p, p.a);
        check_range(p, p.b);
    }
    check_range(p, p.c);
    p.tf32 = p.element == sizeof(float) &&
             handle->math == CUBLAS_TF32_TENSOR_OP_MATH;
    emu_count.launches++;
    return status_of(emu_return(emu_enqueue(
        handle->stream, p.name, [=] { return [=] { run_product(p); }; })));
}

template <class R>
static product product_of(const char *name, cublasOperation_t op_a,
                          cublasOperation_t op_b, int m, int n, int k,
                          const R *alpha, const R *a, int lda, const R *b,
                          int ldb, const R *beta, R *c, int ldc)
{
    bool ta = op_a != CUBLAS_OP_N, tb = op_b != CUBLAS_OP_N;

    return {name,
            ta,
            tb,
            false,
            m,
            n,
            k,
            (double)*alpha,
            (double)*beta,
            {"A", a, ta ? k : m, ta ? m : k, lda},
            {"B", b, tb ? n : k, tb ? k : n, ldb},
            {"C", c, m, n, ldc},
            sizeof(R)};
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a,
                           cublasOperation_t op_b, int m, int n, int k,
                           const float *alpha, const float *a, int lda,
                           const float *b, int ldb, const float *beta, float *c,
                           int ldc)
{
    return gemm(handle, product_of("cublasSgemm", op_a, op_b, m, n, k, alpha, a,
                                   lda, b, ldb, beta, c, ldc));
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t op_a,
                           cublasOperation_t op_b, int m, int n, int k,
                           const double *alpha, const double *a, int lda,
                           const double *b, int ldb, const double *beta,
                           double *c, int ldc)
{
    return gemm(handle, product_of("cublasDgemm", op_a, op_b, m, n, k, alpha, a,
                                   lda, b, ldb, beta, c, ldc));
}
