/* The scan in its chunked form (specification section 4.8): what forward and
 * backward share.
 *
 * A chunk of Q steps, at whose beginning the state is saved, is cut into equal
 * tiles of at most TILE steps; nothing else depends on Q.  A block works on one
 * tile of one head, so all of batch, time and heads is done at once; only the
 * states pass from tile to tile, elementwise, in a kernel of its own.
 *
 * All products are made by one function, product(), from slices of both
 * factors in shared memory; each of the THREADS threads holds 4 x W sums.
 * Factors are given as functions of (row, k) and (k, column), so that decays
 * are applied where they are loaded.
 *
 * f32: the sums of the log decays s and their differences are f64.  A
 * difference is cut at 0 (a parallel sum may leave it slightly above), rounded,
 * then exp; pairs beyond the diagonal never come that far.
 *
 * States, and gradients of states, of all tiles have one form: rows of B, and
 * within them [tile][head][P][N]. */
#ifndef M2_CUDA_SSD_CUH
#define M2_CUDA_SSD_CUH

#include "backends/cuda/real.cuh"
#include "backends/cuda/reduce.cuh"

enum { TILE = 64, THREADS = 256, SIDE = 16, STRIDE = TILE + 4 };

/* Sizes; 64 bits each, as kernels take structs without padding. */
struct ssd_shape {
    int64_t B, L, H, P, G, N, Q;
    int64_t last_only;
    int64_t q;     /* steps of a tile, but for the last one of a chunk */
    int64_t per;   /* tiles of a chunk */
    int64_t tiles; /* of a sequence */
};

template <class A> static inline ssd_shape ssd_shape_of(const A *a)
{
    ssd_shape s = {a->B, a->L, a->H, a->P, a->G, a->N, a->Q, a->last_only != 0,
                   0,    0,    0};
    int64_t chunk = a->Q < a->L ? a->Q : a->L, last = (a->L - 1) % chunk + 1;

    s.Q = chunk;
    s.per = ceil_div(chunk, TILE);
    s.q = ceil_div(chunk, s.per);
    s.tiles = (a->L - last) / chunk * s.per + ceil_div(last, s.q);
    return s;
}

/* One tile of one head. */
struct ssd_tile {
    int64_t b, index, head, group;
    int64_t row; /* of its first step, in (B*L, ..) matrices */
    int q;       /* steps */
    int first;   /* the first step whose output is wanted; q: none */
};

/* Number i of B * tiles * H. */
static __device__ inline ssd_tile ssd_tile_of(const ssd_shape &s, int64_t i)
{
    ssd_tile t;
    int64_t chunk, from, end;

    t.head = i % s.H;
    t.index = i / s.H % s.tiles;
    t.b = i / s.H / s.tiles;
    t.group = t.head / (s.H / s.G);
    chunk = t.index / s.per;
    from = chunk * s.Q + t.index % s.per * s.q;
    end = (chunk + 1) * s.Q < s.L ? (chunk + 1) * s.Q : s.L;
    t.row = t.b * s.L + from;
    t.q = (int)(end - from < s.q ? end - from : s.q);
    t.first = !s.last_only ? 0 : from + t.q == s.L ? t.q - 1 : t.q;
    return t;
}

/* Where the (P, N) state of a tile begins. */
template <class R>
static __device__ inline R *state_of(const matrix<R> &states,
                                     const ssd_shape &s, const ssd_tile &t)
{
    return states.data + t.b * states.ld + (t.index * s.H + t.head) * s.P * s.N;
}

/* ---- decays --------------------------------------------------------------
 */

template <class R> struct ssd_decays {
    double s[TILE]; /* sums of dt A up to and with each step */
    R dt[TILE];
};

template <class R>
static __device__ inline R decay_between(const ssd_decays<R> &d, int from,
                                         int to)
{
    return real_exp((R)fmin(d.s[to] - d.s[from], 0.0));
}

