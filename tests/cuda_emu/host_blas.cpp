/* Cases: cuBLAS. */
#include "cases.h"

#include <cmath>
#include <string.h>

enum { M = 5, N = 4, K = 3, LD = 8, ROOM = LD * LD };

static cudaStream_t stream;
static cublasHandle_t blas;
static char *workspace;

static void prepare(void)
{
    stream = new_stream();
    EXPECT_EQUAL(cublasCreate(&blas), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQUAL(cublasSetStream(blas, stream), CUBLAS_STATUS_SUCCESS);
    workspace = new_device(4096);
    EXPECT_EQUAL(cublasSetWorkspace(blas, workspace, 4096),
                 CUBLAS_STATUS_SUCCESS);
    EXPECT_EQUAL(cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH),
                 CUBLAS_STATUS_SUCCESS);
}

static cublasStatus_t gemm(cublasOperation_t op_a, cublasOperation_t op_b,
                           double alpha, const double *a, const double *b,
                           double beta, double *c)
{
    return cublasDgemm(blas, op_a, op_b, M, N, K, &alpha, a, LD, b, LD, &beta,
                       c, LD);
}

static cublasStatus_t gemm(cublasOperation_t op_a, cublasOperation_t op_b,
                           float alpha, const float *a, const float *b,
                           float beta, float *c)
{
    return cublasSgemm(blas, op_a, op_b, M, N, K, &alpha, a, LD, b, LD, &beta,
                       c, LD);
}

/* Element (i, j) of a column-major matrix, or of its transpose. */
template <class R> static R at(const R *x, int i, int j, cublasOperation_t op)
{
    return op == CUBLAS_OP_N ? x[j * LD + i] : x[i * LD + j];
}

template <class R>
static void compare(cublasOperation_t op_a, cublasOperation_t op_b, R beta)
{
    R a[ROOM], b[ROOM], c[ROOM], got[ROOM];
    R *da = (R *)new_device(sizeof a), *db = (R *)new_device(sizeof b);
    R *dc = (R *)new_device(sizeof c);

    for (int i = 0; i < ROOM; i++) { /* small whole numbers: exact */
        a[i] = (R)(i % 7 - 3);
        b[i] = (R)(i % 5 - 2);
        c[i] = (R)(i % 11);
    }
    send(da, a, sizeof a, stream);
    send(db, b, sizeof b, stream);
    send(dc, c, sizeof c, stream);
    EXPECT_EQUAL(gemm(op_a, op_b, (R)2, da, db, beta, dc),
                 CUBLAS_STATUS_SUCCESS);
    fetch(got, dc, sizeof got, stream);
    for (int j = 0; j < LD; j++)
        for (int i = 0; i < LD; i++) {
            R sum = 0;

            for (int k = 0; k < K; k++)
                sum += at(a, i, k, op_a) * at(b, k, j, op_b);
            EXPECT_EQUAL(got[j * LD + i], i < M && j < N
                                              ? 2 * sum + beta * c[j * LD + i]
                                              : c[j * LD + i]);
        }
}

template <class R> static void all_products(void)
{
    prepare();
    for (int each = 0; each < 8; each++)
        compare<R>((each & 1) != 0 ? CUBLAS_OP_T : CUBLAS_OP_N,
                   (each & 2) != 0 ? CUBLAS_OP_T : CUBLAS_OP_N,
                   (R)((each & 4) != 0 ? -3 : 0));
}

/* One product of two numbers, with what is in C before. */
static float multiply(float x, float y)
{
    float *a = (float *)new_device(4), *b = (float *)new_device(4);
    float *c = (float *)new_device(4), one = 1, zero = 0, got = 0;

    send(a, &x, 4, stream);
    send(b, &y, 4, stream);
    EXPECT_EQUAL(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a,
                             1, b, 1, &zero, c, 1),
                 CUBLAS_STATUS_SUCCESS);
    fetch(&got, c, 4, stream);
    return got;
}

/* C is NaN before; with beta 0 it is not read. */
static void beta_zero(void)
{
    prepare();
    EXPECT_EQUAL(multiply(3, 4), 12);
}

