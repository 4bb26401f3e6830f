/* ssd_forward.c: the selective scan, chunk by chunk. */
#include "backends/cpu/ssd.h"

struct forward_job {
    struct job job;
    const struct m2_ssd *op;
    struct ssd_shape s;
};

/* Scratch of one task. */
struct forward {
    const struct m2_ssd *op;
    const struct ssd_shape *s;
    struct ssd_heads heads;
    struct ssd_decay decay;
    real *bt;    /* (N, qp): b of the chunk, transposed */
    real *gram;  /* (q, qp): c b^T */
    real *mix;   /* (q, qp): gram, decayed, times dt */
    real *x, *y; /* (q, Pp) */
    real *side;  /* (q, Np): c or b, scaled by a decay */
    real *state; /* (HEADS, N, Pp) */
};

static size_t forward_each(const struct ssd_shape *s)
{
    return ssd_decay_bytes(s) + scratch_size(s->N * s->qp, sizeof(real)) +
           2 * scratch_size(s->q * s->qp, sizeof(real)) +
           2 * scratch_size(s->q * s->Pp, sizeof(real)) +
           scratch_size(s->q * s->Np, sizeof(real)) +
           scratch_size(HEADS * s->N * s->Pp, sizeof(real));
}

static struct forward forward_take(const struct forward_job *job, int64_t task,
                                   char *scratch)
{
    const struct ssd_shape *s = &job->s;
    struct forward f = {.op = job->op,
                        .s = s,
                        .heads = ssd_heads_of(s, task),
                        .decay = ssd_decay_take(s, &scratch)};

    f.bt = scratch_real(&scratch, s->N * s->qp);
    f.gram = scratch_real(&scratch, s->q * s->qp);
    f.mix = scratch_real(&scratch, s->q * s->qp);
    f.x = scratch_real(&scratch, s->q * s->Pp);
    f.y = scratch_real(&scratch, s->q * s->Pp);
    f.side = scratch_real(&scratch, s->q * s->Np);
    f.state = scratch_real(&scratch, HEADS * s->N * s->Pp);
    return f;
}

/* First element of b or c of the task's group in row `t` of its sequence. */
static const real *group_row(const struct forward *f, const struct m2_view *v,
                             int64_t t)
{
    return view_real(v) + (f->heads.b * f->s->L + t) * v->ld +
           f->heads.group * f->s->N;
}

static void gram_matrix(const struct forward *f, const struct ssd_chunk *chunk)
{
    const struct ssd_shape *s = f->s;
    struct tile t = {.k = s->N,
                     .a = group_row(f, &f->op->c, chunk->from),
                     .a_row = f->op->c.ld,
                     .a_k = 1,
                     .b = f->bt,
                     .b_k = s->qp,
                     .c = f->gram,
                     .ldc = s->qp};

    ssd_transpose(f->bt, s->qp, group_row(f, &f->op->b, chunk->from),
                  f->op->b.ld, chunk->q, s->N);
    ssd_lower(t, chunk->out, chunk->q);
}

/* mix_ij = gram_ij exp(s_i - s_j) dt_j for j <= i, 0 beyond. */
static void mix_rows(const struct forward *f, const struct ssd_chunk *chunk,
                     int64_t head)
{
    const struct ssd_decay *d = &f->decay;
    int64_t row = f->heads.b * f->s->L + chunk->from, P = f->s->P;

    for (int64_t i = chunk->out; i < chunk->q; i++) {
        const real *gram = f->gram + i * f->s->qp;
        real *mix = f->mix + i * f->s->qp;
        double si = d->s[i];
        int64_t end = round_up(i + 1, VEC);

        ssd_prefetch(&f->op->x, row + i, (head + 1) * P, P);
        if (!f->s->last_only)
            ssd_prefetch(&f->op->y, row + i, head * P, P);
        for (int64_t j0 = 0; j0 < end; j0 += VEC)
#pragma omp simd
            for (int64_t j = j0; j < j0 + VEC; j++) {
                real decay = exp_real((real)(si - d->s[j]));

                mix[j] = j > i ? 0 : decay * gram[j] * d->dt[j];
            }
        for (int64_t j = end; j < chunk->q; j++)
            mix[j] = 0;
    }
}

/* side_i = factor_i * row i of b or c (times dt_i when given). */
static void side_rows(const struct forward *f, const struct m2_view *v,
                      const struct ssd_chunk *chunk, int64_t first,
                      const real *factor, const real *dt)
{
    for (int64_t i = first; i < chunk->q; i++) {
        const real *row = group_row(f, v, chunk->from + i);
        real *side = f->side + i * f->s->Np;
        real scale = dt == NULL ? factor[i] : factor[i] * dt[i];

#pragma omp simd
        for (int64_t n = 0; n < f->s->N; n++)
            side[n] = scale * row[n];
    }
}

