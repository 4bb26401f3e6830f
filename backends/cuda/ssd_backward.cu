/* The selective scan, backward: specification 4.8, in the stable form of the
 * decays' gradient.  At most six kernels: what tiles add to the states and to
 * their gradients, the walk over the tiles (both only where something passes
 * between tiles), pairs, gradients, and two for the sums. */
#include "backends/cuda/ssd_backward.cuh"

/* ---- gradient of dt, and the sums of dB and dC ----------------------------
 */

/* The sum of a slot's parts at step k. */
template <class R>
static __device__ double parts_sum(const ssd_back<R> &a, const ssd_tile &t,
                                   enum ssd_slot slot, int k)
{
    int64_t parts = slot < SLOT_DIRECT ? a.n_parts : a.p_parts;
    double sum = 0;

    for (int64_t i = 0; i < parts; i++)
        sum += (double)vector_of(a, t, slot, i)[k];
    return sum;
}

/* What one step gets, from all slots. */
struct step_terms {
    double pairs, from_state, to_state, direct, skip;
};

template <class R>
static __device__ step_terms terms_of(const ssd_back<R> &a, const ssd_tile &t,
                                      int k)
{
    step_terms terms = {};

    if (k >= t.q)
        return terms;
    terms.direct = parts_sum(a, t, SLOT_DIRECT, k);
    if (t.first < t.q)
        terms.pairs = (double)vector_of(a, t, SLOT_PAIRS, 0)[k];
    if (has_leave(a, t))
        terms.to_state = parts_sum(a, t, SLOT_TO_STATE, k);
    if (k < t.first)
        return terms;
    terms.from_state = parts_sum(a, t, SLOT_FROM_STATE, k);
    terms.skip = parts_sum(a, t, SLOT_SKIP, k);
    return terms;
}

/* Sum over the lanes below this one; `up`: over those above. */
static __device__ double lanes_below(double value, bool up)
{
    int lane = (int)threadIdx.x % WARP;
    double sum = value;

    for (int distance = 1; distance < WARP; distance *= 2) {
        double below = __shfl_up_sync((unsigned)FULL_WARP, sum, distance);
        double above = __shfl_down_sync((unsigned)FULL_WARP, sum, distance);

        if (up ? lane + distance < WARP : lane >= distance)
            sum += up ? above : below;
    }
    return sum - value;
}

/* ddt_k = direct_k + A da_k, da_k = pairs_k + sum over i >= k of from_state +
 * sum over j < k of to_state + r0.  Returns dt_k da_k. */
template <class R>
static __device__ double give_dt(const ssd_back<R> &a, const ssd_tile &t, int k,
                                 double direct, double da)
{
    if (k >= t.q)
        return 0;
    a.ddt.at(t.row + k, t.head) =
        (R)(direct + rate_of(a.a_log.data[t.head]) * da);
    return (double)a.dt.at(t.row + k, t.head) * da;
}

/* One tile of one head, by a warp with two steps per lane. */
template <class R>
static __device__ void step_gradients(const ssd_back<R> &a, int64_t tile)
{
    int lane = (int)threadIdx.x % WARP, k = 2 * lane;
    ssd_tile t = ssd_tile_of(a.s, tile);
    step_terms one = terms_of(a, t, k), two = terms_of(a, t, k + 1);
    double carried = has_leave(a, t) ? parts_sum(a, t, SLOT_CARRIED, 0) : 0;
    double after = lanes_below(one.from_state + two.from_state, true);
    double before = lanes_below(one.to_state + two.to_state, false);
    double sum, skip;

    after += two.from_state;
    sum = give_dt(a, t, k, one.direct,
                  one.pairs + one.from_state + after + before + carried);
    before += one.to_state;
    sum +=
        give_dt(a, t, k + 1, two.direct, two.pairs + after + before + carried);
    sum = warp_sum(sum);
    skip = warp_sum(one.skip + two.skip);
    if (lane == 0) {
        a.rate_sum[tile] = sum;
        a.skip_sum[tile] = skip;
    }
}

