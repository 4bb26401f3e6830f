/* LayerNorm. */
#include "backends/cuda/norm.cuh"

template <class R> struct layernorm {
    double eps;
    matrix<R> x, w, b, y, stats;
};

template <class R, int TEAM>
static __global__ void layernorm_rows(struct layernorm<R> a)
{
    M2_SHARED(R, shared, WARP);
    int lane = (int)threadIdx.x % TEAM;
    int64_t t = blockIdx.x * (int64_t)(NORM_BLOCK / TEAM) + threadIdx.x / TEAM;
    int64_t width = a.x.cols;
    R sum = 0, squares = 0, mu, rs;

    if (t >= a.x.rows) /* a whole warp; a block has no row to spare */
        return;
    for (int64_t j = lane; j < width; j += TEAM)
        sum += a.x.at(t, j);
    mu = team_sum<TEAM>(sum, shared) / (R)width;
    for (int64_t j = lane; j < width; j += TEAM) {
        R distance = a.x.at(t, j) - mu;

        squares += distance * distance;
    }
    squares = team_sum<TEAM>(squares, shared);
    rs = R(1) / real_sqrt(squares / (R)width + (R)a.eps);
    if (lane == 0) {
        a.stats.at(t, 0) = mu;
        a.stats.at(t, 1) = rs;
    }
    for (int64_t j = lane; j < width; j += TEAM)
        a.y.at(t, j) = (a.x.at(t, j) - mu) * rs * a.w.data[j] + a.b.data[j];
}

template <class R>
int op_layernorm(struct handle *h, const struct m2_layernorm *a,
                 struct m2_error *err)
{
    struct layernorm<R> n = {
        (R) a->eps, matrix_of<R>(a->x), matrix_of<R>(a->w), matrix_of<R>(a->b),
            matrix_of<R>(a->y), matrix_of<R>(a->stats)
    };
    unsigned warps = (unsigned)ceil_div(n.x.rows, NORM_BLOCK / WARP);

    if (n.x.rows * n.x.cols == 0)
        return M2_OK;
    if (n.x.cols <= FORWARD_WIDTH)
        return cuda_check(M2_LAUNCH((layernorm_rows<R, WARP>), warps,
                                    NORM_BLOCK, 0, h->stream, n),
                          "op layernorm", err);
    return cuda_check(M2_LAUNCH((layernorm_rows<R, NORM_BLOCK>),
                                (unsigned)n.x.rows, NORM_BLOCK, 0, h->stream,
                                n),
                      "op layernorm", err);
}
OP_INSTANTIATE(layernorm, m2_layernorm)
OP_NO_SCRATCH(layernorm, m2_layernorm)

/* ---- backward -------------------------------------------------------------
 *
 * With xh = (x - mu) rs and g = dy w: dx = rs (g - mean g - xh mean(g xh)); dw
 * is the sum of dy xh, db that of dy. */

template <class R> struct layernorm_gradient {
    enum { SUMS = 2 };
    int64_t rows, groups, width; /* groups: 1 */
    int64_t accumulate;
    matrix<R> dy, x, w, stats, dx;

    template <int TEAM>
    __device__ void row(int64_t t, int64_t, int lane, R *sums, int64_t step,
                        R *shared) const
    {
        R mu = stats.at(t, 0), rs = stats.at(t, 1);
        R mean = 0, mean_xh = 0;

        for (int64_t j = lane; j < width; j += TEAM) {
            R xh = (x.at(t, j) - mu) * rs, gradient = dy.at(t, j);
            R g = gradient * w.data[j];

            sums[j] += gradient * xh;
            sums[step + j] += gradient;
            mean += g;
            mean_xh += g * xh;
        }
        mean = team_sum<TEAM>(mean, shared) / (R)width;
        mean_xh = team_sum<TEAM>(mean_xh, shared) / (R)width;
        for (int64_t j = lane; j < width; j += TEAM) {
            R xh = (x.at(t, j) - mu) * rs, g = dy.at(t, j) * w.data[j];
            R gradient = rs * (g - mean - xh * mean_xh);

            dx.at(t, j) = accumulate ? dx.at(t, j) + gradient : gradient;
        }
    }
};

size_t scratch_layernorm_backward(const struct handle *h,
                                  const struct m2_layernorm_backward *a)
{
    return norm_scratch(h, a->x, layernorm_gradient<float>::SUMS);
}

template <class R>
int op_layernorm_backward(struct handle *h,
                          const struct m2_layernorm_backward *a,
                          struct m2_error *err)
{
    struct layernorm_gradient<R> n = {
        a->x.rows, 1, a->x.cols, a->accumulate,
            matrix_of<R>(a->dy), matrix_of<R>(a->x), matrix_of<R>(a->w),
            matrix_of<R>(a->stats), matrix_of<R>(a->dx)
    };

    return norm_backward_run<R>(h, n, matrix_of<R>(a->dw).data,
                                matrix_of<R>(a->db).data,
                                "op layernorm_backward", err);
}
OP_INSTANTIATE(layernorm_backward, m2_layernorm_backward)
