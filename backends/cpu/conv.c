/* conv.c: causal depthwise convolution over time with SiLU, forward and
 * backward.  Specification section 4.5.
 *
 * A task is one block of channels of a stretch of one sequence.  The filter
 * is transposed to [K][channels of the block] so that channels fill vectors. */
#include "backends/cpu/columns.h"
#include "backends/cpu/vector_math.h"

enum { CHANNELS = 64, STRETCH = 64 };

struct conv_job {
    struct job job;
    const void *args;
    int64_t blocks, stretches;
    real *partial; /* backward: (B * stretches, blocks, (K+1) * CHANNELS) */
};

#define CONV(job) ((const struct conv_job *)(const void *)(job))

/* Where a task works. */
struct place {
    int64_t b, first, width, from, to; /* channels [first, first + width) */
};

static struct place place_of(const struct conv_job *job, int64_t task,
                             int64_t channels, int64_t L)
{
    int64_t block = task % job->blocks, rest = task / job->blocks;
    struct place p = {.b = rest / job->stretches,
                      .first = block * CHANNELS,
                      .from = rest % job->stretches * STRETCH};

    p.width = min_i64(CHANNELS, channels - p.first);
    p.to = min_i64(p.from + STRETCH, L);
    return p;
}

/* The input of one block of channels with its history: row(t) for
 * t >= -(K-1). */
struct history {
    const real *x; /* row 0 of the sequence, first channel of the block */
    int64_t ld, K;
    const real *past; /* (K-1, CHANNELS): rows -(K-1) .. -1 */
};

static const real *history_row(const struct history *in, int64_t t)
{
    return t >= 0 ? in->x + t * in->ld : in->past + (t + in->K - 1) * CHANNELS;
}

/* Fills `past` from the state (C*K per sequence, the last K inputs of each
 * channel, oldest first) or with zeros, and returns the input with it. */
static struct history history_of(const struct m2_view *x,
                                 const struct m2_view *state, int64_t L,
                                 int64_t K, const struct place *p, real *past)
{
    const real *old = view_real(state);

    memset(past, 0, (size_t)((K - 1) * CHANNELS) * sizeof *past);
    if (old != NULL) {
        old += p->b * state->ld + p->first * K;
        for (int64_t k = 1; k < K; k++)
            for (int64_t c = 0; c < p->width; c++)
                past[(k - 1) * CHANNELS + c] = old[c * K + k];
    }
    return (struct history){.x = view_real(x) + p->b * L * x->ld + p->first,
                            .ld = x->ld,
                            .K = K,
                            .past = past};
}

/* filter[k*CHANNELS + c] = w[c][k] */
static void filter_transpose(const struct m2_view *w, const struct place *p,
                             real *filter)
{
    const real *from = view_real(w) + p->first * w->ld;

    for (int64_t k = 0; k < w->cols; k++)
        for (int64_t c = 0; c < p->width; c++)
            filter[k * CHANNELS + c] = from[c * w->ld + k];
}

/* pre = bias + sum over k of filter[k] input[t - (K-1) + k] */
static void convolve(const struct history *in, const real *filter,
                     const real *bias, int64_t t, int64_t width, real *pre)
{
    const real *last = history_row(in, t);
    const real *tap = filter + (in->K - 1) * CHANNELS;

    if (bias != NULL)
        memcpy(pre, bias, (size_t)width * sizeof *pre);
    else
        memset(pre, 0, (size_t)width * sizeof *pre);
    for (int64_t k = 0; k < in->K - 1; k++) {
        const real *x = history_row(in, t - (in->K - 1) + k);
        const real *w = filter + k * CHANNELS;

#pragma omp simd
        for (int64_t c = 0; c < width; c++)
            pre[c] = fma_real(w[c], x[c], pre[c]);
    }
#pragma omp simd
    for (int64_t c = 0; c < width; c++)
        pre[c] = fma_real(tap[c], last[c], pre[c]);
}

static void conv_task(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_conv1d_silu *op = CONV(job)->args;
    struct place p = place_of(CONV(job), task, op->x.cols, op->L);
    real *past = scratch_real(&scratch, op->K * CHANNELS);
    real *filter = scratch_real(&scratch, op->K * CHANNELS);
    const real *bias = view_real(&op->b);
    struct history in = history_of(&op->x, &op->state, op->L, op->K, &p, past);

    filter_transpose(&op->w, &p, filter);
    for (int64_t t = p.from; t < p.to; t++) {
        real *y = view_real(&op->y) + (p.b * op->L + t) * op->y.ld + p.first;
        real pre[CHANNELS];

        convolve(&in, filter, bias == NULL ? NULL : bias + p.first, t, p.width,
                 pre);
#pragma omp simd
        for (int64_t c = 0; c < p.width; c++)
            y[c] = silu_real(pre[c]);
    }
}

