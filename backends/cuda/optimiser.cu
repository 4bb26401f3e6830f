/* Norm of the gradient, clipping, AdamW, and the constraint on the decay. */
#include "backends/cuda/real.cuh"
#include "backends/cuda/reduce.cuh"

#include <math.h>

/* ---- sum of squares -------------------------------------------------------
 */

/* A block squares a fixed run of elements; a last block adds the blocks' sums
 * in order. */
enum { SUMSQ_BLOCK = 256, SUMSQ_EACH = 32 };
enum { SUMSQ_RUN = SUMSQ_BLOCK * SUMSQ_EACH };

template <class R>
static __global__ void square_runs(matrix<R> x, double *__restrict__ part)
{
    M2_SHARED(double, shared, WARP);
    int64_t n = x.rows * x.cols;
    int64_t at = blockIdx.x * (int64_t)SUMSQ_RUN + threadIdx.x;
    double sum = 0;

    for (int k = 0; k < SUMSQ_EACH; k++, at += SUMSQ_BLOCK)
        if (at < n) {
            /* an arena is one row: no division for it */
            double value =
                (double)(x.rows == 1 ? x.data[at]
                                     : x.at(at / x.cols, at % x.cols));

            sum += value * value;
        }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

static __global__ void add_runs(const double *__restrict__ part, int64_t n,
                                double *out, int accumulate)
{
    M2_SHARED(double, shared, WARP);
    double sum = 0;

    for (int64_t i = threadIdx.x; i < n; i += SUMSQ_BLOCK)
        sum += part[i];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        *out = accumulate ? *out + sum : sum;
}

size_t scratch_sumsq(const struct handle *, const struct m2_sumsq *a)
{
    return (size_t)ceil_div(a->x.rows * a->x.cols, SUMSQ_RUN) * sizeof(double);
}

template <class R>
int op_sumsq(struct handle *h, const struct m2_sumsq *a, struct m2_error *err)
{
    matrix<R> x = matrix_of<R>(a->x);
    double *part = (double *)h->scratch;
    double *out = matrix_of<double>(a->out).data;
    int64_t runs = ceil_div(x.rows * x.cols, SUMSQ_RUN);
    int code = M2_OK;

    if (runs > 0)
        code = cuda_check(M2_LAUNCH(square_runs<R>, (unsigned)runs, SUMSQ_BLOCK,
                                    0, h->stream, x, part),
                          "op sumsq", err);
    return code != M2_OK
               ? code
               : cuda_check(M2_LAUNCH(add_runs, 1, SUMSQ_BLOCK, 0, h->stream,
                                      part, runs, out, a->accumulate),
                            "op sumsq", err);
}
OP_INSTANTIATE(sumsq, m2_sumsq)

/* ---- clip ------------------------------------------------------------------
 */

/* norm, coefficient, finite: computed by one thread. */
static __global__ void judge_norm(const double *sumsq, matrix<double> also,
                                  double max_norm, double *out)
{
    double norm = sqrt(*sumsq);
    double coefficient = max_norm / (norm + 1e-6);
    bool finite = is_finite(norm);

    for (int64_t i = 0; also.data != NULL && i < also.rows; i++)
        for (int64_t j = 0; j < also.cols; j++)
            finite = finite && is_finite(also.at(i, j));
    out[0] = norm;
    out[1] = max_norm > 0 && finite && coefficient < 1 ? coefficient : 1;
    out[2] = finite ? 1 : 0;
}

/* x *= the coefficient, which is exactly 1 where nothing is to be done. */
template <class R>
static __global__ void scale_by(const double *__restrict__ out, matrix<R> x)
{
    int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    R coefficient = (R)out[1];

    if (j >= x.cols || coefficient == R(1))
        return;
    for (int64_t i = blockIdx.y; i < x.rows; i += gridDim.y)
        x.at(i, j) *= coefficient;
}

template <class R>
int op_clip(struct handle *h, const struct m2_clip *a, struct m2_error *err)
{
    matrix<R> x = matrix_of<R>(a->x);
    double *out = matrix_of<double>(a->out).data;
    int code =
        cuda_check(M2_LAUNCH(judge_norm, 1, 1, 0, h->stream,
                             matrix_of<double>(a->sumsq).data,
                             matrix_of<double>(a->also), a->max_norm, out),
                   "op clip", err);

    if (code != M2_OK || a->max_norm <= 0 || x.rows * x.cols == 0)
        return code;
    return cuda_check(M2_LAUNCH(scale_by<R>, map_grid(x.rows, x.cols),
                                MAP_BLOCK, 0, h->stream, out, x),
                      "op clip", err);
}
OP_INSTANTIATE(clip, m2_clip)
OP_NO_SCRATCH(clip, m2_clip)

/* ---- AdamW ------------------------------------------------------------------
 */

struct adamw_constants {
    double beta1, beta2, eps, weight_decay;
};

/* step: lr, 1 - beta1^t, 1 - beta2^t, in device memory as they change from
 * step to step. */
template <class R>
static __global__ void
update(struct adamw_constants c, const double *__restrict__ step,
       const double *__restrict__ finite, R *__restrict__ p,
       const R *__restrict__ g, R *__restrict__ m, R *__restrict__ v, int64_t n)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    R decay = (R)(1 - step[0] * c.weight_decay);
    R rate = (R)(step[0] / step[1]), root = (R)(1 / sqrt(step[2]));
    R b1 = (R)c.beta1, b2 = (R)c.beta2;
    R rest1 = (R)(1 - c.beta1), rest2 = (R)(1 - c.beta2);

    if (i >= n || *finite == 0)
        return;
    R gradient = g[i];
    R first = b1 * m[i] + rest1 * gradient;
    R second = b2 * v[i] + rest2 * gradient * gradient;

    m[i] = first;
    v[i] = second;
    p[i] = p[i] * decay - rate * first / (real_sqrt(second) * root + (R)c.eps);
}

