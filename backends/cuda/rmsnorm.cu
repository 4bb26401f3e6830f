/* RMSNorm, plain and gated, whole rows or groups of columns. */
#include "backends/cuda/norm.cuh"

/* What is normalised: x, or x silu(z). */
template <class R>
static __device__ inline R gated(const matrix<R> &x, const matrix<R> &z,
                                 int64_t t, int64_t c)
{
    R value = x.at(t, c);

    return z.data != NULL ? value * silu(z.at(t, c)) : value;
}

template <class R> struct rmsnorm {
    int64_t groups, width;
    double eps;
    matrix<R> x, z, w, y, rs;
};

template <class R, int TEAM>
static __global__ void rmsnorm_slices(struct rmsnorm<R> a)
{
    M2_SHARED(R, shared, WARP);
    int lane = (int)threadIdx.x % TEAM;
    int64_t at = blockIdx.x * (int64_t)(NORM_BLOCK / TEAM) + threadIdx.x / TEAM;
    int64_t t = quotient(at, a.groups), slice = at - t * a.groups;
    int64_t first = slice * a.width, end = first + a.width;
    R sum = 0, rs;

    if (t >= a.x.rows) /* a whole warp; a block has no row to spare */
        return;
    for (int64_t c = first + lane; c < end; c += TEAM) {
        R u = gated(a.x, a.z, t, c);

        sum += u * u;
    }
    sum = team_sum<TEAM>(sum, shared);
    rs = R(1) / real_sqrt(sum / (R)a.width + (R)a.eps);
    if (lane == 0)
        a.rs.at(t, slice) = rs;
    for (int64_t c = first + lane; c < end; c += TEAM)
        a.y.at(t, c) = gated(a.x, a.z, t, c) * rs * a.w.data[c];
}

template <class R>
int op_rmsnorm(struct handle *h, const struct m2_rmsnorm *a,
               struct m2_error *err)
{
    struct rmsnorm<R> n = {
        a->groups, a->x.cols / a->groups, a->eps,
            matrix_of<R>(a->x), matrix_of<R>(a->z), matrix_of<R>(a->w),
            matrix_of<R>(a->y), matrix_of<R>(a->rs)
    };
    int64_t slices = n.x.rows * n.groups;
    unsigned warps = (unsigned)ceil_div(slices, NORM_BLOCK / WARP);

    if (slices * n.width == 0)
        return M2_OK;
    if (n.width <= FORWARD_WIDTH)
        return cuda_check(M2_LAUNCH((rmsnorm_slices<R, WARP>), warps,
                                    NORM_BLOCK, 0, h->stream, n),
                          "op rmsnorm", err);
    return cuda_check(M2_LAUNCH((rmsnorm_slices<R, NORM_BLOCK>),
                                (unsigned)slices, NORM_BLOCK, 0, h->stream, n),
                      "op rmsnorm", err);
}
OP_INSTANTIATE(rmsnorm, m2_rmsnorm)
OP_NO_SCRATCH(rmsnorm, m2_rmsnorm)

/* ---- backward -------------------------------------------------------------
 *
 * With uh = u rs and g = dy w: du = rs (g - uh mean(g uh)), which is handed on
 * to x and the gate z; dw is the sum of dy uh. */

template <class R> struct rmsnorm_gradient {
    enum { SUMS = 1 };
    int64_t rows, groups, width;
    int64_t accumulate;
    matrix<R> dy, x, z, w, rs, dx, dz;

    __device__ void store(int64_t t, int64_t c, R du) const
    {
        R gradient = du;

        if (z.data != NULL) {
            R gate = z.at(t, c);

            if (dz.data != NULL)
                dz.at(t, c) = du * x.at(t, c) * silu_slope(gate);
            gradient *= silu(gate);
        }
        dx.at(t, c) = accumulate ? dx.at(t, c) + gradient : gradient;
    }

    template <int TEAM>
    __device__ void row(int64_t t, int64_t slice, int lane, R *sums, int64_t,
                        R *shared) const
    {
        int64_t first = slice * width;
        R scale = rs.at(t, slice), mean = 0;

        for (int64_t j = lane; j < width; j += TEAM) {
            R uh = gated(x, z, t, first + j) * scale;
            R product = dy.at(t, first + j) * uh;

            sums[j] += product;
            mean += product * w.data[first + j];
        }
        mean = team_sum<TEAM>(mean, shared) / (R)width;
        for (int64_t j = lane; j < width; j += TEAM) {
            int64_t c = first + j;
            R uh = gated(x, z, t, c) * scale;

            store(t, c, scale * (dy.at(t, c) * w.data[c] - uh * mean));
        }
    }
};

size_t scratch_rmsnorm_backward(const struct handle *h,
                                const struct m2_rmsnorm_backward *a)
{
    return norm_scratch(h, a->x, rmsnorm_gradient<float>::SUMS);
}

template <class R>
int op_rmsnorm_backward(struct handle *h, const struct m2_rmsnorm_backward *a,
                        struct m2_error *err)
{
    struct rmsnorm_gradient<R> n = {
        a->x.rows, a->groups, a->x.cols / a->groups, a->accumulate,
            matrix_of<R>(a->dy), matrix_of<R>(a->x), matrix_of<R>(a->z),
            matrix_of<R>(a->w), matrix_of<R>(a->rs), matrix_of<R>(a->dx),
            matrix_of<R>(a->dz)
    };
    R *dw = matrix_of<R>(a->dw).data;

    return norm_backward_run<R>(h, n, dw, NULL, "op rmsnorm_backward", err);
}
OP_INSTANTIATE(rmsnorm_backward, m2_rmsnorm_backward)
