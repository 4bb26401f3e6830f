/* The selective scan, forward: specification 4.8.  States first, where there is
 * more than one tile or the final one is wanted; then the outputs of all tiles
 * at once: Y = (M diag(dt)) X + diag(exp(s)) C S^T + D X. */
#include "backends/cuda/ssd.cuh"

template <class R> struct ssd_outputs {
    ssd_shape s;
    matrix<R> x, dt, a_log, b, c, d, y;
    matrix<R> entry; /* states that enter the tiles; absent: zeros */
    matrix<R> saved; /* written here: only with one tile */
};

/* With one tile no kernel but this one knows about the states to save: the
 * block's part of them is copied, or zeros. */
template <class R>
static __device__ void save_entry(const ssd_outputs<R> &a, const ssd_tile &t,
                                  int64_t from, int64_t to)
{
    R *saved;

    if (a.saved.data == NULL)
        return;
    saved = state_of(a.saved, a.s, t);
    for (int64_t i = from + threadIdx.x; i < to; i += THREADS)
        saved[i] = a.entry.data != NULL ? state_of(a.entry, a.s, t)[i] : R(0);
}

/* ---- all rows -------------------------------------------------------------
 */

template <class R> struct outputs_memory {
    slices<R> m;
    ssd_decays<R> d;
    R mix[TILE][TILE + 1]; /* [j][i]: M_ij dt_j */
};

/* mix from C B^T. */
template <class R>
static __device__ void fill_mix(outputs_memory<R> &m, const ssd_outputs<R> &a,
                                const ssd_tile &t)
{
    const R *b = &a.b.at(t.row, t.group * a.s.N);
    const R *c = &a.c.at(t.row, t.group * a.s.N);
    R sum[4][4] = {};

    product<ALONG_K, ALONG_K>(
        sum, m.m, (int)a.s.N, all_of((int)a.s.N, t.q),
        [=](int i, int k) { return i < t.q ? c[i * a.c.ld + k] : R(0); },
        [=](int j, int k) { return j < t.q ? b[j * a.b.ld + k] : R(0); });
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int i = row() + k / 4, j = column<4>() + k % 4;

        m.mix[j][i] = j <= i && i < t.q ? sum[k / 4][k % 4] * m.d.dt[j] *
                                              decay_between(m.d, j, i)
                                        : R(0);
    }
    __syncthreads();
}

/* Block: 64 columns of one head's outputs in one tile. */
template <class R>
static __global__ void __launch_bounds__(THREADS) outputs(ssd_outputs<R> a)
{
    M2_SHARED(outputs_memory<R>, memory, 1);
    outputs_memory<R> &m = memory[0];
    int64_t parts = ceil_div(a.s.P, TILE), part = blockIdx.x % parts;
    ssd_tile t = ssd_tile_of(a.s, blockIdx.x / parts);
    int64_t left = t.head * a.s.P + part * TILE;
    int P = (int)(a.s.P - part * TILE), N = (int)a.s.N;
    const R *x = &a.x.at(t.row, left);
    const R *c = &a.c.at(t.row, t.group * a.s.N);
    R sum[4][4] = {}, skip = a.d.data[t.head];
    span lower = {0, warp_row() < t.q ? warp_row() + WARP_ROWS : 0};

    P = P < TILE ? P : TILE;
    save_entry(a, t, part * TILE * N, (part * TILE + P) * N);
    fill_decays(m.d, t, a.dt, a.a_log.data);
    if (a.entry.data != NULL) {
        const R *state = state_of(a.entry, a.s, t) + part * TILE * N;

        product<ALONG_K, ALONG_K>(
            sum, m.m, N, all_of(N, t.q),
            [=](int i, int k) { return i < t.q ? c[i * a.c.ld + k] : R(0); },
            [=](int p, int k) { return p < P ? state[p * N + k] : R(0); });
#pragma unroll
        for (int k = 0; k < 16; k++)
            if (row() + k / 4 < t.q)
                sum[k / 4][k % 4] *= decay_in(m.d, row() + k / 4);
    }
    fill_mix(m, a, t);
    product<ACROSS_K, ACROSS_K>(
        sum, m.m, t.q, lower, [&m](int i, int k) { return m.mix[k][i]; },
        [=](int p, int k) { return p < P ? x[k * a.x.ld + p] : R(0); });
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int i = row() + k / 4, p = column<4>() + k % 4;

        if (i < t.q && p < P)
            a.y.at(t.row + i, left + p) =
                sum[k / 4][k % 4] + skip * x[i * a.x.ld + p];
    }
}

/* ---- only the last row ---------------------------------------------------
 */

/* weight_j = dt_j exp(s_last - s_j) <c_last, b_j>, a warp per j. */
template <class R>
static __device__ void last_weights(R *weight, const ssd_decays<R> &d,
                                    const ssd_outputs<R> &a, const ssd_tile &t)
{
    int lane = (int)threadIdx.x % WARP, last = t.q - 1;
    const R *c = &a.c.at(t.row + last, t.group * a.s.N);

    for (int j = (int)threadIdx.x / WARP; j < t.q; j += THREADS / WARP) {
        const R *b = &a.b.at(t.row + j, t.group * a.s.N);
        R sum = 0;

        for (int64_t n = lane; n < a.s.N; n += WARP)
            sum += c[n] * b[n];
        sum = warp_sum(sum);
        if (lane == 0)
            weight[j] = sum * d.dt[j] * decay_between(d, j, last);
    }
    __syncthreads();
}

