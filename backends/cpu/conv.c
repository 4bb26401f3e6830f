/* conv.c: the convolution forward, and what backward shares. */
#include "backends/cpu/conv.h"
#include "backends/cpu/vector_math.h"

struct place conv_place(const struct conv_job *job, int64_t task,
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

size_t conv_block_bytes(int64_t K)
{
    return 2 * scratch_size(K * CHANNELS, sizeof(real)) +
           scratch_size(CHANNELS, sizeof(real)) +
           scratch_size((STRETCH + K - 1) * CHANNELS, sizeof(real));
}

struct block conv_block(const struct m2_conv1d_silu *op, const struct place *p,
                        char *scratch)
{
    real *past = scratch_real(&scratch, op->K * CHANNELS);
    struct block k = {
        .p = *p, .in = history_of(&op->x, &op->state, op->L, op->K, p, past)};

    k.filter = scratch_real(&scratch, op->K * CHANNELS);
    k.bias = scratch_real(&scratch, CHANNELS);
    k.pre = scratch_real(&scratch, (STRETCH + op->K - 1) * CHANNELS);
    filter_transpose(&op->w, p, k.filter);
    memset(k.bias, 0, CHANNELS * sizeof(real));
    if (op->b.buffer != NULL)
        memcpy(k.bias, view_real(&op->b) + p->first,
               (size_t)p->width * sizeof(real));
    return k;
}

/* Column c of rows [from, end) of pre, one vector wide. */
static void pre_common(const struct block *k, int64_t c, int64_t end)
{
    const real *w = k->filter + c;
    vec w0 = vec_load(w), w1 = vec_load(w + CHANNELS);
    vec w2 = vec_load(w + 2 * CHANNELS), w3 = vec_load(w + 3 * CHANNELS);
    vec bias = vec_load(k->bias + c);
    int64_t t = k->p.from;
    vec x0 = vec_load(history_row(&k->in, t - 3) + c);
    vec x1 = vec_load(history_row(&k->in, t - 2) + c);
    vec x2 = vec_load(history_row(&k->in, t - 1) + c);

    for (real *pre = k->pre + c; t < end; t++, pre += CHANNELS) {
        const real *x = k->in.x + t * k->in.ld + c;
        vec x3 = vec_load(x);
        vec sum = vec_fma(w0, x0, bias);

        __builtin_prefetch(x + AHEAD * k->in.ld);
        if (k->next != NULL)
            __builtin_prefetch(k->next + t * k->next_ld + c);

        sum = vec_fma(w1, x1, sum);
        sum = vec_fma(w2, x2, sum);
        vec_store(pre, vec_fma(w3, x3, sum));
        x0 = x1;
        x1 = x2;
        x2 = x3;
    }
}

void convolve(const struct block *k, int64_t end)
{
    int64_t K = k->in.K, width = k->p.width;

    if (is_common(k)) {
        for (int64_t c = 0; c < width; c += VEC)
            pre_common(k, c, end);
        return;
    }
    for (int64_t t = k->p.from; t < end; t++) {
        real *pre = k->pre + (t - k->p.from) * CHANNELS;

        memcpy(pre, k->bias, (size_t)width * sizeof *pre);
        for (int64_t tap = 0; tap < K; tap++) {
            const real *x = history_row(&k->in, t - (K - 1) + tap);
            const real *w = k->filter + tap * CHANNELS;

#pragma omp simd
            for (int64_t c = 0; c < width; c++)
                pre[c] = fma_real(w[c], x[c], pre[c]);
        }
    }
}

static void conv_task(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_conv1d_silu *op = CONV(job)->args;
    struct place p = conv_place(CONV(job), task, op->x.cols, op->L);
    struct block k = conv_block(op, &p, scratch);

    convolve(&k, p.to);
    for (int64_t t = p.from; t < p.to; t++) {
        real *y = view_real(&op->y) + (p.b * op->L + t) * op->y.ld + p.first;
        const real *pre = k.pre + (t - p.from) * CHANNELS;

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

    return (size_t)h->threads * conv_block_bytes(op->K);
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
                         .scratch_each = conv_block_bytes(op->K)};
    parallel_run(h, &c.job);
    if (op->state_out.buffer != NULL) {
        c.job.tasks = op->B;
        c.job.work = (double)(op->B * op->K) * (double)op->x.cols;
        c.job.run = state_task;
        parallel_run(h, &c.job);
    }
    return M2_OK;
}