/* y = mix x + in c S^T + d x, for the rows that are wanted. */
static void output_rows(const struct forward *f, const struct ssd_chunk *chunk,
                        int64_t head, const real *state)
{
    const struct ssd_shape *s = f->s;
    const struct m2_view *out = &f->op->y;
    real skip = view_real(&f->op->d)[head];
    struct tile t = {.a = f->mix,
                     .a_row = s->qp,
                     .a_k = 1,
                     .b = f->x,
                     .b_k = s->Pp,
                     .c = f->y,
                     .ldc = s->Pp};

    mix_rows(f, chunk, head);
    ssd_lower_times(t, chunk->out, chunk->q, s->P);
    if (state != NULL) {
        side_rows(f, &f->op->c, chunk, chunk->out, f->decay.in, NULL);
        t = (struct tile){.k = s->N,
                          .a = f->side + chunk->out * s->Np,
                          .a_row = s->Np,
                          .a_k = 1,
                          .b = state,
                          .b_k = s->Pp,
                          .c = f->y + chunk->out * s->Pp,
                          .ldc = s->Pp,
                          .accumulate = 1};
        tile_multiply(&t, chunk->q - chunk->out, s->P);
    }
    for (int64_t i = chunk->out; i < chunk->q; i++) {
        int64_t row =
            s->last_only ? f->heads.b : f->heads.b * s->L + chunk->from + i;
        real *y = view_real(out) + row * out->ld + head * s->P;
        const real *sum = f->y + i * s->Pp, *x = f->x + i * s->Pp;

#pragma omp simd
        for (int64_t p = 0; p < s->P; p++)
            y[p] = fma_real(skip, x[p], sum[p]);
    }
}

/* S = all S + x^T (dt tail b) */
static void state_advance(const struct forward *f,
                          const struct ssd_chunk *chunk, real *state)
{
    const struct ssd_shape *s = f->s;
    struct tile t = {.k = chunk->q,
                     .a = f->side,
                     .a_row = 1,
                     .a_k = s->Np,
                     .b = f->x,
                     .b_k = s->Pp,
                     .c = state,
                     .ldc = s->Pp,
                     .accumulate = 1};

    side_rows(f, &f->op->b, chunk, 0, f->decay.tail, f->decay.dt);
#pragma omp simd
    for (int64_t i = 0; i < s->N * s->Pp; i++)
        state[i] *= f->decay.all;
    tile_multiply(&t, s->N, s->P);
}

/* Copies a state to a view that holds heads as [P][N]. */
static void state_store(const struct forward *f, const real *state, real *out)
{
    const struct ssd_shape *s = f->s;

    ssd_transpose(out, s->N, state, s->Pp, s->N, s->P);
}

static void chunk_run(struct forward *f, const struct ssd_chunk *chunk)
{
    const struct m2_ssd *op = f->op;
    const struct ssd_shape *s = f->s;
    int last = chunk->index == s->chunks - 1;
    int started = chunk->index > 0 || op->h0.buffer != NULL;

    if (chunk->out < chunk->q)
        gram_matrix(f, chunk);
    for (int64_t i = 0; i < f->heads.count; i++) {
        int64_t head = f->heads.first + i, row = f->heads.b * s->L;
        int64_t at = chunk->index * s->H + head;
        real *state = f->state + i * s->N * s->Pp;

        ssd_decay_fill(&f->decay, chunk,
                       view_real(&op->dt) + row * op->dt.ld + head, op->dt.ld,
                       view_real(&op->a_log)[head]);
        ssd_copy(f->x, s->Pp,
                 view_real(&op->x) + (row + chunk->from) * op->x.ld +
                     head * s->P,
                 op->x.ld, chunk->q, s->P);
        if (op->states.buffer != NULL)
            state_store(f, state,
                        view_real(&op->states) + f->heads.b * op->states.ld +
                            at * s->P * s->N);
        if (chunk->out < chunk->q)
            output_rows(f, chunk, head, started ? state : NULL);
        if (!last || op->h_final.buffer != NULL)
            state_advance(f, chunk, state);
    }
}

static void forward_task(const struct job *job, int64_t task, char *scratch)
{
    const struct forward_job *forward =
        (const struct forward_job *)(const void *)job;
    const struct ssd_shape *s = &forward->s;
    const struct m2_ssd *op = forward->op;
    struct forward f = forward_take(forward, task, scratch);
    int64_t size = s->P * s->N;

    memset(f.state, 0, (size_t)(HEADS * s->N * s->Pp) * sizeof(real));
    for (int64_t i = 0; i < f.heads.count && op->h0.buffer != NULL; i++)
        ssd_transpose(f.state + i * s->N * s->Pp, s->Pp,
                      view_real(&op->h0) + f.heads.b * op->h0.ld +
                          (f.heads.first + i) * size,
                      s->N, s->P, s->N);
    for (int64_t c = 0; c < s->chunks; c++) {
        struct ssd_chunk chunk = ssd_chunk_of(s, c);

        chunk_run(&f, &chunk);
    }
    for (int64_t i = 0; i < f.heads.count && op->h_final.buffer != NULL; i++)
        state_store(&f, f.state + i * s->N * s->Pp,
                    view_real(&op->h_final) + f.heads.b * op->h_final.ld +
                        (f.heads.first + i) * size);
}

size_t WORKSPACE(ssd)(const struct handle *h, const void *args)
{
    struct ssd_shape s = ssd_shape_of(args);

    return (size_t)h->threads * forward_each(&s);
}

int OP(ssd)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_ssd *op = args;
    struct forward_job f = {.op = op, .s = ssd_shape_of(op)};
    double row = (double)f.s.q * (double)(f.s.P + 10);

    (void)err;
    f.job = (struct job){.tasks = f.s.B * f.s.G * f.s.blocks,
                         .work = (double)(f.s.B * f.s.L * f.s.H) * row,
                         .run = forward_task,
                         .scratch = h->scratch,
                         .scratch_each = forward_each(&f.s)};
    parallel_run(h, &f.job);
    return M2_OK;
}
