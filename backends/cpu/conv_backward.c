/* conv_backward.c: gradients of the convolution. */
#include "backends/cpu/columns.h"
#include "backends/cpu/conv.h"
#include "backends/cpu/vector_math.h"

/* pre becomes dpre = dy silu'(pre) for rows [from, end), zeros beyond. */
static void slopes(const struct m2_conv1d_silu_backward *op,
                   const struct block *k, int64_t end)
{
    const struct place *p = &k->p;
    int64_t rows = end - p->from;

    for (int64_t i = 0; i < rows; i++) {
        int64_t row = p->b * op->L + p->from + i;
        const real *dy = view_real(&op->dy) + row * op->dy.ld + p->first;
        const real *dx = view_real(&op->dx) + row * op->dx.ld + p->first;
        real *pre = k->pre + i * CHANNELS;

        for (int64_t c = 0; c < p->width; c += 64 / (int)sizeof(real))
            __builtin_prefetch(dx + c, 1);

#pragma omp simd
        for (int64_t c = 0; c < p->width; c++)
            pre[c] = dy[c] * silu_slope(pre[c]);
    }
    memset(k->pre + rows * CHANNELS, 0,
           (size_t)((STRETCH + op->K - 1 - rows) * CHANNELS) * sizeof(real));
}

static void input_common(const struct m2_conv1d_silu_backward *op,
                         const struct block *k, int64_t c)
{
    const struct place *p = &k->p;
    const real *w = k->filter + c, *slope = k->pre + c;
    vec w0 = vec_load(w), w1 = vec_load(w + CHANNELS);
    vec w2 = vec_load(w + 2 * CHANNELS), w3 = vec_load(w + 3 * CHANNELS);
    vec s0 = vec_load(slope), s1 = vec_load(slope + CHANNELS);
    vec s2 = vec_load(slope + 2 * CHANNELS);
    real *dx =
        view_real(&op->dx) + (p->b * op->L + p->from) * op->dx.ld + p->first;

    for (int64_t i = 0; i < p->to - p->from; i++) {
        vec s3 = vec_load(slope + (i + 3) * CHANNELS);
        vec sum = vec_fma(w3, s0, vec_zero());

        sum = vec_fma(w2, s1, sum);
        sum = vec_fma(w1, s2, sum);
        vec_store(dx + i * op->dx.ld + c, vec_fma(w0, s3, sum));
        s0 = s1;
        s1 = s2;
        s2 = s3;
    }
}

/* dx[t] = sum over k of filter[k] dpre[t + K-1-k] */
static void input_rows(const struct m2_conv1d_silu_backward *op,
                       const struct block *k)
{
    const struct place *p = &k->p;

    for (int64_t c = 0; c < p->width && is_common(k); c += VEC)
        input_common(op, k, c);
    for (int64_t t = p->from; t < p->to && !is_common(k); t++) {
        real *dx =
            view_real(&op->dx) + (p->b * op->L + t) * op->dx.ld + p->first;

        memset(dx, 0, (size_t)p->width * sizeof *dx);
        for (int64_t tap = op->K - 1; tap >= 0; tap--) {
            const real *slope =
                k->pre + (t + op->K - 1 - tap - p->from) * CHANNELS;
            const real *w = k->filter + tap * CHANNELS;

#pragma omp simd
            for (int64_t c = 0; c < p->width; c++)
                dx[c] = fma_real(w[c], slope[c], dx[c]);
        }
    }
}

