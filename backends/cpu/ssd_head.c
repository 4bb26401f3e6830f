/* ssd_head.c: gradients of one head of the scan in one chunk. */
#include "backends/cpu/ssd_backward.h"

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
static int head_load(struct backward *k, const struct ssd_chunk *chunk,
                     int64_t head)
{
    const struct m2_ssd_backward *op = k->op;
    const struct ssd_shape *s = k->s;
    int64_t row = k->heads.b * s->L;
    int64_t dy_row = s->last_only ? k->heads.b - chunk->out : row + chunk->from;
    const real *state = view_real(&op->states) + k->heads.b * op->states.ld +
                        (chunk->index * s->H + head) * s->P * s->N;

    ssd_decay_fill(&k->decay, chunk,
                   view_real(&op->dt) + row * op->dt.ld + head, op->dt.ld,
                   view_real(&op->a_log)[head]);
    ssd_copy(k->x, s->Pp,
             view_real(&op->x) + (row + chunk->from) * op->x.ld + head * s->P,
             op->x.ld, chunk->q, s->P);
    ssd_copy(k->dy + chunk->out * s->Pp, s->Pp,
             view_real(&op->dy) + (dy_row + chunk->out) * op->dy.ld +
                 head * s->P,
             op->dy.ld, chunk->q - chunk->out, s->P);
    ssd_copy(k->state, s->Np, state, s->N, s->P, s->N);
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

    ssd_transpose(k->xt, s->qp, k->x, s->Pp, chunk->q, s->P);
    ssd_lower(t, chunk->out, chunk->q);
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
        ssd_upper_times(t, chunk->out, chunk->q, s->P);
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
        tile_multiply(&t, chunk->q, s->P);
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
        tile_multiply(&t, q - first, s->N);
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
    ssd_transpose(k->r, s->Np, rt, s->Pp, s->N, s->P);
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
        tile_multiply(&t, s->N, s->P);
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

void ssd_head_backward(struct backward *k, const struct ssd_chunk *chunk,
                       int64_t i)
{
    const struct ssd_shape *s = k->s;
    int64_t head = k->heads.first + i;
    int last = chunk->index == s->chunks - 1;
    int started = head_load(k, chunk, head);
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
