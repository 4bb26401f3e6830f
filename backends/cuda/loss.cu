/* Elementwise losses: mse, mae, huber.
 *
 * A block adds a fixed run of elements in f64; a second kernel adds the blocks'
 * sums in order, where there is more than one. */
#include "backends/cuda/reduce.cuh"
#include "backends/cuda/walk.cuh"

#include <math.h>

enum { LOSS_BLOCK = 256, LOSS_EACH = 16 };
enum { LOSS_RUN = LOSS_BLOCK * LOSS_EACH };
enum loss_kind { LOSS_MSE, LOSS_MAE, LOSS_HUBER };

struct loss_sums {
    double sum, right;
};

template <class R> struct losses {
    double delta, scale;
    struct walk walk;
    matrix<R> pred, target, dpred;
    double count;
};

/* The loss of the error e; *slope is its derivative.  A NaN stays one. */
template <enum loss_kind KIND>
static __device__ double loss_of(double e, double delta, double *slope)
{
    if (KIND == LOSS_MSE) {
        *slope = 2 * e;
        return e * e;
    }
    if (KIND == LOSS_MAE) {
        *slope = e > 0 ? 1 : e < 0 ? -1 : e;
        return fabs(e);
    }
    *slope = e < -delta ? -delta : e > delta ? delta : e;
    return fabs(e) <= delta ? 0.5 * e * e : delta * (fabs(e) - 0.5 * delta);
}

template <class R, enum loss_kind KIND>
static __device__ void add_loss(const struct losses<R> &a, int64_t at,
                                struct loss_sums *sums)
{
    int64_t i = a.walk.rows == 1 ? 0 : quotient(at, a.walk.cols);
    int64_t j = at - i * a.walk.cols;
    double pred = (double)a.pred.at(i, j), target = (double)a.target.at(i, j);
    double slope;

    sums->sum += loss_of<KIND>(pred - target, a.delta, &slope);
    sums->right += (pred > 0 && target > 0) || (pred < 0 && target < 0);
    if (a.dpred.data != NULL)
        a.dpred.at(i, j) = (R)(a.scale * slope);
}

/* At thread 0: a block's sums, to its place or as the result. */
static __device__ void put_sums(const struct loss_sums &sums, double count,
                                bool done, struct loss_sums *part, double *out)
{
    if (!done) {
        part[blockIdx.x] = sums;
        return;
    }
    out[0] = sums.sum;
    out[1] = count;
    out[2] = sums.right;
}

template <class R, enum loss_kind KIND>
static __global__ void add_losses(struct losses<R> a, struct loss_sums *part,
                                  double *out)
{
    M2_SHARED(double, shared, WARP);
    int64_t n = a.walk.rows * a.walk.cols;
    int64_t at = blockIdx.x * (int64_t)LOSS_RUN + threadIdx.x;
    struct loss_sums sums = {0, 0};

    for (int k = 0; k < LOSS_EACH; k++, at += LOSS_BLOCK)
        if (at < n)
            add_loss<R, KIND>(a, at, &sums);
    sums.sum = block_sum(sums.sum, shared);
    sums.right = block_sum(sums.right, shared);
    if (threadIdx.x == 0)
        put_sums(sums, a.count, gridDim.x == 1, part, out);
}

static __global__ void add_runs(const struct loss_sums *part, int64_t n,
                                double count, double *out)
{
    M2_SHARED(double, shared, WARP);
    struct loss_sums sums = {0, 0};

    for (int64_t i = threadIdx.x; i < n; i += LOSS_BLOCK) {
        sums.sum += part[i].sum;
        sums.right += part[i].right;
    }
    sums.sum = block_sum(sums.sum, shared);
    sums.right = block_sum(sums.right, shared);
    if (threadIdx.x == 0)
        put_sums(sums, count, true, NULL, out);
}

static int64_t loss_runs(const struct m2_loss *a)
{
    return ceil_div(a->pred.rows * a->pred.cols, LOSS_RUN);
}

template <class R, enum loss_kind KIND>
static int loss_run(struct handle *h, const struct m2_loss *a, const char *what,
                    struct m2_error *err)
{
    double count = (double)a->pred.rows * (double)a->pred.cols;
    struct losses<R> l = {
        a->delta, a->scale == 0 ? 1 / count : a->scale, {0, 0},
            matrix_of<R>(a->pred), matrix_of<R>(a->target),
            matrix_of<R>(a->dpred), count
    };
    struct loss_sums *part = (struct loss_sums *)h->scratch;
    double *out = matrix_of<double>(a->out).data;
    int64_t runs = loss_runs(a);
    int code;

    l.walk = l.dpred.data != NULL ? walk_of(l.pred, l.target, l.dpred)
                                  : walk_of(l.pred, l.target);
    code = cuda_check(M2_LAUNCH((add_losses<R, KIND>),
                                (unsigned)(runs > 0 ? runs : 1), LOSS_BLOCK, 0,
                                h->stream, l, part, out),
                      what, err);
    if (code != M2_OK || runs <= 1)
        return code;
    return cuda_check(M2_LAUNCH(add_runs, 1, LOSS_BLOCK, 0, h->stream, part,
                                runs, count, out),
                      what, err);
}

#define LOSS(name, kind)                                                       \
    template <class R>                                                         \
    int op_##name(struct handle *h, const struct m2_loss *a,                   \
                  struct m2_error *err)                                        \
    {                                                                          \
        return loss_run<R, kind>(h, a, "op " #name, err);                      \
    }                                                                          \
    size_t scratch_##name(const struct handle *, const struct m2_loss *a)      \
    {                                                                          \
        return (size_t)loss_runs(a) * sizeof(struct loss_sums);                \
    }

LOSS(mse, LOSS_MSE)
OP_INSTANTIATE(mse, m2_loss)
LOSS(mae, LOSS_MAE)
OP_INSTANTIATE(mae, m2_loss)
LOSS(huber, LOSS_HUBER)
OP_INSTANTIATE(huber, m2_loss)