template <class R>
int op_adamw(struct handle *h, const struct m2_adamw *a, struct m2_error *err)
{
    int64_t n = a->p.cols;
    struct adamw_constants c = {a->beta1, a->beta2, a->eps, a->weight_decay};

    if (n == 0)
        return M2_OK;
    return cuda_check(
        M2_LAUNCH(update<R>, (unsigned)ceil_div(n, MAP_BLOCK), MAP_BLOCK, 0,
                  h->stream, c, matrix_of<double>(a->step).data,
                  matrix_of<double>(a->finite).data, matrix_of<R>(a->p).data,
                  matrix_of<R>(a->g).data, matrix_of<R>(a->m).data,
                  matrix_of<R>(a->v).data, n),
        "op adamw", err);
}
OP_INSTANTIATE(adamw, m2_adamw)
OP_NO_SCRATCH(adamw, m2_adamw)

/* ---- spectral
 * ---------------------------------------------------------------- */

/* bound: DISCRETE: ln(-ln(rho) / dt_ref); CONTINUOUS: ln(rho).  A NaN stays: it
 * must reach the check for divergence.  One block. */
template <class R>
static __global__ void constrain(int mode, double bound, const double *finite,
                                 matrix<R> a_log)
{
    M2_SHARED(double, highest, MAP_BLOCK);
    int64_t n = finite != NULL && *finite == 0 ? 0 : a_log.cols;
    double own = -HUGE_VAL;

    for (int64_t h = threadIdx.x; h < n; h += blockDim.x)
        own = fmax(own, (double)a_log.data[h]);
    highest[threadIdx.x] = own;
    __syncthreads();
    for (int i = 0; i < (int)blockDim.x; i++)
        own = fmax(own, highest[i]);
    for (int64_t h = threadIdx.x; h < n; h += blockDim.x) {
        double value = (double)a_log.data[h];

        if (mode == M2_SPECTRAL_DISCRETE)
            a_log.data[h] = (R)(value < bound ? bound : value);
        else if (own > bound)
            a_log.data[h] = (R)(value + (bound - own));
    }
}

template <class R>
int op_spectral(struct handle *h, const struct m2_spectral *a,
                struct m2_error *err)
{
    double bound = a->mode == M2_SPECTRAL_DISCRETE
                       ? log(-log(a->rho) / a->dt_ref)
                       : log(a->rho);

    return cuda_check(
        M2_LAUNCH(constrain<R>, 1, MAP_BLOCK, 0, h->stream, a->mode, bound,
                  matrix_of<double>(a->finite).data, matrix_of<R>(a->a_log)),
        "op spectral", err);
}
OP_INSTANTIATE(spectral, m2_spectral)
OP_NO_SCRATCH(spectral, m2_spectral)
