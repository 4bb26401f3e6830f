/* States of the tiles, forward, and their gradients, backward: first what each
 * tile adds, all at once, then the walk over the tiles. */
#include "backends/cuda/ssd.cuh"

/* ---- what a tile adds ----------------------------------------------------
 */

/* Block: 64 rows and 16 W columns of the state of one tile. */
template <class R, int W, bool FORWARD>
static __device__ void add_up(const ssd_sums<R> &a, int64_t block, slices<R> &m,
                              ssd_decays<R> &d)
{
    int64_t across = ceil_div(a.s.N, SIDE * W);
    int64_t parts = ceil_div(a.s.P, TILE) * across;
    ssd_tile t = ssd_tile_of(a.s, block / parts);
    int p0 = (int)(block % parts / across) * TILE;
    int n0 = (int)(block % parts % across) * SIDE * W;
    int P = (int)a.s.P - p0, N = (int)a.s.N - n0, last = t.q - 1;
    const R *u = &a.u.at(t.row, t.head * a.s.P + p0);
    const R *v = &a.v.at(t.row, t.group * a.s.N + n0);
    R *out = state_of(a.local, a.s, t) + p0 * a.s.N + n0, sum[4][W] = {};

    if (a.s.last_only && !FORWARD)
        u = &a.u.at(t.b, t.head * a.s.P + p0) - t.first * a.u.ld;
    fill_decays(d, t, a.dt, a.a_log.data);
    product<ACROSS_K, ACROSS_K>(
        sum, m, FORWARD ? t.q : t.q - t.first, all_of(t.q, P),
        [=](int p, int k) {
            k += FORWARD ? 0 : t.first;
            return p < P ? u[k * a.u.ld + p] : R(0);
        },
        [=, &d](int n, int k) {
            k += FORWARD ? 0 : t.first;
            return n < N ? v[k * a.v.ld + n] *
                               (FORWARD ? d.dt[k] * decay_between(d, k, last)
                                        : decay_in(d, k))
                         : R(0);
        });
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < W; j++)
            if (row() + i < P && column<W>() + j < N)
                out[(row() + i) * a.s.N + column<W>() + j] = sum[i][j];
    if (a.whole != NULL && block % parts == 0 && threadIdx.x == 0)
        a.whole[(t.b * a.s.tiles + t.index) * a.s.H + t.head] =
            decay_in(d, last);
}

template <class R, int W>
static __global__ void __launch_bounds__(THREADS, 2)
    local_sums(ssd_sums<R> forward, ssd_sums<R> backward, int64_t n_forward)
{
    M2_SHARED(slices<R>, m, 1);
    M2_SHARED(ssd_decays<R>, d, 1);
    int64_t block = blockIdx.x;

    if (block < n_forward)
        add_up<R, W, true>(forward, block, m[0], d[0]);
    else
        add_up<R, W, false>(backward, block - n_forward, m[0], d[0]);
}

template <class R> static int64_t sums_blocks(const ssd_sums<R> &a)
{
    if (a.local.data == NULL)
        return 0;
    return a.s.B * a.s.tiles * a.s.H * ceil_div(a.s.P, TILE) *
           ceil_div(a.s.N, ssd_width(a.s.N));
}

template <class R>
int ssd_sums_run(struct handle *h, const ssd_sums<R> &forward,
                 const ssd_sums<R> &backward, struct m2_error *err)
{
    int64_t first = sums_blocks(forward),
            blocks = first + sums_blocks(backward);
    int64_t N = first > 0 ? forward.s.N : backward.s.N;

#define RUN(W)                                                                 \
    M2_LAUNCH((local_sums<R, W>), (unsigned)blocks, THREADS, 0, h->stream,     \
              forward, backward, first)
    return cuda_check(SSD_BY_WIDTH(N, RUN), "op ssd: sums of tiles", err);
#undef RUN
}

/* ---- the walk -------------------------------------------------------------
 */

enum { PASS_BLOCK = 128 };

/* One element of the states of one head of one sequence. */
struct pass_place {
    int64_t b, head, element, size;
};

template <class R>
static __device__ void walk_forward(const ssd_pass<R> &a, const pass_place &at)
{
    int64_t own = at.head * at.size + at.element, step = a.s.H * at.size;
    R *local = a.local.data + at.b * a.local.ld + own;
    const R *whole = a.whole + at.b * a.s.tiles * a.s.H + at.head;
    R state = a.begin.data != NULL ? a.begin.at(at.b, own) : R(0);

    for (int64_t i = 0; i < a.s.tiles; i++) {
        R add = local[i * step];

        if (a.saved.data != NULL && i % a.s.per == 0) {
            R *saved = &a.saved.at(at.b, i / a.s.per * step + own);

            if (a.restart)
                state = *saved;
            else
                *saved = state;
        }
        local[i * step] = state;
        state = whole[i * a.s.H] * state + add;
    }
    if (a.end.data != NULL)
        a.end.at(at.b, own) = state;
}

template <class R>
static __device__ void walk_backward(const ssd_pass<R> &a, const pass_place &at)
{
    int64_t own = at.head * at.size + at.element, step = a.s.H * at.size;
    R *local = a.local.data + at.b * a.local.ld + own;
    const R *whole = a.whole + at.b * a.s.tiles * a.s.H + at.head;
    R state = a.begin.data != NULL ? a.begin.at(at.b, own) : R(0);

    for (int64_t i = a.s.tiles - 1; i >= 0; i--) {
        R add = local[i * step];

        local[i * step] = state;
        state = whole[i * a.s.H] * state + add;
    }
    if (a.end.data != NULL)
        a.end.at(at.b, own) = state;
}

template <class R>
static __global__ void walk(ssd_pass<R> forward, ssd_pass<R> backward,
                            int64_t n_forward)
{
    bool is_forward = blockIdx.x < n_forward;
    int64_t block = is_forward ? blockIdx.x : blockIdx.x - n_forward;
    const ssd_shape &s = is_forward ? forward.s : backward.s;
    int64_t size = s.P * s.N, parts = ceil_div(size, PASS_BLOCK);
    pass_place at = {block / parts / s.H, block / parts % s.H,
                     block % parts * PASS_BLOCK + threadIdx.x, size};

    if (at.element >= size)
        return;
    if (is_forward)
        walk_forward(forward, at);
    else
        walk_backward(backward, at);
}

template <class R> static int64_t pass_blocks(const ssd_pass<R> &a)
{
    return a.local.data == NULL
               ? 0
               : a.s.B * a.s.H * ceil_div(a.s.P * a.s.N, PASS_BLOCK);
}

template <class R>
int ssd_pass_run(struct handle *h, const ssd_pass<R> &forward,
                 const ssd_pass<R> &backward, struct m2_error *err)
{
    int64_t first = pass_blocks(forward),
            blocks = first + pass_blocks(backward);

    return cuda_check(M2_LAUNCH(walk<R>, (unsigned)blocks, PASS_BLOCK, 0,
                                h->stream, forward, backward, first),
                      "op ssd: states of tiles", err);
}

#define INSTANTIATE(R)                                                         \
    template int ssd_sums_run<R>(struct handle *, const ssd_sums<R> &,         \
                                 const ssd_sums<R> &, struct m2_error *);      \
    template int ssd_pass_run<R>(struct handle *, const ssd_pass<R> &,         \
                                 const ssd_pass<R> &, struct m2_error *);
INSTANTIATE(float)
INSTANTIATE(double)
