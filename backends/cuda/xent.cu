/* Softmax cross entropy over rows of logits.
 *
 * A first kernel counts the rows, which the gradient's scale may need.  A
 * second one gives each row to a team, a warp where it is short: one pass finds
 * the largest logit and the sum of exp(x - largest) together, a second one
 * writes the gradient.  A third kernel adds the rows' losses in order.
 *
 * The device cannot refuse a label outside of the row: its loss is NaN. */
#include "backends/cuda/real.cuh"
#include "backends/cuda/reduce.cuh"

#include <math.h>

enum { XENT_BLOCK = 256, WARP_COLUMNS = 512 };

template <class R> struct xent {
    int64_t ignore;
    double scale;
    matrix<R> logits, dlogits;
    const int32_t *labels;
    double *rows; /* (T, 2): loss, 1 where the arg max is the label */
    double *out;
};

static __global__ void count_labels(const int32_t *__restrict__ labels,
                                    int64_t n, int64_t ignore, double *out)
{
    M2_SHARED(double, shared, WARP);
    double count = 0;

    for (int64_t t = threadIdx.x; t < n; t += XENT_BLOCK)
        count += labels[t] != ignore;
    count = block_sum(count, shared);
    if (threadIdx.x == 0)
        out[1] = count;
}

/* The largest of some logits, the first column of equals, and the sum of
 * exp(x - top).  column < 0: of none. */
template <class R> struct peak {
    R top;
    double sum;
    int column;
};

template <class R>
static __device__ inline struct peak<R> find_peak(const R *row, int cols,
                                                  int first, int step) {
    struct peak<R> p = {
        R(-HUGE_VAL), 0, -1
    };

    for (int64_t j = first; j < cols; j += step) {
        R x = row[j];

        if (p.column < 0 || x > p.top) {
            p.sum = p.column < 0 ? 1 : p.sum * (double)real_exp(p.top - x) + 1;
            p.top = x;
            p.column = (int)j;
        } else {
            /* the difference of equal infinities is none */
            p.sum += x == p.top ? 1 : (double)real_exp(x - p.top);
        }
    }
    return p;
}

/* Whether the peak (top, column) comes before p. */
template <class R>
static __device__ inline bool is_before(R top, int column,
                                        const struct peak<R> &p)
{
    if (column < 0 || p.column < 0)
        return p.column < 0;
    return top > p.top || (top == p.top && column < p.column);
}

/* top and column of the warp's highest, at each lane; sums stay. */
template <class R>
static __device__ inline struct peak<R> warp_highest(struct peak<R> p) {
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        R top = __shfl_xor_sync((unsigned)FULL_WARP, p.top, distance);
        int column = __shfl_xor_sync((unsigned)FULL_WARP, p.column, distance);

        if (is_before(top, column, p)) {
            p.top = top;
            p.column = column;
        }
    }
    return p;
}

/* What a block shares, by warp. */
template <class R>
struct xent_shared {
    double sums[WARP]; /* for block_sum */
    R tops[XENT_BLOCK / WARP];
    int columns[XENT_BLOCK / WARP];
};

/* The same of the block. */
template <class R>
static __device__ inline struct peak<R>
block_highest(struct peak<R> p, struct xent_shared<R> *s) {
    int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;

    p = warp_highest(p);
    if (lane == 0) {
        s->tops[warp] = p.top;
        s->columns[warp] = p.column;
    }
    __syncthreads();
    p.column = -1;
    if (lane < XENT_BLOCK / WARP) {
        p.top = s->tops[lane];
        p.column = s->columns[lane];
    }
    return warp_highest(p);
}

/* The row's: top, its column, and the sum over all columns. */
template <class R, int TEAM>
static __device__ inline struct peak<R> team_peak(const struct peak<R> &own,
                                                  struct xent_shared<R> *s) {
    struct peak<R> p = TEAM == WARP ? warp_highest(own) : block_highest(own, s);
    double part = own.sum;

    if (own.column >= 0 && own.top != p.top)
        part *= (double)real_exp(own.top - p.top);
    p.sum = team_sum<TEAM>(part, s->sums);
    return p;
}