/* TF32 has 10 bits of mantissa: 1 + 2^-11 and less is rounded away. */
static void tf32_rounds(void)
{
    float fine = 1 + ldexpf(1, -12), coarse = 1 + ldexpf(1, -10);

    prepare();
    EXPECT_EQUAL(multiply(fine, 4), 4 * fine);
    EXPECT_EQUAL(cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH),
                 CUBLAS_STATUS_SUCCESS);
    EXPECT_EQUAL(multiply(fine, 4), 4);
    EXPECT_EQUAL(multiply(4, fine), 4);
    EXPECT_EQUAL(multiply(coarse, 4), 4 * coarse);
    EXPECT_EQUAL(multiply(1 + 3 * ldexpf(1, -12), 1), coarse);
    EXPECT(std::isinf(multiply(INFINITY, 1)));
    EXPECT(std::isnan(multiply(NAN, 1)));
}

static void tf32_leaves_doubles(void)
{
    prepare();
    EXPECT_EQUAL(cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH),
                 CUBLAS_STATUS_SUCCESS);
    compare<double>(CUBLAS_OP_N, CUBLAS_OP_T, 0.5);
}

/* ---- arguments ---------------------------------------------------------- */

static float *a, *b, *c;
static const float one = 1, zero = 0;

static void prepare_operands(void)
{
    float numbers[ROOM] = {1};

    prepare();
    a = (float *)new_device(sizeof numbers);
    b = (float *)new_device(sizeof numbers);
    c = (float *)new_device(sizeof numbers);
    send(a, numbers, sizeof numbers, stream);
    send(b, numbers, sizeof numbers, stream);
}

static cublasStatus_t shape(int m, int n, int k, int lda, int ldb, int ldc)
{
    return cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, lda, b,
                       ldb, &zero, c, ldc);
}