/* From the state that enters the tile to step i. */
template <class R>
static __device__ inline R decay_in(const ssd_decays<R> &d, int i)
{
    return real_exp((R)fmin(d.s[i], 0.0));
}

template <class R> static __device__ inline double rate_of(R a_log)
{
    return -exp((double)a_log);
}

/* Filled by the first warp, two steps per lane; the block is in step after. */
template <class R>
static __device__ void fill_decays(ssd_decays<R> &d, const ssd_tile &t,
                                   const matrix<R> &dt, const R *a_log)
{
    int lane = (int)threadIdx.x, i = 2 * lane;

    if (lane < WARP) {
        double rate = rate_of(a_log[t.head]), sum, own;
        R first = i < t.q ? dt.at(t.row + i, t.head) : R(0);
        R second = i + 1 < t.q ? dt.at(t.row + i + 1, t.head) : R(0);

        own = (double)second * rate;
        sum = (double)first * rate + own;
        for (int distance = 1; distance < WARP; distance *= 2) {
            double below = __shfl_up_sync((unsigned)FULL_WARP, sum, distance);

            if (lane >= distance)
                sum += below;
        }
        d.s[i] = sum - own;
        d.s[i + 1] = sum;
        d.dt[i] = first;
        d.dt[i + 1] = second;
    }
    __syncthreads();
}

/* ---- products -------------------------------------------------------------
 */

/* Values that are read from shared memory at once. */
template <class R, int W>
struct alignas(W * sizeof(R) < 16 ? W * sizeof(R) : 16) pack {
    R v[W];
};

/* k's of a slice */
template <class R> constexpr int SLICE = 64 / (int)sizeof(R);

template <class R> struct slices {
    alignas(16) R a[SLICE<R>][STRIDE], b[SLICE<R>][STRIDE];
};

/* Whether neighbours in memory are neighbours in k. */
enum along { ALONG_K, ACROSS_K };

/* A part of a slice that is on its way: WIDTH values for each k. */
template <class R, int WIDTH> struct incoming {
    static constexpr int EACH = (WIDTH * SLICE<R> + THREADS - 1) / THREADS;
    R v[EACH];
};

template <enum along ORDER, class R, int WIDTH>
static __device__ inline void place(int e, int &i, int &k)
{
    int at = (int)threadIdx.x + e * THREADS;

    k = ORDER == ALONG_K ? at % SLICE<R> : at / WIDTH;
    i = ORDER == ALONG_K ? at / SLICE<R> : at % WIDTH;
}

template <enum along ORDER, class R, int WIDTH, class F>
static __device__ inline void take(incoming<R, WIDTH> &in, F f, int k0, int K)
{
#pragma unroll
    for (int e = 0; e < incoming<R, WIDTH>::EACH; e++) {
        int i, k;

        place<ORDER, R, WIDTH>(e, i, k);
        in.v[e] = i < WIDTH && k0 + k < K ? f(i, k0 + k) : R(0);
    }
}

template <enum along ORDER, class R, int WIDTH>
static __device__ inline void put(const incoming<R, WIDTH> &in,
                                  R (*slice)[STRIDE])
{
#pragma unroll
    for (int e = 0; e < incoming<R, WIDTH>::EACH; e++) {
        int i, k;

        place<ORDER, R, WIDTH>(e, i, k);
        if (i < WIDTH && k < SLICE<R>)
            slice[k][i] = in.v[e];
    }
}

/* This thread's sums: rows row() + 0..3, columns column<W>() + 0..W-1. */
static __device__ inline int row(void)
{
    return (int)threadIdx.x / SIDE * 4;
}

template <int W> static __device__ inline int column(void)
{
    return (int)threadIdx.x % SIDE * W;
}

/* The k's that the rows of a warp need: all other factors are 0 there. */
struct span {
    int from, to;
};

