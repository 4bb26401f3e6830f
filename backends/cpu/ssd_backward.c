/* ssd_backward.c: gradients of the selective scan, chunks from last to first.
 * Names are those of the specification's section 4.8: W = dY X^T, G = C B^T,
 * E = exp(s) dY, R = dL/d(state leaving the chunk). */
#include "backends/cpu/ssd.h"

struct backward_job {
    struct job job;
    const struct m2_ssd_backward *op;
    struct ssd_shape s;
    real *db, *dc;   /* per task (L, Np): sums over the heads of the task */
    double *da, *dd; /* (B, H) */
};

/* One task and its scratch. */
struct backward {
    const struct backward_job *job;
    const struct m2_ssd_backward *op;
    const struct ssd_shape *s;
    struct ssd_heads heads;
    struct ssd_decay decay;
    real *db, *dc; /* (q, Np): of the chunk, summed over the task's heads */
    real *b, *c;   /* (q, Np): rows of the chunk */
    real *bt;      /* (N, qp) */
    real *gram;    /* (q, qp): G */
    real *dgram;   /* (q, qp): dG, summed over the task's heads */
    real *w, *mix; /* (q, qp): W, later Z; M */
    real *x, *dy;  /* (q, Pp); dy becomes E */
    real *xt;      /* (P, qp) */
    real *du;      /* (q, Pp) */
    real *side;    /* (q, Np) */
    real *state;   /* (P, Np): S of this head and chunk */
    real *r;       /* (P, Np): R */
    real *rt;      /* (HEADS, N, Pp): R transposed, carried */
    real *column;  /* (qp): sums of Z down its columns */
    double *direct, *from_state, *to_state; /* (q) */
};

static size_t backward_each(const struct ssd_shape *s)
{
    size_t square = scratch_size(s->q * s->qp, sizeof(real));

    return NAME(ssd_decay_bytes)(s) + 4 * square +
           3 * scratch_size(s->q * s->Np, sizeof(real)) +
           3 * scratch_size(s->q * s->Pp, sizeof(real)) +
           scratch_size(s->N * s->qp, sizeof(real)) +
           scratch_size(s->P * s->qp, sizeof(real)) +
           2 * scratch_size(s->P * s->Np, sizeof(real)) +
           scratch_size(HEADS * s->N * s->Pp, sizeof(real)) +
           scratch_size(s->qp, sizeof(real)) +
           3 * scratch_size(s->q, sizeof(double));
}

static struct backward backward_take(const struct backward_job *job,
                                     int64_t task, char *scratch)
{
    const struct ssd_shape *s = &job->s;
    struct backward k = {.job = job,
                         .op = job->op,
                         .s = s,
                         .heads = NAME(ssd_heads)(s, task),
                         .decay = NAME(ssd_decay_take)(s, &scratch)};

    k.gram = scratch_real(&scratch, s->q * s->qp);
    k.dgram = scratch_real(&scratch, s->q * s->qp);
    k.w = scratch_real(&scratch, s->q * s->qp);
    k.mix = scratch_real(&scratch, s->q * s->qp);
    k.b = scratch_real(&scratch, s->q * s->Np);
    k.c = scratch_real(&scratch, s->q * s->Np);
    k.side = scratch_real(&scratch, s->q * s->Np);
    k.x = scratch_real(&scratch, s->q * s->Pp);
    k.dy = scratch_real(&scratch, s->q * s->Pp);
    k.du = scratch_real(&scratch, s->q * s->Pp);
    k.bt = scratch_real(&scratch, s->N * s->qp);
    k.xt = scratch_real(&scratch, s->P * s->qp);
    k.state = scratch_real(&scratch, s->P * s->Np);
    k.r = scratch_real(&scratch, s->P * s->Np);
    k.rt = scratch_real(&scratch, HEADS * s->N * s->Pp);
    k.column = scratch_real(&scratch, s->qp);
    k.direct = scratch_f64(&scratch, s->q);
    k.from_state = scratch_f64(&scratch, s->q);
    k.to_state = scratch_f64(&scratch, s->q);
    return k;
}