static void bad_shapes(void)
{
    prepare_operands();
    EXPECT_EQUAL(shape(4, 4, 4, 3, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQUAL(shape(4, 4, 4, 4, 3, 4), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQUAL(shape(4, 4, 4, 4, 4, 3), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQUAL(shape(-1, 4, 4, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQUAL(shape(4, -1, 4, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQUAL(shape(4, 4, -1, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQUAL(shape(4, 4, 4, 4, 4, 4), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQUAL(shape(0, 4, 4, 1, 4, 1), CUBLAS_STATUS_SUCCESS);
    GOOD(cudaStreamSynchronize(stream));
}

/* Row-major habits: the leading dimension of a transposed operand. */
static void transposed_shape(void)
{
    prepare_operands();
    EXPECT_EQUAL(cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 6, &one, a,
                             2, b, 6, &zero, c, 2),
                 CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQUAL(cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 6, &one, a,
                             6, b, 6, &zero, c, 2),
                 CUBLAS_STATUS_SUCCESS);
}

static void no_inner(void)
{
    float got[4];

    prepare_operands();
    EXPECT_EQUAL(shape(2, 2, 0, 2, 1, 2), CUBLAS_STATUS_SUCCESS);
    fetch(got, c, sizeof got, stream);
    EXPECT_EQUAL(got[3], 0);
}

static void past_a(void)
{
    prepare_operands();
    (void)shape(8, 8, 9, 8, 9, 8);
}

static void past_c(void)
{
    prepare_operands();
    (void)shape(8, 8, 1, 8, 1, 9);
}

static void host_operand(void)
{
    float numbers[ROOM] = {1};

    prepare_operands();
    a = numbers;
    (void)shape(4, 4, 4, 4, 4, 4);
}

static void no_workspace(void)
{
    prepare_operands();
    EXPECT_EQUAL(cublasSetStream(blas, stream), CUBLAS_STATUS_SUCCESS);
    (void)shape(4, 4, 4, 4, 4, 4);
}

static void crooked_workspace(void)
{
    prepare();
    EXPECT_EQUAL(cublasSetWorkspace(blas, workspace + 16, 1024),
                 CUBLAS_STATUS_INVALID_VALUE);
}

static void short_workspace(void)
{
    prepare();
    (void)cublasSetWorkspace(blas, workspace, 5000);
}

static void no_handle(void)
{
    prepare_operands();
    blas = NULL;
    EXPECT_EQUAL(shape(1, 1, 1, 1, 1, 1), CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT_EQUAL(cublasDestroy(NULL), CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT_EQUAL(cublasSetStream(NULL, stream), CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT(strcmp(cublasGetStatusName(CUBLAS_STATUS_NOT_INITIALIZED),
                  "CUBLAS_STATUS_NOT_INITIALIZED") == 0);
}

static void uninitialised_a(void)
{
    prepare_operands();
    a = (float *)new_device(64);
    (void)shape(4, 4, 4, 4, 4, 4);
    GOOD(cudaStreamSynchronize(stream));
}

static void uninitialised_c(void)
{
    prepare_operands();
    (void)cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, b, 2,
                      &one, c, 2);
    GOOD(cudaStreamSynchronize(stream));
}

/* Between the columns nothing is read, and nothing written. */
static void gaps_stay(void)
{
    prepare_operands();
    EXPECT_EQUAL(shape(2, 2, 2, 4, 4, 4), CUBLAS_STATUS_SUCCESS);
    GOOD(cudaMemsetAsync(c + 2, 0, 8, stream));
    GOOD(cudaStreamSynchronize(stream));
}

static void other_stream(void)
{
    cudaStream_t other = new_stream();

    prepare_operands();
    GOOD(cudaMemsetAsync(a, 0, 64, other));
    (void)shape(4, 4, 4, 4, 4, 4);
    GOOD(cudaDeviceSynchronize());
}

static void in_graph(void)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t executable = NULL;
    float got = 0, two = 2;

    prepare_operands();
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_EQUAL(shape(1, 1, 1, 1, 1, 1), CUBLAS_STATUS_SUCCESS);
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphInstantiate(&executable, graph, 0));
    send(a, &two, 4, stream);
    GOOD(cudaGraphLaunch(executable, stream));
    fetch(&got, c, 4, stream);
    EXPECT_EQUAL(got, 2);
}

static void failing(void)
{
    prepare_operands();
    EXPECT_EQUAL(shape(1, 1, 1, 1, 1, 1), CUBLAS_STATUS_EXECUTION_FAILED);
    EXPECT_EQUAL(shape(1, 1, 1, 1, 1, 1), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQUAL(shape(1, 1, 1, 1, 1, 1), CUBLAS_STATUS_ALLOC_FAILED);
}

static const emu_case cases[] = {
    {"all products of floats", "", all_products<float>, 0, NULL},
    {"all products of doubles", "async=lazy", all_products<double>, 0, NULL},
    {"beta 0 does not read C", "", beta_zero, 0, NULL},
    {"TF32 rounds its factors, pedantic does not", "", tf32_rounds, 0, NULL},
    {"TF32 is nothing to doubles", "", tf32_leaves_doubles, 0, NULL},
    {"shapes are checked", "", bad_shapes, 0, NULL},
    {"leading dimensions are those of columns", "", transposed_shape, 0, NULL},
    {"no inner dimension gives zeros", "", no_inner, 0, NULL},
    {"an operand stays in its allocation", "", past_a, 86, "operand A"},
    {"so does the result", "", past_c, 86, "operand C"},
    {"operands are device memory", "", host_operand, 86, "operand A"},
    {"setting the stream resets the workspace", "", no_workspace, 86,
     "cublasSetWorkspace"},
    {"a workspace is aligned to 256", "", crooked_workspace, 0, NULL},
    {"a workspace is as large as it says", "", short_workspace, 86,
     "cublasSetWorkspace"},
    {"no handle is an error", "", no_handle, 0, NULL},
    {"factors are initialised", "", uninitialised_a, 86, "nobody has written",
     ONLY_CHECK},
    {"with beta so is C", "", uninitialised_c, 86, "nobody has written",
     ONLY_CHECK},
    {"gaps between columns are left alone", "", gaps_stay, 0, NULL},
    {"a product is ordered by its stream", "", other_stream, 86, "a race",
     ONLY_CHECK},
    {"a product can be in a graph", "", in_graph, 0, NULL},
    {"a product fails on order", "fail=cublasSgemm:1,fail=cublasSgemm:3:2",
     failing, 0, NULL},
};

static __attribute__((constructor)) void add(void)
{
    emu_add_cases(cases, sizeof cases / sizeof *cases);
}