/* The rows of this thread's warp begin here; there are WARP_ROWS. */
enum { WARP_ROWS = 2 * 4 };

static __device__ inline int warp_row(void)
{
    return (int)threadIdx.x / WARP * WARP_ROWS;
}

template <class R, int W>
static __device__ inline void multiply(R (&sum)[4][W], const slices<R> &m)
{
#pragma unroll
    for (int k = 0; k < SLICE<R>; k++) {
        pack<R, 4> a = *(const pack<R, 4> *)&m.a[k][row()];
        pack<R, W> b = *(const pack<R, W> *)&m.b[k][column<W>()];

#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < W; j++)
                sum[i][j] += a.v[i] * b.v[j];
    }
}

/* sum += A B, A of 64 rows, B of 16 W columns, K in between; a(i, k) and
 * b(j, k) give their elements for k < K, and 0 for rows and columns that do not
 * exist.  The next slice is on its way while one is multiplied. */
template <enum along A_ORDER, enum along B_ORDER, class R, int W, class A,
          class B>
static __device__ inline void product(R (&sum)[4][W], slices<R> &m, int K,
                                      span need, A a, B b)
{
    incoming<R, TILE> next_a;
    incoming<R, SIDE * W> next_b;

    if (K <= 0)
        return;
    take<A_ORDER>(next_a, a, 0, K);
    take<B_ORDER>(next_b, b, 0, K);
#pragma unroll 1
    for (int k0 = 0; k0 < K; k0 += SLICE<R>) {
        __syncthreads(); /* readers of the slice before are done */
        put<A_ORDER>(next_a, m.a);
        put<B_ORDER>(next_b, m.b);
        __syncthreads();
        if (k0 + SLICE<R> < K) {
            take<A_ORDER>(next_a, a, k0 + SLICE<R>, K);
            take<B_ORDER>(next_b, b, k0 + SLICE<R>, K);
        }
        if (k0 < need.to && k0 + SLICE < R >> need.from)
            multiply(sum, m);
    }
}

/* All k's, for rows that exist. */
static __device__ inline span all_of(int K, int rows)
{
    span s = {0, warp_row() < rows ? K : 0};

    return s;
}

/* One of 1, 2 and 4 columns per thread, for n of them. */
#define SSD_BY_WIDTH(n, CALL)                                                  \
    ((n) <= SIDE ? CALL(1) : (n) <= 2 * SIDE ? CALL(2) : CALL(4))

static inline int64_t ssd_width(int64_t n)
{
    return n <= SIDE ? SIDE : n <= 2 * SIDE ? 2 * SIDE : TILE;
}

/* ---- ssd_states.cu: states of tiles --------------------------------------
 */

/* What tiles give to the states: local = u^T diag(weight) v, (P, N) each.
 * Forward: u x, v b, weight dt times the decay to the end of the tile.
 * Backward: u dy, v c, weight the decay from its beginning. */
template <class R> struct ssd_sums {
    ssd_shape s;
    matrix<R> u, v, dt, a_log, local;
    R *whole; /* (B, tiles, H): decay over the tile; NULL: another writes it */
};

template <class R>
int ssd_sums_run(struct handle *h, const ssd_sums<R> &forward,
                 const ssd_sums<R> &backward, struct m2_error *err);

/* In place: the local sums become the states that enter the tiles (forward),
 * or the gradients of those that leave them (backward).  begin and end are the
 * (B, H*P*N) state before the first step of the walk and after its last;
 * forward, states of chunks are written to saved, or, with `restart`, read from
 * it.  All but local may be absent. */
template <class R> struct ssd_pass {
    ssd_shape s;
    matrix<R> local, begin, end, saved;
    const R *whole;
    int64_t restart;
};

/* Both where both are there: what is absent has no local. */
template <class R>
int ssd_pass_run(struct handle *h, const ssd_pass<R> &forward,
                 const ssd_pass<R> &backward, struct m2_error *err);

#endif
