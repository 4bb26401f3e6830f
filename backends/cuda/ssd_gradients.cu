/* The scan, backward: dX, and dB and dC of each head.  A block has 64 columns
 * of dX, or a part of the columns of dB or dC, of one tile of one head. */
#include "backends/cuda/ssd_backward.cuh"

/* The block's memory, and its work. */
template <class R> struct gradients_memory {
    slices<R> m;
    ssd_decays<R> d;
    R sums[WARP];
};

template <class R> struct gradients_part {
    const ssd_back<R> &a;
    gradients_memory<R> &m;
    ssd_tile t;
    int64_t part; /* of the columns */
    int rows;     /* of dY */
};

/* to[step] = the sum of `value` over the SIDE threads that share a row. */
template <class R>
static __device__ inline void keep_row_sum(R *to, int step, bool inside,
                                           R value)
{
    for (int distance = SIDE / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync((unsigned)FULL_WARP, value, distance);
    if (inside && threadIdx.x % SIDE == 0)
        to[step] = value;
}

/* Rows of M^T and dG^T: row j is 0 before step j. */
template <class R>
static __device__ inline span from_diagonal(const gradients_part<R> &g)
{
    int from = warp_row() - g.t.first;
    span s = {from > 0 ? from : 0, warp_row() < g.t.q ? g.rows : 0};

    return s;
}

/* ---- dX -------------------------------------------------------------------
 */

/* dX = dt dU + D dY, and what dU gives to the gradient of dt. */
template <class R>
static __device__ void finish_inputs(const gradients_part<R> &g,
                                     const R (&du)[4][4], int P)
{
    const ssd_back<R> &a = g.a;
    const ssd_tile &t = g.t;
    int64_t left = t.head * a.s.P + g.part * TILE;
    const R *dy = dy_of(a, t, g.part * TILE);
    R skip = a.d.data[t.head];

#pragma unroll
    for (int i = 0; i < 4; i++) {
        int j = row() + i;
        R direct = 0, through = 0;

#pragma unroll
        for (int k = 0; k < 4; k++) {
            int p = column<4>() + k;
            R x, add = 0;

            if (j >= t.q || p >= P)
                continue;
            x = a.x.at(t.row + j, left + p);
            if (j >= t.first)
                add = dy[(j - t.first) * a.dy.ld + p];
            a.dx.at(t.row + j, left + p) = g.m.d.dt[j] * du[i][k] + skip * add;
            direct += x * du[i][k];
            through += x * add;
        }
        keep_row_sum(vector_of(a, t, SLOT_DIRECT, g.part), j, j < t.q, direct);
        keep_row_sum(vector_of(a, t, SLOT_SKIP, g.part), j, j < t.q, through);
    }
}

/* dU = M^T dY + diag(tail) B R^T */
template <class R>
static __device__ void input_gradients(const gradients_part<R> &g)
{
    const ssd_back<R> &a = g.a;
    const ssd_tile &t = g.t;
    const ssd_decays<R> &d = g.m.d;
    int P = (int)(a.s.P - g.part * TILE), N = (int)a.s.N;
    R du[4][4] = {};

    if (has_leave(a, t)) {
        const R *b = &a.b.at(t.row, t.group * a.s.N);
        const R *r = state_of(a.leave, a.s, t) + g.part * TILE * a.s.N;

        product<ALONG_K, ALONG_K>(
            du, g.m.m, N, all_of(N, t.q),
            [=, &a](int j, int k) {
                return j < t.q ? b[j * a.b.ld + k] : R(0);
            },
            [=](int p, int k) { return p < P ? r[p * N + k] : R(0); });
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (row() + i < t.q)
                    du[i][k] *= decay_between(d, row() + i, t.q - 1);
    }
    if (g.rows > 0) {
        const R *dy = dy_of(a, t, g.part * TILE);
        const R *mix = square_of(a.mix, a.s, t);

        product<ACROSS_K, ACROSS_K>(
            du, g.m.m, g.rows, from_diagonal(g),
            [=, &a](int j, int k) {
                return j < t.q ? mix[k * a.s.q + j] : R(0);
            },
            [=, &a](int p, int k) {
                return p < P ? dy[k * a.dy.ld + p] : R(0);
            });
    }
    finish_inputs(g, du, P);
}

/* ---- dB and dC -------------------------------------------------------------
 */

/* sum = rows of `factors` (P wide) times columns of a (P, N) state. */
template <class R, int W>
static __device__ void times_state(const gradients_part<R> &g, R (&sum)[4][W],
                                   const R *factors, int64_t ld, int rows,
                                   const R *state)
{
    int P = (int)g.a.s.P, N = (int)(g.a.s.N - g.part * SIDE * W);
    int64_t width = g.a.s.N;

    state += g.part * SIDE * W;
    product<ALONG_K, ACROSS_K>(
        sum, g.m.m, P, all_of(P, rows),
        [=](int i, int k) { return i < rows ? factors[i * ld + k] : R(0); },
        [=](int n, int k) { return n < N ? state[k * width + n] : R(0); });
}

/* sum *= scale(row); to[first + row] = the sums of sum * other over this part's
 * columns, where `other` is b or c of the same step. */
template <class R, int W, class F>
static __device__ void scale_rows(const gradients_part<R> &g, R (&sum)[4][W],
                                  const matrix<R> &other, int first, R *to,
                                  F scale)
{
    int64_t left = g.part * SIDE * W + column<W>();

#pragma unroll
    for (int i = 0; i < 4; i++) {
        int step = first + row() + i;
        R factor = step < g.t.q ? scale(step) : R(0), inner = 0;

#pragma unroll
        for (int j = 0; j < W; j++) {
            sum[i][j] *= factor;
            if (step < g.t.q && left + j < g.a.s.N)
                inner += sum[i][j] * other.at(g.t.row + step,
                                              g.t.group * g.a.s.N + left + j);
        }
        keep_row_sum(to, step, step < g.t.q, inner);
    }
}

/* This part of the columns of the tile's rows from `first` on. */
template <class R, int W>
static __device__ void store_rows(const gradients_part<R> &g,
                                  const matrix<R> &out, int first,
                                  const R (&sum)[4][W])
{
    int64_t left = g.part * SIDE * W + column<W>();

#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < W; j++)
            if (first + row() + i < g.t.q && left + j < g.a.s.N)
                out.at(g.t.row + first + row() + i,
                       g.t.head * g.a.s.N + left + j) = sum[i][j];
}

/* Steps without an output: no gradient of C. */
template <class R, int W>
static __device__ void clear_rows(const gradients_part<R> &g)
{
    R zero[4][W] = {};
    int64_t left = g.part * SIDE * W + column<W>();

#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < W; j++)
            if (row() + i < g.t.first && left + j < g.a.s.N)
                g.a.head_dc.at(g.t.row + row() + i,
                               g.t.head * g.a.s.N + left + j) = zero[i][j];
}

/* dC = diag(exp(s)) dY S + dG B */
template <class R, int W>
static __device__ void output_gradients(const gradients_part<R> &g)
{
    const ssd_back<R> &a = g.a;
    const ssd_tile &t = g.t;
    int N = (int)(a.s.N - g.part * SIDE * W), end = t.first + warp_row();
    span need = {0, warp_row() < g.rows ? end + WARP_ROWS : 0};
    const R *b, *dgram;
    R sum[4][W] = {};

    clear_rows<R, W>(g);
    if (g.rows == 0)
        return;
    times_state(g, sum, dy_of(a, t, 0), a.dy.ld, g.rows,
                state_of(a.entry, a.s, t));
    scale_rows(g, sum, a.c, t.first, vector_of(a, t, SLOT_FROM_STATE, g.part),
               [&g](int step) { return decay_in(g.m.d, step); });
    b = &a.b.at(t.row, t.group * a.s.N + g.part * SIDE * W);
    dgram = square_of(a.dgram, a.s, t);
    product<ALONG_K, ACROSS_K>(
        sum, g.m.m, t.q, need,
        [=, &a, &g](int i, int k) {
            return i < g.rows ? dgram[i * a.s.q + k] : R(0);
        },
        [=, &a](int n, int k) { return n < N ? b[k * a.b.ld + n] : R(0); });
    store_rows(g, a.head_dc, t.first, sum);
}

/* exp(s_q) <S, R>, this part of the columns. */
template <class R, int W>
static __device__ void carried_product(const gradients_part<R> &g)
{
    const ssd_back<R> &a = g.a;
    const R *state = state_of(a.entry, a.s, g.t);
    const R *r = state_of(a.leave, a.s, g.t);
    int64_t n0 = g.part * SIDE * W, N = a.s.N;
    int64_t width = N - n0 < SIDE * W ? N - n0 : SIDE * W;
    R sum = 0;

    for (int64_t i = threadIdx.x; i < a.s.P * width; i += THREADS) {
        int64_t at = i / width * N + n0 + i % width;

        sum += state[at] * r[at];
    }
    sum = block_sum(sum, g.m.sums);
    if (threadIdx.x == 0)
        *vector_of(a, g.t, SLOT_CARRIED, g.part) =
            sum * decay_in(g.m.d, g.t.q - 1);
}

/* dB = diag(dt tail) X R + dG^T C */
template <class R, int W>
static __device__ void state_gradients(const gradients_part<R> &g)
{
    const ssd_back<R> &a = g.a;
    const ssd_tile &t = g.t;
    int N = (int)(a.s.N - g.part * SIDE * W);
    R sum[4][W] = {};

    if (has_leave(a, t)) {
        times_state(g, sum, &a.x.at(t.row, t.head * a.s.P), a.x.ld, t.q,
                    state_of(a.leave, a.s, t));
        scale_rows(g, sum, a.b, 0, vector_of(a, t, SLOT_TO_STATE, g.part),
                   [&g, &t](int step) {
                       return g.m.d.dt[step] *
                              decay_between(g.m.d, step, t.q - 1);
                   });
        carried_product<R, W>(g);
    }
    if (g.rows > 0) {
        const R *dgram = square_of(a.dgram, a.s, t);
        const R *c =
            &a.c.at(t.row + t.first, t.group * a.s.N + g.part * SIDE * W);

        product<ACROSS_K, ACROSS_K>(
            sum, g.m.m, g.rows, from_diagonal(g),
            [=, &a](int j, int k) {
                return j < t.q ? dgram[k * a.s.q + j] : R(0);
            },
            [=, &a](int n, int k) { return n < N ? c[k * a.c.ld + n] : R(0); });
    }
    store_rows(g, a.head_db, 0, sum);
}

/* ---- kernel ---------------------------------------------------------------
 */

template <class R, int W>
static __global__ void __launch_bounds__(THREADS) gradients(ssd_back<R> a)
{
    M2_SHARED(gradients_memory<R>, memory, 1);
    int64_t parts = a.p_parts + 2 * a.n_parts, part = blockIdx.x % parts;
    ssd_tile t = ssd_tile_of(a.s, blockIdx.x / parts);
    gradients_part<R> g = {a, memory[0], t, part, t.q - t.first};

    fill_decays(memory[0].d, t, a.dt, a.a_log.data);
    if (part < a.p_parts) {
        input_gradients(g);
    } else if (part < a.p_parts + a.n_parts) {
        g.part = part - a.p_parts;
        output_gradients<R, W>(g);
    } else {
        g.part = part - a.p_parts - a.n_parts;
        state_gradients<R, W>(g);
    }
}

template <class R>
int ssd_gradients_run(struct handle *h, const ssd_back<R> &a,
                      struct m2_error *err)
{
    int64_t blocks = a.s.B * a.s.tiles * a.s.H * (a.p_parts + 2 * a.n_parts);

#define RUN(W)                                                                 \
    M2_LAUNCH((gradients<R, W>), (unsigned)blocks, THREADS, 0, h->stream, a)
    return cuda_check(SSD_BY_WIDTH(a.s.N, RUN), "op ssd_backward: gradients",
                      err);
#undef RUN
}

template int ssd_gradients_run<float>(struct handle *, const ssd_back<float> &,
                                      struct m2_error *);
template int ssd_gradients_run<double>(struct handle *,
                                       const ssd_back<double> &,
                                       struct m2_error *);