/* exp(s_last) <S_p, c_last>; a warp does it together. */
template <class R>
static __device__ R last_from_state(const ssd_outputs<R> &a, const ssd_tile &t,
                                    const ssd_decays<R> &d, int64_t p)
{
    const R *c = &a.c.at(t.row + t.q - 1, t.group * a.s.N);
    const R *state = state_of(a.entry, a.s, t) + p * a.s.N;
    R sum = 0;

    for (int64_t n = threadIdx.x % WARP; n < a.s.N; n += WARP)
        sum += state[n] * c[n];
    return warp_sum(sum) * decay_in(d, t.q - 1);
}

/* Block: the last row of one head.  A warp per element of it. */
template <class R>
static __global__ void __launch_bounds__(THREADS, 1)
    last_output(ssd_outputs<R> a)
{
    M2_SHARED(ssd_decays<R>, d, 1);
    M2_SHARED(R, weight, TILE);
    int64_t b = blockIdx.x / a.s.H, lane = threadIdx.x % WARP;
    ssd_tile t = ssd_tile_of(a.s, (b * a.s.tiles + a.s.tiles - 1) * a.s.H +
                                      blockIdx.x % a.s.H);

    save_entry(a, t, 0, a.s.P * a.s.N);
    fill_decays(d[0], t, a.dt, a.a_log.data);
    last_weights(weight, d[0], a, t);
    for (int64_t p = threadIdx.x / WARP; p < a.s.P; p += THREADS / WARP) {
        const R *x = &a.x.at(t.row, t.head * a.s.P + p);
        R sum = 0;

        for (int64_t j = lane; j < t.q; j += WARP)
            sum += weight[j] * x[j * a.x.ld];
        sum = warp_sum(sum);
        if (a.entry.data != NULL)
            sum += last_from_state(a, t, d[0], p);
        if (lane == 0)
            a.y.at(b, t.head * a.s.P + p) =
                sum + a.d.data[t.head] * x[(t.q - 1) * a.x.ld];
    }
}

/* ---- host -----------------------------------------------------------------
 */

/* Whether states pass between kernels, and whether the states to save are the
 * place where they do.  h_final is judged by its shape: a call that is only
 * planned may have no buffer. */
static bool has_states(const struct m2_ssd *a, const ssd_shape &s)
{
    return s.tiles > 1 || a->h_final.cols > 0;
}

static bool in_place(const struct m2_ssd *a, const ssd_shape &s)
{
    return a->states.buffer != NULL && s.per == 1;
}

/* The states of tiles, and their decays; at counts the scratch. */
template <class R>
static void plan(char *scratch, const struct m2_ssd *a, ssd_sums<R> *sums,
                 size_t *at)
{
    const ssd_shape &s = sums->s;
    size_t heads = (size_t)(s.B * s.tiles * s.H);

    if (!has_states(a, s))
        return;
    sums->whole = (R *)scratch_take(scratch, at, heads * sizeof(R));
    if (in_place(a, s))
        return;
    sums->local.ld = s.tiles * s.H * s.P * s.N;
    sums->local.data =
        (R *)scratch_take(scratch, at, heads * (size_t)(s.P * s.N) * sizeof(R));
}

template <class R>
static int run_states(struct handle *h, const struct m2_ssd *a,
                      const ssd_sums<R> &sums, struct m2_error *err)
{
    ssd_sums<R> no_sums = {};
    ssd_pass<R> pass = {}, no_pass = {};
    matrix<R> saved = matrix_of<R>(a->states);
    int code = ssd_sums_run(h, sums, no_sums, err);

    pass.s = sums.s;
    pass.local = sums.local;
    pass.whole = sums.whole;
    pass.begin = matrix_of<R>(a->h0);
    pass.end = matrix_of<R>(a->h_final);
    if (saved.data != sums.local.data)
        pass.saved = saved;
    return code != M2_OK ? code : ssd_pass_run(h, pass, no_pass, err);
}

template <class R>
int op_ssd(struct handle *h, const struct m2_ssd *a, struct m2_error *err)
{
    ssd_shape s = ssd_shape_of(a);
    ssd_sums<R> sums = {};
    ssd_outputs<R> out = {s,
                          matrix_of<R>(a->x),
                          matrix_of<R>(a->dt),
                          matrix_of<R>(a->a_log),
                          matrix_of<R>(a->b),
                          matrix_of<R>(a->c),
                          matrix_of<R>(a->d),
                          matrix_of<R>(a->y),
                          matrix_of<R>(a->h0),
                          {}};
    int64_t blocks = s.B * s.tiles * s.H * ceil_div(s.P, TILE);
    size_t at = 0;
    int code = M2_OK;

    sums.s = s;
    plan(h->scratch, a, &sums, &at);
    if (has_states(a, s)) {
        sums.u = out.x;
        sums.v = out.b;
        sums.dt = out.dt;
        sums.a_log = out.a_log;
        if (in_place(a, s))
            sums.local = matrix_of<R>(a->states);
        code = run_states(h, a, sums, err);
        out.entry = sums.local;
    } else {
        out.saved = matrix_of<R>(a->states);
    }
    if (code != M2_OK)
        return code;
    return cuda_check(s.last_only
                          ? M2_LAUNCH(last_output<R>, (unsigned)(s.B * s.H),
                                      THREADS, 0, h->stream, out)
                          : M2_LAUNCH(outputs<R>, (unsigned)blocks, THREADS, 0,
                                      h->stream, out),
                      "op ssd", err);
}
OP_INSTANTIATE(ssd, m2_ssd)

template <class R> static size_t planned(const struct m2_ssd *a)
{
    ssd_sums<R> sums = {};
    size_t at = 0;

    sums.s = ssd_shape_of(a);
    plan<R>(NULL, a, &sums, &at);
    return at;
}

size_t scratch_ssd(const struct handle *h, const struct m2_ssd *a)
{
    return h->real == M2_F32 ? planned<float>(a) : planned<double>(a);
}
