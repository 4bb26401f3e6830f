/* The scan, backward: products of all pairs of steps of a tile. */
#include "backends/cuda/ssd_backward.cuh"

template <class R> struct pairs_memory {
    slices<R> m;
    ssd_decays<R> d;
    R z[TILE][TILE + 1];
};

/* From W and G, which this thread has 4 x 4 of: M = G o L,
 * dG = W o L diag(dt), Z = dG o G. */
template <class R>
static __device__ void spread(pairs_memory<R> &m, const ssd_back<R> &a,
                              const ssd_tile &t, const R (&w)[4][4],
                              const R (&g)[4][4])
{
    R *mix = square_of(a.mix, a.s, t), *dgram = square_of(a.dgram, a.s, t);

#pragma unroll
    for (int k = 0; k < 16; k++) {
        int i = row() + k / 4, j = column<4>() + k % 4, step = t.first + i;
        R l = 0, change;

        if (step >= t.q || j >= t.q)
            continue;
        if (j <= step)
            l = decay_between(m.d, j, step);
        change = j <= step ? w[k / 4][k % 4] * l * m.d.dt[j] : R(0);
        mix[i * a.s.q + j] = j <= step ? g[k / 4][k % 4] * l : R(0);
        dgram[i * a.s.q + j] = change;
        m.z[i][j] = j <= step ? change * g[k / 4][k % 4] : R(0);
    }
    __syncthreads();
}

/* sum over i >= k > j of Z_ij: sums along the rows first, then down. */
template <class R>
static __device__ void sum_pairs(pairs_memory<R> &m, const ssd_back<R> &a,
                                 const ssd_tile &t)
{
    int rows = t.q - t.first, k = (int)threadIdx.x;
    R before = 0, sum = 0;

    for (int j = 0; k < rows && j < t.q; j++) {
        R own = m.z[k][j];

        m.z[k][j] = before;
        before += own;
    }
    __syncthreads();
    if (k >= t.q)
        return;
    for (int i = k > t.first ? k - t.first : 0; i < rows; i++)
        sum += m.z[i][k];
    vector_of(a, t, SLOT_PAIRS, 0)[k] = sum;
}

/* Block: one tile of one head. */
template <class R>
static __global__ void __launch_bounds__(THREADS) pairs(ssd_back<R> a)
{
    M2_SHARED(pairs_memory<R>, memory, 1);
    pairs_memory<R> &m = memory[0];
    int64_t each = output_tiles(a.s), head = blockIdx.x % a.s.H;
    int64_t b = blockIdx.x / a.s.H / each;
    int64_t index = a.s.last_only ? a.s.tiles - 1 : blockIdx.x / a.s.H % each;
    ssd_tile t = ssd_tile_of(a.s, (b * a.s.tiles + index) * a.s.H + head);
    int rows = t.q - t.first, P = (int)a.s.P, N = (int)a.s.N;
    const R *dy = dy_of(a, t, 0), *x = &a.x.at(t.row, t.head * a.s.P);
    const R *bs = &a.b.at(t.row, t.group * a.s.N);
    const R *cs = &a.c.at(t.row + t.first, t.group * a.s.N);
    R w[4][4] = {}, g[4][4] = {};

    fill_decays(m.d, t, a.dt, a.a_log.data);
    product<ALONG_K, ALONG_K>(
        w, m.m, P, all_of(P, rows),
        [=, &a](int i, int k) { return i < rows ? dy[i * a.dy.ld + k] : R(0); },
        [=, &a](int j, int k) { return j < t.q ? x[j * a.x.ld + k] : R(0); });
    product<ALONG_K, ALONG_K>(
        g, m.m, N, all_of(N, rows),
        [=, &a](int i, int k) { return i < rows ? cs[i * a.c.ld + k] : R(0); },
        [=, &a](int j, int k) { return j < t.q ? bs[j * a.b.ld + k] : R(0); });
    spread(m, a, t, w, g);
    sum_pairs(m, a, t);
}

template <class R>
int ssd_pairs_run(struct handle *h, const ssd_back<R> &a, struct m2_error *err)
{
    int64_t blocks = a.s.B * output_tiles(a.s) * a.s.H;

    return cuda_check(
        M2_LAUNCH(pairs<R>, (unsigned)blocks, THREADS, 0, h->stream, a),
        "op ssd_backward: pairs", err);
}

template int ssd_pairs_run<float>(struct handle *, const ssd_back<float> &,
                                  struct m2_error *);
template int ssd_pairs_run<double>(struct handle *, const ssd_back<double> &,
                                   struct m2_error *);
