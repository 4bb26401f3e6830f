/* Rows of a table by index, and the gradient of the table.
 *
 * The gradient adds dy[t] to row ids[t], repeated ids in the order of t, and
 * without atomics on numbers.  So the steps are sorted by their id first, in
 * one kernel: a block owns 256 ids, counts the steps of each and those of lower
 * ids, and then writes its steps, each behind the earlier ones of its id.  In a
 * second kernel one warp per 32 columns of each id that occurs adds its rows in
 * that order.  The first reads ids once per 256 rows of the table (V = 50,000,
 * T = 16,384: 13 MB twice, from the cache), the second dy once and only the
 * rows of dw that occur.
 *
 * The device cannot refuse an id outside of the table: it gives NaN in the
 * forward pass, and nothing in the backward pass. */
#include "backends/cuda/reduce.cuh"
#include "backends/cuda/walk.cuh"

#include <math.h>

template <class R> struct pick_rows {
    matrix<const int32_t> ids;
    matrix<R> w, y;

    __device__ void run(int64_t i, int64_t j) const
    {
        int64_t id = ids.data[i];

        y.at(i, j) = id >= 0 && id < w.rows ? w.at(id, j) : (R)NAN;
    }
};

template <class R>
int op_embed(struct handle *h, const struct m2_embed *a, struct m2_error *err)
{
    struct pick_rows<R> f = {
        matrix_of<const int32_t>(a->ids), matrix_of<R>(a->w), matrix_of<R>(a->y)
    };
    struct walk by_rows = {f.y.rows, f.y.cols};

    return walk_run(h, f, by_rows, "op embed", err);
}
OP_INSTANTIATE(embed, m2_embed)
OP_NO_SCRATCH(embed, m2_embed)

/* ---- the gradient ---------------------------------------------------------
 */

/* steps: the steps, sorted by id and then by t; runs: where the steps of an id
 * begin, their number, elsewhere 0. */
struct sorted {
    int32_t *steps, *runs;
};

/* Thread v of a sorting block has id first + v. */
enum { SORT_BLOCK = 256, SORT_WARPS = SORT_BLOCK / WARP };

/* What a sorting block shares. */
struct sort_shared {
    int counts[SORT_BLOCK]; /* steps of each of the block's ids */
    int sums[WARP];         /* for block_sum */
    int warps[SORT_WARPS];  /* steps found in a chunk, by warp */
    int found[SORT_BLOCK];  /* ids of these steps, less the block's first */
    int steps[SORT_BLOCK];
};

/* The number of steps with ids below those of the block; counts are set. */
static __device__ int count_steps(const int32_t *ids, int64_t n, int64_t first,
                                  struct sort_shared *s)
{
    int below = 0;

    s->counts[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t t = threadIdx.x; t < n; t += SORT_BLOCK) {
        int64_t id = ids[t];

        below += id >= 0 && id < first;
        if (id >= first && id < first + SORT_BLOCK)
            atomicAdd(&s->counts[id - first], 1);
    }
    return block_sum(below, s->sums);
}

/* Finds the block's steps of ids[begin .. begin + SORT_BLOCK), in order; their
 * number. */
static __device__ int find_steps(const int32_t *ids, int64_t n, int64_t first,
                                 int64_t begin, struct sort_shared *s)
{
    int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    int64_t t = begin + threadIdx.x;
    int64_t id = t < n ? ids[t] : -1;
    bool mine = id >= first && id < first + SORT_BLOCK;
    unsigned votes = __ballot_sync((unsigned)FULL_WARP, mine);
    int at = __popc(votes & ((1u << lane) - 1)), total = 0;

    if (lane == 0)
        s->warps[warp] = __popc(votes);
    __syncthreads(); /* and readers of the last chunk's steps are done */
    for (int i = 0; i < SORT_WARPS; i++) {
        at += i < warp ? s->warps[i] : 0;
        total += s->warps[i];
    }
    if (mine) {
        s->found[at] = (int)(id - first);
        s->steps[at] = (int)t;
    }
    __syncthreads();
    return total;
}