static void weight_common(const struct block *k, int64_t c, real *sum)
{
    int64_t t = k->p.from;
    vec dw0 = vec_zero(), dw1 = dw0, dw2 = dw0, dw3 = dw0, db = dw0;
    vec x0 = vec_load(history_row(&k->in, t - 3) + c);
    vec x1 = vec_load(history_row(&k->in, t - 2) + c);
    vec x2 = vec_load(history_row(&k->in, t - 1) + c);

    for (const real *pre = k->pre + c; t < k->p.to; t++, pre += CHANNELS) {
        vec x3 = vec_load(k->in.x + t * k->in.ld + c);
        vec slope = vec_load(pre);

        dw0 = vec_fma(slope, x0, dw0);
        dw1 = vec_fma(slope, x1, dw1);
        dw2 = vec_fma(slope, x2, dw2);
        dw3 = vec_fma(slope, x3, dw3);
        db = vec_add(db, slope);
        x0 = x1;
        x1 = x2;
        x2 = x3;
    }
    vec_store(sum + c, dw0);
    vec_store(sum + CHANNELS + c, dw1);
    vec_store(sum + 2 * CHANNELS + c, dw2);
    vec_store(sum + 3 * CHANNELS + c, dw3);
    vec_store(sum + 4 * CHANNELS + c, db);
}

/* dw[k] and db (row K) of this task's rows. */
static void weight_sums(const struct block *k, real *sum)
{
    const struct place *p = &k->p;
    int64_t K = k->in.K;
    real *db = sum + K * CHANNELS;

    if (is_common(k)) {
        for (int64_t c = 0; c < p->width; c += VEC)
            weight_common(k, c, sum);
        return;
    }
    memset(sum, 0, (size_t)((K + 1) * CHANNELS) * sizeof *sum);
    for (int64_t t = p->from; t < p->to; t++) {
        const real *slope = k->pre + (t - p->from) * CHANNELS;

        for (int64_t tap = 0; tap < K; tap++) {
            const real *x = history_row(&k->in, t - (K - 1) + tap);
            real *dw = sum + tap * CHANNELS;

#pragma omp simd
            for (int64_t c = 0; c < p->width; c++)
                dw[c] = fma_real(slope[c], x[c], dw[c]);
        }
#pragma omp simd
        for (int64_t c = 0; c < p->width; c++)
            db[c] += slope[c];
    }
}

/* Gradient of the state: rows before the sequence.  Entry i of the state is
 * row i - K; it meets filter tap j in output row i - K + (K-1) - j. */
static void state_gradient(const struct m2_conv1d_silu_backward *op,
                           const struct block *k)
{
    const struct place *p = &k->p;
    real *out =
        view_real(&op->dstate) + p->b * op->dstate.ld + p->first * op->K;

    for (int64_t c = 0; c < p->width; c++)
        for (int64_t i = 0; i < op->K; i++) {
            real sum = 0;

            for (int64_t j = 0; j < i; j++) /* rows past the end are 0 */
                sum = fma_real(k->filter[j * CHANNELS + c],
                               k->pre[(i - 1 - j) * CHANNELS + c], sum);
            out[c * op->K + i] = sum;
        }
}

static void conv_backward_task(const struct job *job, int64_t task,
                               char *scratch)
{
    const struct conv_job *conv = CONV(job);
    const struct m2_conv1d_silu_backward *op = conv->args;
    struct m2_conv1d_silu forward = {.L = op->L,
                                     .K = op->K,
                                     .x = op->x,
                                     .w = op->w,
                                     .b = op->b,
                                     .state = op->state};
    struct place p = conv_place(conv, task, op->x.cols, op->L);
    struct block k = conv_block(&forward, &p, scratch);
    int64_t end = min_i64(p.to + op->K - 1, op->L);

    k.next = view_real(&op->dy) + p.b * op->L * op->dy.ld + p.first;
    k.next_ld = op->dy.ld;
    convolve(&k, end);
    slopes(op, &k, end);
    input_rows(op, &k);
    weight_sums(&k, conv->partial + task * (op->K + 1) * CHANNELS);
    if (op->dstate.buffer != NULL && p.from == 0)
        state_gradient(op, &k);
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

    return partial_bytes(op) + (size_t)h->threads * conv_block_bytes(op->K);
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
                         .scratch_each = conv_block_bytes(op->K)};
    parallel_run(h, &c.job);
    c.job.tasks = c.blocks;
    c.job.run = conv_reduce;
    parallel_run(h, &c.job);
    if (op->dstate_out.buffer != NULL)
        state_out_gradient(op);
    return M2_OK;
}