/* state_out[c] = the last K inputs; may be the state that was read. */
static void state_task(const struct job *job, int64_t b, char *scratch)
{
    const struct m2_conv1d_silu *op = CONV(job)->args;
    const real *old = view_real(&op->state);
    real *out = view_real(&op->state_out) + b * op->state_out.ld;

    (void)scratch;
    if (old != NULL)
        old += b * op->state.ld;
    for (int64_t c = 0; c < op->x.cols; c++)
        for (int64_t k = 0; k < op->K; k++) {
            int64_t t = op->L - op->K + k;
            real value = 0;

            if (t >= 0)
                value = view_real(&op->x)[(b * op->L + t) * op->x.ld + c];
            else if (old != NULL)
                value = old[c * op->K + k + op->L];
            out[c * op->K + k] = value;
        }
}

size_t WORKSPACE(conv1d_silu)(const struct handle *h, const void *args)
{
    const struct m2_conv1d_silu *op = args;

    return (size_t)h->threads * 2 *
           scratch_size(op->K * CHANNELS, sizeof(real));
}

int OP(conv1d_silu)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_conv1d_silu *op = args;
    struct conv_job c = {.args = op,
                         .blocks = ceil_div(op->x.cols, CHANNELS),
                         .stretches = ceil_div(op->L, STRETCH)};

    (void)err;
    c.job = (struct job){.tasks = op->B * c.blocks * c.stretches,
                         .work = 10.0 * (double)op->x.rows * (double)op->x.cols,
                         .run = conv_task,
                         .scratch = h->scratch,
                         .scratch_each =
                             2 * scratch_size(op->K * CHANNELS, sizeof(real))};
    parallel_run(h, &c.job);
    if (op->state_out.buffer != NULL) {
        c.job.tasks = op->B;
        c.job.work = (double)(op->B * op->K) * (double)op->x.cols;
        c.job.run = state_task;
        parallel_run(h, &c.job);
    }
    return M2_OK;
}

/* ---- backward ---------------------------------------------------------- */

/* Scratch of one task of the backward pass. */
struct conv_scratch {
    real *past, *filter;
    real *slope; /* (STRETCH + K-1, CHANNELS): dpre of rows from `from` on */
};

static size_t backward_each(int64_t K)
{
    return 2 * scratch_size(K * CHANNELS, sizeof(real)) +
           scratch_size((STRETCH + K - 1) * CHANNELS, sizeof(real));
}

/* dpre = dy silu'(pre) for rows [from, end). */
static void slopes(const struct m2_conv1d_silu_backward *op,
                   const struct place *p, const struct history *in,
                   const struct conv_scratch *s, int64_t end)
{
    const real *bias = view_real(&op->b);

    for (int64_t t = p->from; t < end; t++) {
        const real *dy =
            view_real(&op->dy) + (p->b * op->L + t) * op->dy.ld + p->first;
        real *slope = s->slope + (t - p->from) * CHANNELS;
        real pre[CHANNELS];

        convolve(in, s->filter, bias == NULL ? NULL : bias + p->first, t,
                 p->width, pre);
#pragma omp simd
        for (int64_t c = 0; c < p->width; c++)
            slope[c] = dy[c] * silu_slope(pre[c]);
    }
}

/* dx[t] = sum over k of filter[k] dpre[t + K-1-k], where that row exists. */
static void input_rows(const struct m2_conv1d_silu_backward *op,
                       const struct place *p, const struct conv_scratch *s)
{
    for (int64_t t = p->from; t < p->to; t++) {
        real *dx =
            view_real(&op->dx) + (p->b * op->L + t) * op->dx.ld + p->first;

        memset(dx, 0, (size_t)p->width * sizeof *dx);
        for (int64_t k = op->K - 1; k >= 0 && t + op->K - 1 - k < op->L; k--) {
            const real *slope =
                s->slope + (t + op->K - 1 - k - p->from) * CHANNELS;
            const real *w = s->filter + k * CHANNELS;

#pragma omp simd
            for (int64_t c = 0; c < p->width; c++)
                dx[c] = fma_real(w[c], slope[c], dx[c]);
        }
    }
}

/* dw[k] and db (row K) of this task's rows. */
static void weight_sums(const struct m2_conv1d_silu_backward *op,
                        const struct place *p, const struct history *in,
                        const struct conv_scratch *s, real *sum)
{
    memset(sum, 0, (size_t)((op->K + 1) * CHANNELS) * sizeof *sum);
    for (int64_t t = p->from; t < p->to; t++) {
        const real *slope = s->slope + (t - p->from) * CHANNELS;
        real *db = sum + op->K * CHANNELS;

        for (int64_t k = 0; k < op->K; k++) {
            const real *x = history_row(in, t - (op->K - 1) + k);
            real *dw = sum + k * CHANNELS;

#pragma omp simd
            for (int64_t c = 0; c < p->width; c++)
                dw[c] = fma_real(slope[c], x[c], dw[c]);
        }
#pragma omp simd
        for (int64_t c = 0; c < p->width; c++)
            db[c] += slope[c];
    }
}

/* Gradient of the state: rows before the sequence.  Entry k of the state is
 * row k - K; it meets filter tap j in output row k - K + (K-1) - j. */