/* b, c, G of the chunk; dG starts at zero. */
static void group_load(const struct backward *k, const struct ssd_chunk *chunk)
{
    const struct ssd_shape *s = k->s;
    const struct m2_view *b = &k->op->b, *c = &k->op->c;
    int64_t row = k->heads.b * s->L + chunk->from, col = k->heads.group * s->N;
    struct tile t = {.k = s->N,
                     .a = k->c,
                     .a_row = s->Np,
                     .a_k = 1,
                     .b = k->bt,
                     .b_k = s->qp,
                     .c = k->gram,
                     .ldc = s->qp};

    NAME(ssd_copy)
    (k->b, s->Np, view_real(b) + row * b->ld + col, b->ld, chunk->q, s->N);
    NAME(ssd_copy)
    (k->c, s->Np, view_real(c) + row * c->ld + col, c->ld, chunk->q, s->N);
    if (chunk->out == chunk->q)
        return;
    NAME(ssd_transpose)(k->bt, s->qp, k->b, s->Np, chunk->q, s->N);
    NAME(ssd_lower)(t, chunk->out, chunk->q);
    memset(k->dgram + chunk->out * s->qp, 0,
           (size_t)((chunk->q - chunk->out) * s->qp) * sizeof(real));
}

static int any_not_zero(const real *x, int64_t n)
{
    int count = 0;

#pragma omp simd reduction(+ : count)
    for (int64_t i = 0; i < n; i++)
        count += x[i] != 0;
    return count > 0;
}

/* x, dy, decays and the state entering the chunk, of one head.  Returns
 * whether that state is other than zero: it is, but for a first chunk. */
static int head_load(const struct backward *k, struct ssd_decay *decay,
                     const struct ssd_chunk *chunk, int64_t head)
{
    const struct m2_ssd_backward *op = k->op;
    const struct ssd_shape *s = k->s;
    int64_t row = k->heads.b * s->L;
    int64_t dy_row = s->last_only ? k->heads.b - chunk->out : row + chunk->from;
    const real *state = view_real(&op->states) + k->heads.b * op->states.ld +
                        (chunk->index * s->H + head) * s->P * s->N;

    NAME(ssd_decay)
    (decay, chunk, view_real(&op->dt) + row * op->dt.ld + head, op->dt.ld,
     view_real(&op->a_log)[head]);
    NAME(ssd_copy)
    (k->x, s->Pp,
     view_real(&op->x) + (row + chunk->from) * op->x.ld + head * s->P, op->x.ld,
     chunk->q, s->P);
    NAME(ssd_copy)
    (k->dy + chunk->out * s->Pp, s->Pp,
     view_real(&op->dy) + (dy_row + chunk->out) * op->dy.ld + head * s->P,
     op->dy.ld, chunk->q - chunk->out, s->P);
    NAME(ssd_copy)(k->state, s->Np, state, s->N, s->P, s->N);
    return chunk->index > 0 || any_not_zero(state, s->P * s->N);
}

/* W, then per row: M = G o L, Z = W o M dt, dG += (W o L) dt. */
static void pair_rows(const struct backward *k, const struct ssd_chunk *chunk,
                      int64_t head)
{
    const struct ssd_shape *s = k->s;
    const struct ssd_decay *d = &k->decay;
    int64_t row = k->heads.b * s->L + chunk->from;
    struct tile t = {.k = s->P,
                     .a = k->dy,
                     .a_row = s->Pp,
                     .a_k = 1,
                     .b = k->xt,
                     .b_k = s->qp,
                     .c = k->w,
                     .ldc = s->qp};

    NAME(ssd_transpose)(k->xt, s->qp, k->x, s->Pp, chunk->q, s->P);
    NAME(ssd_lower)(t, chunk->out, chunk->q);
    for (int64_t i = chunk->out; i < chunk->q; i++) {
        const real *gram = k->gram + i * s->qp;
        real *w = k->w + i * s->qp, *mix = k->mix + i * s->qp;
        real *dgram = k->dgram + i * s->qp;
        double si = d->s[i];
        int64_t end = round_up(i + 1, VEC);

        ssd_prefetch(&k->op->x, row + i, (head + 1) * s->P, s->P);
        ssd_prefetch(&k->op->dx, row + i, head * s->P, s->P);
        if (!s->last_only)
            ssd_prefetch(&k->op->dy, row + i, (head + 1) * s->P, s->P);
        for (int64_t j0 = 0; j0 < end; j0 += VEC)
#pragma omp simd
            for (int64_t j = j0; j < j0 + VEC; j++) {
                real l = exp_real((real)(si - d->s[j]));
                real pair = w[j] * l * d->dt[j];

                mix[j] = j > i ? 0 : gram[j] * l;
                dgram[j] += j > i ? 0 : pair;
                w[j] = j > i ? 0 : pair * gram[j];
            }
        for (int64_t j = end; j < chunk->q; j++)
            mix[j] = 0;
    }
}

