/* Scratch: how much each op needs, and handing it out. */
#include "backends/ref/internal.h"

/* Saturating product and sum, so that an absurd shape asks for the whole
 * address space instead of for little. */
static size_t times(size_t a, int64_t b)
{
    size_t product;
    if (b < 0 || __builtin_mul_overflow(a, (size_t)b, &product))
        return SIZE_MAX;
    return product;
}

static size_t plus(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/* linear_backward: a row of dx or dw, or db.  x and w may be absent. */
static size_t linear_backward_doubles(const struct m2_linear_backward *a)
{
    int64_t widest = a->dy.cols;
    if (widest < a->x.cols)
        widest = a->x.cols;
    if (widest < a->w.cols)
        widest = a->w.cols;
    return times(1, widest);
}

/* ssd, ssd_step: state (P, N), one row each of b and c. */
static size_t ssd_doubles(int64_t P, int64_t N)
{
    return plus(times(times(1, P), N), times(2, N));
}

/* ssd_backward: the states of one chunk and the one entering it, lambda; rows
 * of x, dy and lb (P), of b and c (N); db and dc of one group (L, N); da_log
 * and dd (H). */
static size_t ssd_backward_doubles(const struct m2_ssd_backward *a)
{
    int64_t chunk = a->Q < a->L ? a->Q : a->L;
    size_t states = times(times(plus((size_t)chunk, 2), a->P), a->N);
    size_t rows = plus(times(3, a->P), times(2, a->N));
    size_t group = times(times(2, a->L), a->N);
    return plus(plus(states, rows), plus(group, times(2, a->H)));
}

size_t ref_workspace(int op, const void *args)
{
    switch (op) {
    case M2_OP_linear: /* a row of x */
        return times(1, ((const struct m2_linear *)args)->x.cols);
    case M2_OP_linear_backward:
        return linear_backward_doubles(args);
    case M2_OP_embed_backward: /* a row of dw */
        return times(1, ((const struct m2_embed_backward *)args)->dw.cols);
    case M2_OP_rmsnorm_backward: /* dw; normalised row; its gradient */
        return times(3, ((const struct m2_rmsnorm_backward *)args)->x.cols);
    case M2_OP_layernorm_backward: /* dw, db; normalised row; its gradient */
        return times(4, ((const struct m2_layernorm_backward *)args)->x.cols);
    case M2_OP_conv1d_silu_backward: /* dpre of one channel; dw */
        return plus(
            times(1, ((const struct m2_conv1d_silu_backward *)args)->L),
            times(1, ((const struct m2_conv1d_silu_backward *)args)->K));
    case M2_OP_dt_backward: /* dbias */
        return times(1, ((const struct m2_dt_backward *)args)->raw.cols);
    case M2_OP_ssd:
        return ssd_doubles(((const struct m2_ssd *)args)->P,
                           ((const struct m2_ssd *)args)->N);
    case M2_OP_ssd_step:
        return ssd_doubles(((const struct m2_ssd_step *)args)->P,
                           ((const struct m2_ssd_step *)args)->N);
    case M2_OP_ssd_backward:
        return ssd_backward_doubles(args);
    default:
        return 0;
    }
}

int ref_scratch(struct ref_handle *handle, int op, const void *args,
                double **out, struct m2_error *err)
{
    size_t doubles = ref_workspace(op, args);
    if (doubles > handle->scratch_bytes / sizeof(double))
        return m2_fail(err, M2_E_INTERNAL,
                       "ref: op %d needs %zu doubles of scratch, %zu bytes "
                       "are reserved",
                       op, doubles, handle->scratch_bytes);
    *out = handle->scratch;
    return M2_OK;
}