/* out = the sums over the heads of a group, element i of (B*L, G*N). */
template <class R>
static __device__ void sum_heads(const ssd_shape &s, const matrix<R> &heads,
                                 const matrix<R> &out, int64_t i)
{
    int64_t t = i / (s.G * s.N), column = i % (s.G * s.N), each = s.H / s.G;
    int64_t first = column / s.N * each * s.N + column % s.N;
    R sum = 0;

    for (int64_t head = 0; head < each; head++)
        sum += heads.at(t, first + head * s.N);
    out.at(t, column) = sum;
}

/* Blocks: first those of the steps, a warp per tile of one head; then those of
 * dB, then of dC, a thread per element. */
template <class R>
static __global__ void __launch_bounds__(THREADS)
    finish(ssd_back<R> a, int64_t n_steps, int64_t n_elements)
{
    int64_t tile = blockIdx.x * (int64_t)(THREADS / WARP) + threadIdx.x / WARP;
    int64_t block = blockIdx.x - n_steps, i;
    bool is_db = block < n_elements;

    if (blockIdx.x < n_steps) {
        if (tile < a.s.B * a.s.tiles * a.s.H)
            step_gradients(a, tile);
        return;
    }
    i = (is_db ? block : block - n_elements) * THREADS + threadIdx.x;
    if (i >= a.s.B * a.s.L * a.s.G * a.s.N)
        return;
    if (is_db)
        sum_heads(a.s, a.head_db, a.db, i);
    else
        sum_heads(a.s, a.head_dc, a.dc, i);
}

/* da_log += A * the sum over all tiles, dd likewise.  Block: one head. */
template <class R>
static __global__ void __launch_bounds__(THREADS) sum_tiles(ssd_back<R> a)
{
    M2_SHARED(double, shared, WARP);
    double rate = 0, skip = 0;

    for (int64_t i = threadIdx.x; i < a.s.B * a.s.tiles; i += THREADS) {
        rate += a.rate_sum[i * a.s.H + blockIdx.x];
        skip += a.skip_sum[i * a.s.H + blockIdx.x];
    }
    rate = block_sum(rate, shared);
    skip = block_sum(skip, shared);
    if (threadIdx.x != 0)
        return;
    a.da_log.data[blockIdx.x] += (R)(rate_of(a.a_log.data[blockIdx.x]) * rate);
    a.dd.data[blockIdx.x] += (R)skip;
}

/* ---- host -----------------------------------------------------------------
 */

/* Whether gradients pass from tile to tile; dh0 is judged by its shape. */
static bool passes_back(const struct m2_ssd_backward *a, const ssd_shape &s)
{
    return s.tiles > 1 || a->dh0.cols > 0;
}

template <class R> static R *take(char *scratch, size_t *at, int64_t count)
{
    return (R *)scratch_take(scratch, at, (size_t)count * sizeof(R));
}

/* All that lies in scratch; *whole: the decays over the tiles.  at counts. */
template <class R>
static void plan(char *scratch, const struct m2_ssd_backward *a,
                 ssd_back<R> *back, R **whole, size_t *at)
{
    ssd_shape s = back->s = ssd_shape_of(a);
    int64_t heads = s.B * s.tiles * s.H, states = heads * s.P * s.N;
    int64_t squares = s.B * output_tiles(s) * s.H * s.q * s.q;
    int64_t rows = s.B * s.L, cols = s.H * s.N;

    back->width = ssd_width(s.N);
    back->n_parts = ceil_div(s.N, back->width);
    back->p_parts = ceil_div(s.P, TILE);
    back->mix = take<R>(scratch, at, squares);
    back->dgram = take<R>(scratch, at, squares);
    back->vectors = take<R>(scratch, at, heads * slot_count(*back) * TILE);
    back->rate_sum = take<double>(scratch, at, heads);
    back->skip_sum = take<double>(scratch, at, heads);
    *whole = take<R>(scratch, at, heads);
    if (s.per > 1)
        back->entry = {take<R>(scratch, at, states), s.B, states / s.B,
                       states / s.B};
    if (passes_back(a, s))
        back->leave = {take<R>(scratch, at, states), s.B, states / s.B,
                       states / s.B};
    if (s.G == s.H)
        return;
    back->head_db = {take<R>(scratch, at, rows * cols), rows, cols, cols};
    back->head_dc = {take<R>(scratch, at, rows * cols), rows, cols, cols};
}