template <class R>
static __device__ void put_row(const struct xent<R> &a, int64_t t, int label,
                               const struct peak<R> &p)
{
    bool counted = label != a.ignore;
    double loss = 0;

    if (counted && (label < 0 || label >= a.logits.cols))
        loss = NAN;
    else if (counted)
        loss = log(p.sum) + ((double)p.top - (double)a.logits.at(t, label));
    a.rows[2 * t] = loss;
    a.rows[2 * t + 1] = counted && p.column == label;
}

/* exp(...) / sum - 1 at the label is rounded once. */
template <class R, int TEAM>
static __device__ void put_gradient(const struct xent<R> &a, int64_t t,
                                    int label, int lane,
                                    const struct peak<R> &p)
{
    double count = a.scale == 0 ? a.out[1] : 0;
    double scale = count > 0 ? 1 / count : a.scale;
    R factor = (R)(scale / p.sum);
    bool counted = label != a.ignore;

    for (int64_t j = lane; j < a.logits.cols; j += TEAM) {
        R value = real_exp(a.logits.at(t, j) - p.top);
        R gradient = factor * value;

        if (j == label)
            gradient = (R)(scale * ((double)value / p.sum - 1));
        a.dlogits.at(t, j) = counted ? gradient : R(0);
    }
}

template <class R, int TEAM> static __global__ void xent_rows(struct xent<R> a)
{
    M2_SHARED(struct xent_shared<R>, shared, 1);
    int lane = (int)threadIdx.x % TEAM;
    int64_t t = blockIdx.x * (int64_t)(XENT_BLOCK / TEAM) + threadIdx.x / TEAM;

    if (t >= a.logits.rows) /* a whole warp; a block has no row to spare */
        return;
    int label = a.labels[t];
    struct peak<R> own =
        find_peak<R>(&a.logits.at(t, 0), (int)a.logits.cols, lane, TEAM);
    struct peak<R> p = team_peak<R, TEAM>(own, &shared[0]);

    if (lane == 0)
        put_row(a, t, label, p);
    if (a.dlogits.data != NULL)
        put_gradient<R, TEAM>(a, t, label, lane, p);
}

static __global__ void add_rows(const double *__restrict__ rows, int64_t n,
                                double *out)
{
    M2_SHARED(double, shared, WARP);
    double loss = 0, right = 0;

    for (int64_t t = threadIdx.x; t < n; t += XENT_BLOCK) {
        loss += rows[2 * t];
        right += rows[2 * t + 1];
    }
    loss = block_sum(loss, shared);
    right = block_sum(right, shared);
    if (threadIdx.x == 0) {
        out[0] = loss;
        out[2] = right;
    }
}

size_t scratch_xent(const struct handle *, const struct m2_xent *a)
{
    return (size_t)a->logits.rows * 2 * sizeof(double);
}

template <class R>
static int run_rows(struct handle *h, const struct xent<R> &x,
                    struct m2_error *err)
{
    int64_t rows = x.logits.rows;
    unsigned warps = (unsigned)ceil_div(rows, XENT_BLOCK / WARP);

    if (rows == 0)
        return M2_OK;
    if (x.logits.cols <= WARP_COLUMNS)
        return cuda_check(
            M2_LAUNCH((xent_rows<R, WARP>), warps, XENT_BLOCK, 0, h->stream, x),
            "op xent", err);
    return cuda_check(M2_LAUNCH((xent_rows<R, XENT_BLOCK>), (unsigned)rows,
                                XENT_BLOCK, 0, h->stream, x),
                      "op xent", err);
}

template <class R>
int op_xent(struct handle *h, const struct m2_xent *a, struct m2_error *err)
{
    struct xent<R> x = {
        a->ignore, a->scale, matrix_of<R>(a->logits), matrix_of<R>(a->dlogits),
            matrix_of<const int32_t>(a->labels).data,
            (double *)h->scratch, matrix_of<double>(a->out).data
    };
    int64_t rows = x.logits.rows;
    int code = cuda_check(M2_LAUNCH(count_labels, 1, XENT_BLOCK, 0, h->stream,
                                    x.labels, rows, x.ignore, x.out),
                          "op xent", err);

    if (code == M2_OK)
        code = run_rows(h, x, err);
    return code != M2_OK ? code
                         : cuda_check(M2_LAUNCH(add_rows, 1, XENT_BLOCK, 0,
                                                h->stream, x.rows, rows, x.out),
                                      "op xent", err);
}
OP_INSTANTIATE(xent, m2_xent)