/* dU = M^T dY + tail B R^T; then dX = dt dU + d dY, the direct part of the
 * gradient of dt, and dd. */
static void input_rows(const struct backward *k, const struct ssd_chunk *chunk,
                       int64_t head, const real *rt)
{
    const struct ssd_shape *s = k->s;
    const struct m2_view *out = &k->op->dx;
    real skip = view_real(&k->op->d)[head];
    int64_t row = k->heads.b * s->L + chunk->from;
    struct tile t = {.a = k->mix,
                     .a_row = 1,
                     .a_k = s->qp,
                     .b = k->dy,
                     .b_k = s->Pp,
                     .c = k->du,
                     .ldc = s->Pp};

    if (chunk->out < chunk->q)
        NAME(ssd_upper_times)(t, chunk->out, chunk->q, s->P);
    else
        memset(k->du, 0, (size_t)(chunk->q * s->Pp) * sizeof(real));
    if (rt != NULL) {
        for (int64_t j = 0; j < chunk->q; j++)
            for (int64_t n = 0; n < s->N; n++)
                k->side[j * s->Np + n] = k->decay.tail[j] * k->b[j * s->Np + n];
        t = (struct tile){.k = s->N,
                          .a = k->side,
                          .a_row = s->Np,
                          .a_k = 1,
                          .b = rt,
                          .b_k = s->Pp,
                          .c = k->du,
                          .ldc = s->Pp,
                          .accumulate = 1};
        NAME(tile_multiply)(&t, chunk->q, s->P);
    }
    for (int64_t j = 0; j < chunk->q; j++) {
        const real *du = k->du + j * s->Pp, *dy = k->dy + j * s->Pp;
        real *dx = view_real(out) + (row + j) * out->ld + head * s->P;
        real dt = k->decay.dt[j];

        k->direct[j] = (double)dot_real(k->x + j * s->Pp, du, s->P);
        if (j < chunk->out) {
#pragma omp simd
            for (int64_t p = 0; p < s->P; p++)
                dx[p] = dt * du[p];
        } else {
#pragma omp simd
            for (int64_t p = 0; p < s->P; p++)
                dx[p] = fma_real(skip, dy[p], dt * du[p]);
        }
    }
    k->job->dd[k->heads.b * s->H + head] +=
        (double)dot_real(k->x + chunk->out * s->Pp, k->dy + chunk->out * s->Pp,
                         (chunk->q - chunk->out) * s->Pp);
}

/* side = rows of A times a state (P, Np). */
static void times_state(const struct backward *k, const real *a,
                        const real *state, int64_t first, int64_t q)
{
    const struct ssd_shape *s = k->s;
    struct tile t = {.k = s->P,
                     .a = a + first * s->Pp,
                     .a_row = s->Pp,
                     .a_k = 1,
                     .b = state,
                     .b_k = s->Np,
                     .c = k->side + first * s->Np,
                     .ldc = s->Np};

    if (first < q)
        NAME(tile_multiply)(&t, q - first, s->N);
}

