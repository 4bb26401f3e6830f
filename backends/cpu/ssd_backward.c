/* ssd_backward.c: gradients of the selective scan, chunks from last to first.
 */
#include "backends/cpu/ssd_backward.h"

static size_t backward_each(const struct ssd_shape *s)
{
    size_t square = scratch_size(s->q * s->qp, sizeof(real));

    return ssd_decay_bytes(s) + 4 * square +
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
                         .heads = ssd_heads_of(s, task),
                         .decay = ssd_decay_take(s, &scratch)};

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

    ssd_copy(k->b, s->Np, view_real(b) + row * b->ld + col, b->ld, chunk->q,
             s->N);
    ssd_copy(k->c, s->Np, view_real(c) + row * c->ld + col, c->ld, chunk->q,
             s->N);
    if (chunk->out == chunk->q)
        return;
    ssd_transpose(k->bt, s->qp, k->b, s->Np, chunk->q, s->N);
    ssd_lower(t, chunk->out, chunk->q);
    memset(k->dgram + chunk->out * s->qp, 0,
           (size_t)((chunk->q - chunk->out) * s->qp) * sizeof(real));
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
    ssd_lower_times(t, chunk->out, chunk->q, s->N);
    t.a_row = 1;
    t.a_k = s->qp;
    t.b = k->c;
    t.c = k->db;
    ssd_upper_times(t, chunk->out, chunk->q, s->N);
}

static void states_in(const struct backward *k)
{
    const struct m2_view *in = &k->op->dh_final;
    const struct ssd_shape *s = k->s;

    memset(k->rt, 0, (size_t)(HEADS * s->N * s->Pp) * sizeof(real));
    for (int64_t i = 0; i < k->heads.count && in->buffer != NULL; i++)
        ssd_transpose(k->rt + i * s->N * s->Pp, s->Pp,
                      view_real(in) + k->heads.b * in->ld +
                          (k->heads.first + i) * s->P * s->N,
                      s->N, s->P, s->N);
}

static void states_out(const struct backward *k)
{
    const struct m2_view *out = &k->op->dh0;
    const struct ssd_shape *s = k->s;

    for (int64_t i = 0; i < k->heads.count && out->buffer != NULL; i++)
        ssd_transpose(view_real(out) + k->heads.b * out->ld +
                          (k->heads.first + i) * s->P * s->N,
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
        struct ssd_chunk chunk = ssd_chunk_of(s, c);

        k.db = backward->db + task * each + chunk.from * s->Np;
        k.dc = backward->dc + task * each + chunk.from * s->Np;
        group_load(&k, &chunk);
        for (int64_t i = 0; i < k.heads.count; i++)
            ssd_head_backward(&k, &chunk, i);
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

    return ssd_shape_of(&forward);
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