static void state_gradient(const struct m2_conv1d_silu_backward *op,
                           const struct place *p, const struct conv_scratch *s)
{
    real *out =
        view_real(&op->dstate) + p->b * op->dstate.ld + p->first * op->K;

    for (int64_t c = 0; c < p->width; c++)
        for (int64_t k = 0; k < op->K; k++) {
            real sum = 0;

            for (int64_t j = 0; j < k; j++) {
                int64_t t = k - 1 - j;

                if (t < op->L)
                    sum = fma_real(s->filter[j * CHANNELS + c],
                                   s->slope[t * CHANNELS + c], sum);
            }
            out[c * op->K + k] = sum;
        }
}

static void conv_backward_task(const struct job *job, int64_t task,
                               char *scratch)
{
    const struct conv_job *conv = CONV(job);
    const struct m2_conv1d_silu_backward *op = conv->args;
    struct place p = place_of(conv, task, op->x.cols, op->L);
    struct conv_scratch s = {
        .past = scratch_real(&scratch, op->K * CHANNELS),
        .filter = scratch_real(&scratch, op->K * CHANNELS),
        .slope = scratch_real(&scratch, (STRETCH + op->K - 1) * CHANNELS)};
    struct history in =
        history_of(&op->x, &op->state, op->L, op->K, &p, s.past);

    filter_transpose(&op->w, &p, s.filter);
    slopes(op, &p, &in, &s, min_i64(p.to + op->K - 1, op->L));
    input_rows(op, &p, &s);
    weight_sums(op, &p, &in, &s, conv->partial + task * (op->K + 1) * CHANNELS);
    if (op->dstate.buffer != NULL && p.from == 0)
        state_gradient(op, &p, &s);
}

/* Adds the partial sums of block `block` over all sequences and stretches. */
static void conv_reduce(const struct job *job, int64_t block, char *scratch)
{
    const struct conv_job *conv = CONV(job);
    const struct m2_conv1d_silu_backward *op = conv->args;
    int64_t first = block * CHANNELS, size = (op->K + 1) * CHANNELS;
    int64_t width = min_i64(CHANNELS, op->x.cols - first);
    real sum[CHANNELS];

    (void)scratch;
    for (int64_t k = 0; k <= op->K; k++) {
        const real *partial = conv->partial + block * size + k * CHANNELS;

        memset(sum, 0, sizeof sum);
        columns_add(partial, op->B * conv->stretches, conv->blocks * size, sum,
                    width);
        for (int64_t c = 0; c < width; c++)
            if (k < op->K)
                view_real(&op->dw)[(first + c) * op->dw.ld + k] += sum[c];
            else if (op->db.buffer != NULL)
                view_real(&op->db)[first + c] += sum[c];
    }
}

/* The gradient that arrives through state_out: entry k is row L - K + k, or,
 * before the sequence, entry k + L of the state. */
static void state_out_gradient(const struct m2_conv1d_silu_backward *op)
{
    for (int64_t b = 0; b < op->B; b++)
        for (int64_t i = 0; i < op->x.cols * op->K; i++) {
            int64_t c = i / op->K, t = op->L - op->K + i % op->K;
            real d = view_real(&op->dstate_out)[b * op->dstate_out.ld + i];

            if (t >= 0)
                view_real(&op->dx)[(b * op->L + t) * op->dx.ld + c] += d;
            else if (op->dstate.buffer != NULL)
                view_real(&op->dstate)[b * op->dstate.ld + i + op->L] += d;
        }
}

static size_t partial_bytes(const struct m2_conv1d_silu_backward *op)
{
    int64_t tasks =
        op->B * ceil_div(op->x.cols, CHANNELS) * ceil_div(op->L, STRETCH);

    return scratch_size(tasks * (op->K + 1) * CHANNELS, sizeof(real));
}

size_t WORKSPACE(conv1d_silu_backward)(const struct handle *h, const void *args)
{
    const struct m2_conv1d_silu_backward *op = args;

    return partial_bytes(op) + (size_t)h->threads * backward_each(op->K);
}

int OP(conv1d_silu_backward)(struct handle *h, const void *args,
                             struct m2_error *err)
{
    const struct m2_conv1d_silu_backward *op = args;
    struct conv_job c = {.args = op,
                         .blocks = ceil_div(op->x.cols, CHANNELS),
                         .stretches = ceil_div(op->L, STRETCH),
                         .partial = (real *)(void *)h->scratch};

    (void)err;
    c.job = (struct job){.tasks = op->B * c.blocks * c.stretches,
                         .work = 20.0 * (double)op->x.rows * (double)op->x.cols,
                         .run = conv_backward_task,
                         .scratch = h->scratch + partial_bytes(op),
                         .scratch_each = backward_each(op->K)};
    parallel_run(h, &c.job);
    c.job.tasks = c.blocks;
    c.job.run = conv_reduce;
    parallel_run(h, &c.job);
    if (op->dstate_out.buffer != NULL)
        state_out_gradient(op);
    return M2_OK;
}
