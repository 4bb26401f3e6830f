/* Matrix products, by cuBLAS, which counts in columns: a row-major (rows,
 * cols) matrix is its column-major (cols, rows) one, with the same leading
 * dimension. */
#include "backends/cuda/columns.cuh"

static cublasStatus_t gemm(const struct handle *h, cublasOperation_t op_a,
                           cublasOperation_t op_b, int m, int n, int k,
                           matrix<float> a, matrix<float> b, float beta,
                           matrix<float> c)
{
    float one = 1;

    return cublasSgemm(h->blas, op_a, op_b, m, n, k, &one, a.data, (int)a.ld,
                       b.data, (int)b.ld, &beta, c.data, (int)c.ld);
}

static cublasStatus_t gemm(const struct handle *h, cublasOperation_t op_a,
                           cublasOperation_t op_b, int m, int n, int k,
                           matrix<double> a, matrix<double> b, double beta,
                           matrix<double> c)
{
    double one = 1;

    return cublasDgemm(h->blas, op_a, op_b, m, n, k, &one, a.data, (int)a.ld,
                       b.data, (int)b.ld, &beta, c.data, (int)c.ld);
}

/* y = b + residual, either may be absent: what the product is added to. */
template <class R>
static __global__ void begin_sum(matrix<R> b, matrix<R> residual, matrix<R> y)
{
    int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

    if (j >= y.cols)
        return;
    for (int64_t i = blockIdx.y; i < y.rows; i += gridDim.y) {
        R sum = b.data != NULL ? b.data[j] : R(0);

        if (residual.data != NULL)
            sum += residual.at(i, j);
        y.at(i, j) = sum;
    }
}

template <class R>
int op_linear(struct handle *h, const struct m2_linear *a, struct m2_error *err)
{
    matrix<R> x = matrix_of<R>(a->x), w = matrix_of<R>(a->w);
    matrix<R> b = matrix_of<R>(a->b), residual = matrix_of<R>(a->residual);
    matrix<R> y = matrix_of<R>(a->y);
    bool in_place = residual.data == y.data && b.data == NULL;
    bool sum = b.data != NULL || residual.data != NULL;
    int code = M2_OK;

    if (sum && !in_place)
        code = cuda_check(M2_LAUNCH(begin_sum<R>, map_grid(y.rows, y.cols),
                                    MAP_BLOCK, 0, h->stream, b, residual, y),
                          "op linear", err);
    return code != M2_OK
               ? code
               : blas_check(gemm(h, CUBLAS_OP_T, CUBLAS_OP_N, (int)y.cols,
                                 (int)y.rows, (int)x.cols, w, x, R(sum), y),
                            "op linear", err);
}
OP_INSTANTIATE(linear, m2_linear)
OP_NO_SCRATCH(linear, m2_linear)

template <class R>
int op_linear_backward(struct handle *h, const struct m2_linear_backward *a,
                       struct m2_error *err)
{
    matrix<R> dy = matrix_of<R>(a->dy), x = matrix_of<R>(a->x);
    matrix<R> w = matrix_of<R>(a->w), dx = matrix_of<R>(a->dx);
    matrix<R> dw = matrix_of<R>(a->dw), db = matrix_of<R>(a->db);
    int rows = (int)dy.rows, outputs = (int)dy.cols;
    int code = M2_OK;

    if (dx.data != NULL)
        code = blas_check(gemm(h, CUBLAS_OP_N, CUBLAS_OP_N, (int)dx.cols, rows,
                               outputs, w, dy, R(a->accumulate != 0), dx),
                          "op linear_backward", err);
    if (code == M2_OK && dw.data != NULL)
        code = blas_check(gemm(h, CUBLAS_OP_N, CUBLAS_OP_T, (int)dw.cols,
                               outputs, rows, x, dy, R(1), dw),
                          "op linear_backward", err);
    if (code == M2_OK && db.data != NULL)
        code = column_sums(h, dy, db, "op linear_backward", err);
    return code;
}
OP_INSTANTIATE(linear_backward, m2_linear_backward)

size_t scratch_linear_backward(const struct handle *h,
                               const struct m2_linear_backward *a)
{
    return a->db.cols > 0 ? column_sums_scratch(h, a->dy.rows, a->dy.cols) : 0;
}