static __global__ void sort_steps(const int32_t *__restrict__ ids, int64_t n,
                                  int64_t table_rows, struct sorted out)
{
    M2_SHARED(struct sort_shared, shared, 1);
    struct sort_shared *s = &shared[0];
    int64_t first = blockIdx.x * (int64_t)SORT_BLOCK;
    bool last = first + SORT_BLOCK >= table_rows;
    int own = (int)threadIdx.x;
    int at = count_steps(ids, n, first, s), run, end = at;

    /* An id behind the table's last belongs to no row. */
    run = first + own < table_rows ? s->counts[own] : 0;
    for (int v = 0; v < SORT_BLOCK; v++) {
        int steps = first + v < table_rows ? s->counts[v] : 0;

        at += v < own ? steps : 0;
        end += steps;
    }
    if (last) /* what is not in the table comes behind all that is */
        for (int64_t i = end + own; i < n; i += SORT_BLOCK)
            out.runs[i] = 0;
    for (int64_t begin = 0; begin < n; begin += SORT_BLOCK) {
        int found = find_steps(ids, n, first, begin, s);

        for (int i = 0; i < found; i++)
            if (s->found[i] == own && first + own < table_rows) {
                out.steps[at] = s->steps[i];
                out.runs[at] = run;
                at++;
                run = 0;
            }
    }
}

enum { ADD_HEIGHT = 8, BATCH = 16 };

/* A warp per place in the order and 32 columns; most places begin no run. */
template <class R>
static __global__ void add_sorted(const int32_t *__restrict__ ids,
                                  struct sorted order, matrix<const R> dy,
                                  matrix<R> dw)
{
    int64_t at = blockIdx.x * (int64_t)ADD_HEIGHT + threadIdx.y;
    int run = at < dy.rows ? order.runs[at] : 0;

    if (run == 0)
        return;
    const int32_t *steps = order.steps + at;
    R *out = dw.data + ids[steps[0]] * dw.ld;
    int64_t j = blockIdx.y * (int64_t)WARP + threadIdx.x;

    for (; j < dw.cols; j += gridDim.y * (int64_t)WARP) {
        R sum = out[j];

        /* in batches: loads that wait for each other would take their time */
        for (int i = 0; i < run; i += BATCH) {
            R batch[BATCH];

            for (int k = 0; k < BATCH; k++)
                batch[k] = i + k < run ? dy.at(steps[i + k], j) : R(0);
            for (int k = 0; k < BATCH; k++)
                if (i + k < run)
                    sum += batch[k];
        }
        out[j] = sum;
    }
}

static struct sorted sorted_of(char *scratch, int64_t n, size_t *bytes)
{
    size_t each = (size_t)n * sizeof(int32_t);
    struct sorted out;

    *bytes = 0;
    out.steps = (int32_t *)scratch_take(scratch, bytes, each);
    out.runs = (int32_t *)scratch_take(scratch, bytes, each);
    return out;
}

size_t scratch_embed_backward(const struct handle *,
                              const struct m2_embed_backward *a)
{
    size_t bytes;

    sorted_of(NULL, a->ids.cols, &bytes);
    return bytes;
}

template <class R>
int op_embed_backward(struct handle *h, const struct m2_embed_backward *a,
                      struct m2_error *err)
{
    const int32_t *ids = matrix_of<const int32_t>(a->ids).data;
    matrix<const R> dy = matrix_of<const R>(a->dy);
    matrix<R> dw = matrix_of<R>(a->dw);
    int64_t n = a->ids.cols, tiles = ceil_div(dw.cols, WARP);
    size_t bytes;
    struct sorted order = sorted_of(h->scratch, n, &bytes);
    dim3 grid((unsigned)ceil_div(n, ADD_HEIGHT),
              (unsigned)(tiles < MAX_GRID_Y ? tiles : MAX_GRID_Y));
    int code;

    if (n == 0 || dw.rows * dw.cols == 0)
        return M2_OK;
    code = cuda_check(
        M2_LAUNCH(sort_steps, (unsigned)ceil_div(dw.rows, SORT_BLOCK),
                  SORT_BLOCK, 0, h->stream, ids, n, dw.rows, order),
        "op embed_backward", err);
    return code != M2_OK ? code
                         : cuda_check(M2_LAUNCH(add_sorted<R>, grid,
                                                dim3(WARP, ADD_HEIGHT), 0,
                                                h->stream, ids, order, dy, dw),
                                      "op embed_backward", err);
}
OP_INSTANTIATE(embed_backward, m2_embed_backward)