/* sum_i = scale_i <side_i, row_i>; out_i += scale_i side_i */
static void side_add(const struct backward *k, const real *rows, real *out,
                     int64_t first, int64_t q, const real *scale, double *sum)
{
    const struct ssd_shape *s = k->s;

    for (int64_t i = first; i < q; i++) {
        const real *side = k->side + i * s->Np;
        real *to = out + i * s->Np;
        real factor = scale == NULL ? R(1.0) : scale[i];

#pragma omp simd
        for (int64_t n = 0; n < s->N; n++)
            to[n] = fma_real(factor, side[n], to[n]);
        sum[i] =
            (double)factor * (double)dot_real(side, rows + i * s->Np, s->N);
    }
}

/* The parts that pass through the carried states: dC += E S, dB += dt tail X R,
 * and what they give to the gradient of the decays.  Returns r0. */
static double state_terms(const struct backward *k,
                          const struct ssd_chunk *chunk, int started,
                          const real *rt)
{
    const struct ssd_shape *s = k->s;
    const struct ssd_decay *d = &k->decay;
    double product = 0;

    for (int64_t i = 0; i < chunk->q; i++) {
        k->from_state[i] = 0;
        k->to_state[i] = 0;
    }
    if (started) {
        times_state(k, k->dy, k->state, chunk->out, chunk->q);
        side_add(k, k->c, k->dc, chunk->out, chunk->q, NULL, k->from_state);
    }
    if (rt == NULL)
        return 0;
    NAME(ssd_transpose)(k->r, s->Np, rt, s->Pp, s->N, s->P);
    times_state(k, k->x, k->r, 0, chunk->q);
    for (int64_t j = 0; j < chunk->q; j++)
        k->column[j] = d->dt[j] * d->tail[j];
    side_add(k, k->b, k->db, 0, chunk->q, k->column, k->to_state);
    for (int64_t p = 0; p < s->P && started; p++)
        product +=
            (double)dot_real(k->state + p * s->Np, k->r + p * s->Np, s->N);
    return (double)d->all * product;
}

/* Gradient of the log decays in the stable form: sums of terms, no
 * differences.  da_k = sum over i >= k > j of Z_ij + sum over i >= k of o_i +
 * sum over j < k of v_j + r0. */
static void decay_gradient(const struct backward *k,
                           const struct ssd_chunk *chunk, int64_t head,
                           double r0)
{
    const struct m2_view *out = &k->op->ddt;
    real *ddt =
        view_real(out) + (k->heads.b * k->s->L + chunk->from) * out->ld + head;
    double *da = k->job->da + k->heads.b * k->s->H + head;
    double before = 0, after = 0;

    for (int64_t i = 0; i < chunk->q; i++) { /* exclusive sums, in place */
        double v = k->to_state[i];

        k->to_state[i] = before;
        before += v;
    }
    memset(k->column, 0, (size_t)chunk->q * sizeof(real));
    for (int64_t i = chunk->q - 1; i >= 0; i--) {
        const real *z = k->w + i * k->s->qp;
        double sum;

        if (i >= chunk->out) {
#pragma omp simd
            for (int64_t j = 0; j <= i; j++)
                k->column[j] += z[j];
        }
        after += k->from_state[i];
        sum = (double)sum_real(k->column, i) + after + k->to_state[i] + r0;
        ddt[i * out->ld] = (real)(k->direct[i] + k->decay.rate * sum);
        *da += (double)k->decay.dt[i] * sum;
    }
}

/* R of the chunk before: all R + C^T E. */
static void carry_back(const struct backward *k, const struct ssd_chunk *chunk,
                       real *rt)
{
    const struct ssd_shape *s = k->s;
    struct tile t = {.k = chunk->q - chunk->out,
                     .a = k->c + chunk->out * s->Np,
                     .a_row = 1,
                     .a_k = s->Np,
                     .b = k->dy + chunk->out * s->Pp,
                     .b_k = s->Pp,
                     .c = rt,
                     .ldc = s->Pp,
                     .accumulate = 1};

#pragma omp simd
    for (int64_t i = 0; i < s->N * s->Pp; i++)
        rt[i] *= k->decay.all;
    if (t.k > 0)
        NAME(tile_multiply)(&t, s->N, s->P);
}