template <class R>
static void fill_views(const struct m2_ssd_backward *a, ssd_back<R> *back)
{
    back->dy = matrix_of<R>(a->dy);
    back->x = matrix_of<R>(a->x);
    back->dt = matrix_of<R>(a->dt);
    back->a_log = matrix_of<R>(a->a_log);
    back->b = matrix_of<R>(a->b);
    back->c = matrix_of<R>(a->c);
    back->d = matrix_of<R>(a->d);
    back->dx = matrix_of<R>(a->dx);
    back->ddt = matrix_of<R>(a->ddt);
    back->da_log = matrix_of<R>(a->da_log);
    back->db = matrix_of<R>(a->db);
    back->dc = matrix_of<R>(a->dc);
    back->dd = matrix_of<R>(a->dd);
    back->has_final = a->dh_final.buffer != NULL;
    if (back->s.per == 1)
        back->entry = matrix_of<R>(a->states);
    if (!passes_back(a, back->s))
        back->leave = matrix_of<R>(a->dh_final);
    if (back->s.G == back->s.H) {
        back->head_db = back->db;
        back->head_dc = back->dc;
    }
}

/* The states that enter the tiles, where a chunk has more than one, and the
 * gradients of those that leave them. */
template <class R>
static int run_states(struct handle *h, const struct m2_ssd_backward *a,
                      const ssd_back<R> &back, R *whole, struct m2_error *err)
{
    ssd_sums<R> forward = {back.s,     back.x, back.b, back.dt,
                           back.a_log, {},     NULL};
    ssd_sums<R> backward = {back.s,     back.dy,    back.c, back.dt,
                            back.a_log, back.leave, whole};
    ssd_pass<R> in = {back.s, {}, {}, {}, matrix_of<R>(a->states), whole, 1};
    ssd_pass<R> out = {
        back.s, back.leave, matrix_of<R>(a->dh_final), matrix_of<R>(a->dh0), {},
        whole,  0};
    int code;

    if (back.s.per > 1)
        in.local = forward.local = back.entry;
    code = ssd_sums_run(h, forward, backward, err);
    return code != M2_OK ? code : ssd_pass_run(h, in, out, err);
}

template <class R>
static int run_finish(struct handle *h, const ssd_back<R> &back,
                      struct m2_error *err)
{
    const ssd_shape &s = back.s;
    int64_t steps = ceil_div(s.B * s.tiles * s.H, THREADS / WARP);
    int64_t elements =
        s.G == s.H ? 0 : ceil_div(s.B * s.L * s.G * s.N, THREADS);
    int code =
        cuda_check(M2_LAUNCH(finish<R>, (unsigned)(steps + 2 * elements),
                             THREADS, 0, h->stream, back, steps, elements),
                   "op ssd_backward: sums", err);

    return code != M2_OK ? code
                         : cuda_check(M2_LAUNCH(sum_tiles<R>, (unsigned)s.H,
                                                THREADS, 0, h->stream, back),
                                      "op ssd_backward: sums of tiles", err);
}

template <class R>
int op_ssd_backward(struct handle *h, const struct m2_ssd_backward *a,
                    struct m2_error *err)
{
    ssd_back<R> back = {};
    size_t at = 0;
    R *whole;
    int code = M2_OK;

    plan(h->scratch, a, &back, &whole, &at);
    fill_views(a, &back);
    if (passes_back(a, back.s))
        code = run_states(h, a, back, whole, err);
    if (code == M2_OK)
        code = ssd_pairs_run(h, back, err);
    if (code == M2_OK)
        code = ssd_gradients_run(h, back, err);
    return code != M2_OK ? code : run_finish(h, back, err);
}
OP_INSTANTIATE(ssd_backward, m2_ssd_backward)

template <class R> static size_t planned(const struct m2_ssd_backward *a)
{
    ssd_back<R> back = {};
    size_t at = 0;
    R *whole;

    plan(NULL, a, &back, &whole, &at);
    return at;
}

size_t scratch_ssd_backward(const struct handle *h,
                            const struct m2_ssd_backward *a)
{
    return h->real == M2_F32 ? planned<float>(a) : planned<double>(a);
}
