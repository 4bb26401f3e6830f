/* ssd.c: geometry, decays and triangular products of the chunked scan. */
#include "backends/cpu/ssd.h"

struct ssd_shape ssd_shape_of(const struct m2_ssd *op)
{
    struct ssd_shape s = {.B = op->B,
                          .L = op->L,
                          .H = op->H,
                          .P = op->P,
                          .G = op->G,
                          .N = op->N,
                          .Q = op->Q,
                          .last_only = op->last_only};

    s.chunks = ceil_div(s.L, s.Q);
    s.blocks = ceil_div(s.H / s.G, HEADS);
    s.q = min_i64(s.L, s.Q);
    s.qp = round_up(s.q, PAD);
    s.Pp = round_up(s.P, PAD);
    s.Np = round_up(s.N, PAD);
    return s;
}

struct ssd_heads ssd_heads_of(const struct ssd_shape *s, int64_t task)
{
    int64_t each = s->H / s->G, block = task % s->blocks;
    struct ssd_heads h = {.b = task / s->blocks / s->G,
                          .group = task / s->blocks % s->G};

    h.first = h.group * each + block * HEADS;
    h.count = min_i64(HEADS, each - block * HEADS);
    return h;
}

struct ssd_chunk ssd_chunk_of(const struct ssd_shape *s, int64_t index)
{
    struct ssd_chunk c = {.index = index, .from = index * s->Q};

    c.q = min_i64(s->Q, s->L - c.from);
    if (s->last_only)
        c.out = index == s->chunks - 1 ? c.q - 1 : c.q;
    return c;
}

size_t ssd_decay_bytes(const struct ssd_shape *s)
{
    return scratch_size(s->qp, sizeof(double)) +
           3 * scratch_size(s->qp, sizeof(real));
}

struct ssd_decay ssd_decay_take(const struct ssd_shape *s, char **scratch)
{
    struct ssd_decay d = {.s = scratch_f64(scratch, s->qp)};

    d.dt = scratch_real(scratch, s->qp);
    d.in = scratch_real(scratch, s->qp);
    d.tail = scratch_real(scratch, s->qp);
    return d;
}

void ssd_decay_fill(struct ssd_decay *d, const struct ssd_chunk *chunk,
                    const real *dt, int64_t ld, real a_log)
{
    double sum = 0;

    d->rate = -exp_f64((double)a_log);
    for (int64_t i = 0; i < chunk->q; i++) {
        d->dt[i] = dt[(chunk->from + i) * ld];
        sum += (double)d->dt[i] * d->rate;
        d->s[i] = sum;
    }
    for (int64_t i = chunk->q; i < round_up(chunk->q, VEC); i++) {
        d->dt[i] = 0;
        d->s[i] = sum;
    }
#pragma omp simd
    for (int64_t i = 0; i < chunk->q; i++) {
        d->in[i] = exp_real((real)d->s[i]);
        d->tail[i] = exp_real((real)(sum - d->s[i]));
    }
    d->all = exp_real((real)sum);
}

void ssd_copy(real *out, int64_t padded, const real *in, int64_t ld,
              int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
#pragma omp simd
        for (int64_t j = 0; j < cols; j++)
            out[i * padded + j] = in[i * ld + j];
        if (padded > cols)
            memset(out + i * padded + cols, 0,
                   (size_t)(padded - cols) * sizeof *out);
    }
}

void ssd_transpose(real *out, int64_t padded, const real *in, int64_t ld,
                   int64_t rows, int64_t cols)
{
    transpose(out, padded, in, ld, (struct extent){.rows = rows, .cols = cols});
    for (int64_t j = 0; j < cols && padded > rows; j++)
        memset(out + j * padded + rows, 0,
               (size_t)(padded - rows) * sizeof *out);
}

void ssd_lower(struct tile t, int64_t first, int64_t q)
{
    const real *a = t.a;
    real *c = t.c;

    for (int64_t i = first; i < q;) {
        int64_t end = min_i64(round_up(i + 1, TRIANGLE), q);

        t.a = a + i * t.a_row;
        t.c = c + i * t.ldc;
        tile_multiply(&t, end - i, end);
        i = end;
    }
}

void ssd_lower_times(struct tile t, int64_t first, int64_t q, int64_t cols)
{
    const real *a = t.a;
    real *c = t.c;

    for (int64_t i = first; i < q;) {
        int64_t end = min_i64(round_up(i + 1, TRIANGLE), q);

        t.a = a + i * t.a_row;
        t.c = c + i * t.ldc;
        t.k = end;
        tile_multiply(&t, end - i, cols);
        i = end;
    }
}

void ssd_upper_times(struct tile t, int64_t first, int64_t q, int64_t cols)
{
    const real *a = t.a, *b = t.b;
    real *c = t.c;

    for (int64_t j = 0; j < q; j += TRIANGLE) {
        int64_t from = max_i64(j, first);

        t.a = a + from * t.a_k + j;
        t.b = b + from * t.b_k;
        t.c = c + j * t.ldc;
        t.k = q - from;
        tile_multiply(&t, min_i64(TRIANGLE, q - j), cols);
    }
}