/* dY becomes E = exp(s) dY. */
static void decay_outputs(const struct backward *k,
                          const struct ssd_chunk *chunk)
{
    for (int64_t t = chunk->out; t < chunk->q; t++) {
        real *e = k->dy + t * k->s->Pp;

#pragma omp simd
        for (int64_t p = 0; p < k->s->P; p++)
            e[p] *= k->decay.in[t];
    }
}

static void head_backward(const struct backward *k, struct ssd_decay *decay,
                          const struct ssd_chunk *chunk, int64_t i)
{
    const struct ssd_shape *s = k->s;
    int64_t head = k->heads.first + i;
    int last = chunk->index == s->chunks - 1;
    int started = head_load(k, decay, chunk, head);
    int carries = chunk->index > 0 || k->op->dh0.buffer != NULL;
    real *carried = k->rt + i * s->N * s->Pp;
    const real *rt = last && k->op->dh_final.buffer == NULL ? NULL : carried;

    pair_rows(k, chunk, head);
    input_rows(k, chunk, head, rt);
    if (started || carries)
        decay_outputs(k, chunk);
    decay_gradient(k, chunk, head, state_terms(k, chunk, started, rt));
    if (carries)
        carry_back(k, chunk, carried);
}

/* dC += dG B, dB += dG^T C, over all heads of the task. */
static void group_store(const struct backward *k, const struct ssd_chunk *chunk)
{
    const struct ssd_shape *s = k->s;
    struct tile t = {.a = k->dgram,
                     .a_row = s->qp,
                     .a_k = 1,
                     .b = k->b,
                     .b_k = s->Np,
                     .c = k->dc,
                     .ldc = s->Np,
                     .accumulate = 1};

    if (chunk->out == chunk->q)
        return;
    NAME(ssd_lower_times)(t, chunk->out, chunk->q, s->N);
    t.a_row = 1;
    t.a_k = s->qp;
    t.b = k->c;
    t.c = k->db;
    NAME(ssd_upper_times)(t, chunk->out, chunk->q, s->N);
}

static void states_in(const struct backward *k)
{
    const struct m2_view *in = &k->op->dh_final;
    const struct ssd_shape *s = k->s;

    memset(k->rt, 0, (size_t)(HEADS * s->N * s->Pp) * sizeof(real));
    for (int64_t i = 0; i < k->heads.count && in->buffer != NULL; i++)
        NAME(ssd_transpose)
    (k->rt + i * s->N * s->Pp, s->Pp,
     view_real(in) + k->heads.b * in->ld + (k->heads.first + i) * s->P * s->N,
     s->N, s->P, s->N);
}

static void states_out(const struct backward *k)
{
    const struct m2_view *out = &k->op->dh0;
    const struct ssd_shape *s = k->s;

    for (int64_t i = 0; i < k->heads.count && out->buffer != NULL; i++)
        NAME(ssd_transpose)
    (view_real(out) + k->heads.b * out->ld + (k->heads.first + i) * s->P * s->N,
     s->N, k->rt + i * s->N * s->Pp, s->Pp, s->N, s->P);
}

static void backward_task(const struct job *job, int64_t task, char *scratch)
{
    const struct backward_job *backward =
        (const struct backward_job *)(const void *)job;
    struct backward k = backward_take(backward, task, scratch);
    const struct ssd_shape *s = k.s;
    int64_t each = s->L * s->Np, sums = k.heads.b * s->H + k.heads.first;

    memset(backward->db + task * each, 0, (size_t)each * sizeof(real));
    memset(backward->dc + task * each, 0, (size_t)each * sizeof(real));
    for (int64_t i = 0; i < k.heads.count; i++) {
        backward->da[sums + i] = 0;
        backward->dd[sums + i] = 0;
    }
    states_in(&k);
    for (int64_t c = s->chunks - 1; c >= 0; c--) {
        struct ssd_chunk chunk = NAME(ssd_chunk)(s, c);

        k.db = backward->db + task * each + chunk.from * s->Np;
        k.dc = backward->dc + task * each + chunk.from * s->Np;
        group_load(&k, &chunk);
        for (int64_t i = 0; i < k.heads.count; i++)
            head_backward(&k, &k.decay, &chunk, i);
        group_store(&k, &chunk);
    }
    states_out(&k);
}

