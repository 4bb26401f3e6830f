/* One step of the convolution and of the scan, with state. */
#include "backends/cuda/real.cuh"
#include "backends/cuda/reduce.cuh"

/* ---- convolution ----------------------------------------------------------
 */

template <class R>
static __global__ void shift_and_convolve(int K, matrix<R> x, matrix<R> w,
                                          const R *__restrict__ bias,
                                          matrix<R> state, matrix<R> y)
{
    int64_t c = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

    if (c >= x.cols)
        return;
    for (int64_t b = blockIdx.y; b < x.rows; b += gridDim.y) {
        R sum = bias != NULL ? bias[c] : R(0);

        for (int k = 0; k < K; k++) {
            R value = k + 1 < K ? state.at(b, c * K + k + 1) : x.at(b, c);

            state.at(b, c * K + k) = value;
            sum += w.at(c, k) * value;
        }
        y.at(b, c) = silu(sum);
    }
}

template <class R>
int op_conv1d_step(struct handle *h, const struct m2_conv1d_step *a,
                   struct m2_error *err)
{
    matrix<R> x = matrix_of<R>(a->x);

    return cuda_check(M2_LAUNCH(shift_and_convolve<R>, map_grid(x.rows, x.cols),
                                MAP_BLOCK, 0, h->stream, (int)a->K, x,
                                matrix_of<R>(a->w), matrix_of<R>(a->b).data,
                                matrix_of<R>(a->state), matrix_of<R>(a->y)),
                      "op conv1d_step", err);
}
OP_INSTANTIATE(conv1d_step, m2_conv1d_step)
OP_NO_SCRATCH(conv1d_step, m2_conv1d_step)

/* ---- scan -----------------------------------------------------------------
 */

enum { STEP_BLOCK = 128 };

template <class R> struct scan_step {
    int64_t H, P, G, N;
    matrix<R> x, dt, a_log, b, c, d, h, y;
    int64_t width; /* lanes that share a row of the state: 8, 16 or 32 */
};

/* Element p of head `head` of sequence b: one row of the state, by `width`
 * lanes.  All lanes of a warp call it together. */
template <class R>
static __device__ void step_row(const scan_step<R> &s, int64_t b, int64_t head,
                                int64_t p)
{
    int width = (int)s.width, lane = (int)threadIdx.x % width;
    int64_t first = head / (s.H / s.G) * s.N;
    double step = (double)s.dt.at(b, head);
    R decay = (R)exp(step * -exp((double)s.a_log.data[head]));
    R x = p < s.P ? s.x.at(b, head * s.P + p) : R(0), sum = 0;
    R *state = s.h.data + b * s.h.ld + (head * s.P + p) * s.N;

    for (int64_t n = lane; p < s.P && n < s.N; n += width) {
        R value = decay * state[n] + (R)step * x * s.b.at(b, first + n);

        state[n] = value;
        sum += value * s.c.at(b, first + n);
    }
    for (int distance = width / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync((unsigned)FULL_WARP, sum, distance);
    if (lane == 0 && p < s.P)
        s.y.at(b, head * s.P + p) = sum + s.d.data[head] * x;
}

/* Block: as many rows as fit of one head of one sequence. */
template <class R> static __global__ void step_scan(scan_step<R> s)
{
    int width = (int)s.width, rows = STEP_BLOCK / width;
    int64_t parts = ceil_div(s.P, rows), task = blockIdx.x / parts;
    int64_t p = blockIdx.x % parts * rows + threadIdx.x / width;

    step_row(s, task / s.H, task % s.H, p);
}

template <class R>
int op_ssd_step(struct handle *h, const struct m2_ssd_step *a,
                struct m2_error *err)
{
    scan_step<R> s = {a->H,
                      a->P,
                      a->G,
                      a->N,
                      matrix_of<R>(a->x),
                      matrix_of<R>(a->dt),
                      matrix_of<R>(a->a_log),
                      matrix_of<R>(a->b),
                      matrix_of<R>(a->c),
                      matrix_of<R>(a->d),
                      matrix_of<R>(a->h),
                      matrix_of<R>(a->y),
                      a->N <= 8    ? 8
                      : a->N <= 16 ? 16
                                   : WARP};
    int64_t blocks = s.x.rows * s.H * ceil_div(s.P, STEP_BLOCK / s.width);

    return cuda_check(
        M2_LAUNCH(step_scan<R>, (unsigned)blocks, STEP_BLOCK, 0, h->stream, s),
        "op ssd_step", err);
}
OP_INSTANTIATE(ssd_step, m2_ssd_step)
OP_NO_SCRATCH(ssd_step, m2_ssd_step)