/* db and dc of one sequence: the sums of its tasks, in order. */
static void group_sums(const struct job *job, int64_t b, char *scratch)
{
    const struct backward_job *k =
        (const struct backward_job *)(const void *)job;
    const struct ssd_shape *s = &k->s;
    const struct m2_view *db = &k->op->db, *dc = &k->op->dc;
    int64_t each = s->L * s->Np;

    (void)scratch;
    for (int64_t t = 0; t < s->L; t++)
        for (int64_t g = 0; g < s->G; g++) {
            int64_t first = (b * s->G + g) * s->blocks;
            int64_t row = b * s->L + t;
            real *to_b = view_real(db) + row * db->ld + g * s->N;
            real *to_c = view_real(dc) + row * dc->ld + g * s->N;

            memset(to_b, 0, (size_t)s->N * sizeof(real));
            memset(to_c, 0, (size_t)s->N * sizeof(real));
            for (int64_t i = first; i < first + s->blocks; i++) {
                const real *from_b = k->db + i * each + t * s->Np;
                const real *from_c = k->dc + i * each + t * s->Np;

#pragma omp simd
                for (int64_t n = 0; n < s->N; n++) {
                    to_b[n] += from_b[n];
                    to_c[n] += from_c[n];
                }
            }
        }
}

static void head_sums(const struct backward_job *k)
{
    const struct ssd_shape *s = &k->s;

    for (int64_t head = 0; head < s->H; head++) {
        double rate = -exp_f64((double)view_real(&k->op->a_log)[head]);
        double da = 0, dd = 0;

        for (int64_t b = 0; b < s->B; b++) {
            da += k->da[b * s->H + head];
            dd += k->dd[b * s->H + head];
        }
        view_real(&k->op->da_log)[head] += (real)(rate * da);
        view_real(&k->op->dd)[head] += (real)dd;
    }
}

static struct ssd_shape shape_of(const struct m2_ssd_backward *op)
{
    struct m2_ssd forward = {.B = op->B,
                             .L = op->L,
                             .H = op->H,
                             .P = op->P,
                             .G = op->G,
                             .N = op->N,
                             .Q = op->Q,
                             .last_only = op->last_only};

    return NAME(ssd_shape)(&forward);
}

static int64_t task_count(const struct ssd_shape *s)
{
    return s->B * s->G * s->blocks;
}

size_t WORKSPACE(ssd_backward)(const struct handle *h, const void *args)
{
    struct ssd_shape s = shape_of(args);

    return 2 * scratch_size(task_count(&s) * s.L * s.Np, sizeof(real)) +
           2 * scratch_size(s.B * s.H, sizeof(double)) +
           (size_t)h->threads * backward_each(&s);
}

int OP(ssd_backward)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_ssd_backward *op = args;
    struct backward_job k = {.op = op, .s = shape_of(op)};
    double row = (double)k.s.q * (double)(2 * k.s.P + 20);
    char *scratch = h->scratch;

    (void)err;
    k.db = scratch_real(&scratch, task_count(&k.s) * k.s.L * k.s.Np);
    k.dc = scratch_real(&scratch, task_count(&k.s) * k.s.L * k.s.Np);
    k.da = scratch_f64(&scratch, k.s.B * k.s.H);
    k.dd = scratch_f64(&scratch, k.s.B * k.s.H);
    k.job = (struct job){.tasks = task_count(&k.s),
                         .work = (double)(k.s.B * k.s.L * k.s.H) * row,
                         .run = backward_task,
                         .scratch = scratch,
                         .scratch_each = backward_each(&k.s)};
    parallel_run(h, &k.job);
    k.job = (struct job){.tasks = k.s.B,
                         .work = 4.0 * (double)k.s.B * (double)k.s.L *
                                 (double)(k.s.G * k.s.N * k.s.blocks),
                         .run = group_sums};
    parallel_run(h, &k.job);
    head_sums(&k);
    return M2_OK;
}
