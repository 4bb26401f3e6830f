/* The contract of every op, as one table.  The words are in m2_backend.h. */
#include "ops_contract.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define ARGUMENT(op, field, its_role, is_optional, its_kind, ...)              \
    {                                                                          \
        .name = #field, .offset = offsetof(struct m2_##op, field),             \
        .role = its_role, .optional = is_optional, .kind = its_kind,           \
        .shape = __VA_ARGS__                                                   \
    }
#define IN(op, field, ...)                                                     \
    ARGUMENT(op, field, OP_INPUT, false, 'r', __VA_ARGS__)
#define IN_OPT(op, field, ...)                                                 \
    ARGUMENT(op, field, OP_INPUT, true, 'r', __VA_ARGS__)
#define IN_F64(op, field, ...)                                                 \
    ARGUMENT(op, field, OP_INPUT, false, 'd', __VA_ARGS__)
#define IN_F64_OPT(op, field, ...)                                             \
    ARGUMENT(op, field, OP_INPUT, true, 'd', __VA_ARGS__)
#define IN_I32(op, field, ...)                                                 \
    ARGUMENT(op, field, OP_INPUT, false, 'i', __VA_ARGS__)
#define OUT(op, field, ...)                                                    \
    ARGUMENT(op, field, OP_OUTPUT, false, 'r', __VA_ARGS__)
#define OUT_OPT(op, field, ...)                                                \
    ARGUMENT(op, field, OP_OUTPUT, true, 'r', __VA_ARGS__)
#define OUT_F64(op, field, ...)                                                \
    ARGUMENT(op, field, OP_OUTPUT, false, 'd', __VA_ARGS__)
#define IN_OUT(op, field, ...)                                                 \
    ARGUMENT(op, field, OP_IN_OUT, false, 'r', __VA_ARGS__)
#define GRAD(op, field, ...)                                                   \
    ARGUMENT(op, field, OP_ACCUMULATED, false, 'r', __VA_ARGS__)
#define GRAD_OPT(op, field, ...)                                               \
    ARGUMENT(op, field, OP_ACCUMULATED, true, 'r', __VA_ARGS__)

/* Members: a dimension, an integer in a range, a number in a range. */
#define DIM(op, field)                                                         \
    {                                                                          \
#field, offsetof(struct m2_##op, field), MEMBER_INT64, 1, 0x1p62,      \
            "at least 1"                                                       \
    }
#define FLAG(op, field)                                                        \
    {                                                                          \
#field, offsetof(struct m2_##op, field), MEMBER_INT, -0x1p31, 0x1p31,  \
            "an integer"                                                       \
    }
#define CHOICE(op, field, low, high, words)                                    \
    {                                                                          \
#field, offsetof(struct m2_##op, field), MEMBER_INT, low, high, words  \
    }
#define NUMBER(op, field, low, high, words)                                    \
    {                                                                          \
#field, offsetof(struct m2_##op, field), MEMBER_DOUBLE, low, high,     \
            words                                                              \
    }
#define FINITE(op, field)                                                      \
    NUMBER(op, field, -DBL_MAX, DBL_MAX, "a finite number")
#define NOT_NEGATIVE(op, field)                                                \
    NUMBER(op, field, 0, DBL_MAX, "a finite number, at least 0")
#define POSITIVE(op, field)                                                    \
    NUMBER(op, field, DBL_MIN, DBL_MAX, "a finite number above 0")
#define BELOW_ONE(op, field)                                                   \
    NUMBER(op, field, 0, 1 - DBL_EPSILON / 2, "at least 0 and below 1")

/* Elementwise and data movement. */

static const struct op_argument add_arguments[] = {
    IN(add, a, "R,C"),
    IN(add, b, "R,C"),
    OUT(add, y, "R,C", .may_be = "a b"),
};

static const struct op_argument scale_arguments[] = {
    IN_OUT(scale, y, "R,C"),
};
static const struct op_member scale_members[] = {
    FINITE(scale, factor),
};

static const struct op_argument fill_arguments[] = {
    ARGUMENT(fill, y, OP_OUTPUT, false, 'f', "R,C"),
};

static const struct op_argument copy_arguments[] = {
    ARGUMENT(copy, x, OP_INPUT, false, '*', "R,C"),
    ARGUMENT(copy, y, OP_OUTPUT, false, '*', "R,C"),
};

static const struct op_argument mean_time_arguments[] = {
    IN(mean_time, x, "B*L,D"),
    OUT(mean_time, y, "B,D"),
};
static const struct op_member mean_time_members[] = {
    DIM(mean_time, B),
    DIM(mean_time, L),
};

static const struct op_argument mean_time_backward_arguments[] = {
    IN(mean_time_backward, dy, "B,D"),
    OUT(mean_time_backward, dx, "B*L,D"),
};
static const struct op_member mean_time_backward_members[] = {
    DIM(mean_time_backward, B),
    DIM(mean_time_backward, L),
    FLAG(mean_time_backward, accumulate),
};

/* PATH is 0: horizon steps; LAST and SUM: one. */
static const struct op_argument gather_windows_arguments[] = {
    IN(gather_windows, features, "S,F"),
    IN(gather_windows, targets, "S,O"),
    IN_I32(gather_windows, starts, "1,B"),
    OUT(gather_windows, x, "B*L,F"),
    OUT_OPT(gather_windows, y, "B,horizon_mode?O:horizon*O"),
    ARGUMENT(gather_windows, norms, OP_OUTPUT, true, 'd', "B,2*O"),
};
static const struct op_member gather_windows_members[] = {
    DIM(gather_windows, B),
    DIM(gather_windows, L),
    DIM(gather_windows, horizon),
    CHOICE(gather_windows, horizon_mode, M2_HORIZON_PATH, M2_HORIZON_SUM,
           "0 (path), 1 (last) or 2 (sum)"),
    CHOICE(gather_windows, window_norm, M2_NORM_NONE, M2_NORM_ZSCORE,
           "0 (none), 1 (last) or 2 (zscore)"),
    NOT_NEGATIVE(gather_windows, eps),
};

/* Layers. */

static const struct op_argument linear_arguments[] = {
    IN(linear, x, "T,I"),
    IN(linear, w, "O,I"),
    IN_OPT(linear, b, "1,O"),
    IN_OPT(linear, residual, "T,O"),
    OUT(linear, y, "T,O", .may_be = "residual"),
};

static const struct op_argument linear_backward_arguments[] = {
    IN(linear_backward, dy, "T,O"),
    IN_OPT(linear_backward, x, "T,I"),
    IN_OPT(linear_backward, w, "O,I"),
    OUT_OPT(linear_backward, dx, "T,I", .needs = "w"),
    GRAD_OPT(linear_backward, dw, "O,I", .needs = "x"),
    GRAD_OPT(linear_backward, db, "1,O"),
};
static const struct op_member linear_backward_members[] = {
    FLAG(linear_backward, accumulate),
};

static const struct op_argument embed_arguments[] = {
    IN_I32(embed, ids, "1,T"),
    IN(embed, w, "V,D"),
    OUT(embed, y, "T,D"),
};

static const struct op_argument embed_backward_arguments[] = {
    IN_I32(embed_backward, ids, "1,T"),
    IN(embed_backward, dy, "T,D"),
    GRAD(embed_backward, dw, "V,D"),
};

static const struct op_argument rmsnorm_arguments[] = {
    IN(rmsnorm, x, "T,I"),  IN_OPT(rmsnorm, z, "T,I"),    IN(rmsnorm, w, "1,I"),
    OUT(rmsnorm, y, "T,I"), OUT(rmsnorm, rs, "T,groups"),
};
static const struct op_member rmsnorm_members[] = {
    DIM(rmsnorm, groups),
    NOT_NEGATIVE(rmsnorm, eps),
};

static const struct op_argument rmsnorm_backward_arguments[] = {
    IN(rmsnorm_backward, dy, "T,I"),
    IN(rmsnorm_backward, x, "T,I"),
    IN_OPT(rmsnorm_backward, z, "T,I"),
    IN(rmsnorm_backward, w, "1,I"),
    IN(rmsnorm_backward, rs, "T,groups"),
    OUT(rmsnorm_backward, dx, "T,I"),
    OUT_OPT(rmsnorm_backward, dz, "T,I", .needs = "z"),
    GRAD(rmsnorm_backward, dw, "1,I"),
};
static const struct op_member rmsnorm_backward_members[] = {
    DIM(rmsnorm_backward, groups),
    FLAG(rmsnorm_backward, accumulate),
};

static const struct op_argument layernorm_arguments[] = {
    IN(layernorm, x, "T,I"),      IN(layernorm, w, "1,I"),
    IN(layernorm, b, "1,I"),      OUT(layernorm, y, "T,I"),
    OUT(layernorm, stats, "T,2"),
};
static const struct op_member layernorm_members[] = {
    NOT_NEGATIVE(layernorm, eps),
};

static const struct op_argument layernorm_backward_arguments[] = {
    IN(layernorm_backward, dy, "T,I"),   IN(layernorm_backward, x, "T,I"),
    IN(layernorm_backward, w, "1,I"),    IN(layernorm_backward, stats, "T,2"),
    OUT(layernorm_backward, dx, "T,I"),  GRAD(layernorm_backward, dw, "1,I"),
    GRAD(layernorm_backward, db, "1,I"),
};
static const struct op_member layernorm_backward_members[] = {
    FLAG(layernorm_backward, accumulate),
};

static const struct op_argument silu_arguments[] = {
    IN(silu, x, "R,C"),
    OUT(silu, y, "R,C"),
};

static const struct op_argument silu_backward_arguments[] = {
    IN(silu_backward, dy, "R,C"),
    IN(silu_backward, x, "R,C"),
    OUT(silu_backward, dx, "R,C"),
};
static const struct op_member silu_backward_members[] = {
    FLAG(silu_backward, accumulate),
};

static const struct op_argument conv1d_silu_arguments[] = {
    IN(conv1d_silu, x, "B*L,C"),
    IN(conv1d_silu, w, "C,K"),
    IN_OPT(conv1d_silu, b, "1,C"),
    IN_OPT(conv1d_silu, state, "B,C*K"),
    OUT(conv1d_silu, y, "B*L,C"),
    OUT_OPT(conv1d_silu, state_out, "B,C*K", .may_be = "state"),
};
static const struct op_member conv1d_silu_members[] = {
    DIM(conv1d_silu, B),
    DIM(conv1d_silu, L),
    DIM(conv1d_silu, K),
};

static const struct op_argument conv1d_silu_backward_arguments[] = {
    IN(conv1d_silu_backward, dy, "B*L,C"),
    IN(conv1d_silu_backward, x, "B*L,C"),
    IN(conv1d_silu_backward, w, "C,K"),
    IN_OPT(conv1d_silu_backward, b, "1,C"),
    IN_OPT(conv1d_silu_backward, state, "B,C*K"),
    IN_OPT(conv1d_silu_backward, dstate_out, "B,C*K"),
    OUT(conv1d_silu_backward, dx, "B*L,C"),
    GRAD(conv1d_silu_backward, dw, "C,K"),
    GRAD_OPT(conv1d_silu_backward, db, "1,C"),
    OUT_OPT(conv1d_silu_backward, dstate, "B,C*K"),
};
static const struct op_member conv1d_silu_backward_members[] = {
    DIM(conv1d_silu_backward, B),
    DIM(conv1d_silu_backward, L),
    DIM(conv1d_silu_backward, K),
};

static const struct op_argument dt_arguments[] = {
    IN(dt, raw, "T,H"),
    IN(dt, bias, "1,H"),
    OUT(dt, dt, "T,H"),
};
static const struct op_member dt_members[] = {
    FINITE(dt, low),
    NUMBER(dt, high, -DBL_MAX, INFINITY, "a number or infinity"),
};

static const struct op_argument dt_backward_arguments[] = {
    IN(dt_backward, ddt, "T,H"),     IN(dt_backward, raw, "T,H"),
    IN(dt_backward, bias, "1,H"),    OUT(dt_backward, draw, "T,H"),
    GRAD(dt_backward, dbias, "1,H"),
};
static const struct op_member dt_backward_members[] = {
    FINITE(dt_backward, low),
    NUMBER(dt_backward, high, -DBL_MAX, INFINITY, "a number or infinity"),
};

static const struct op_argument ssd_arguments[] = {
    IN(ssd, x, "B*L,H*P"),
    IN(ssd, dt, "B*L,H"),
    IN(ssd, a_log, "1,H"),
    IN(ssd, b, "B*L,G*N"),
    IN(ssd, c, "B*L,G*N"),
    IN(ssd, d, "1,H"),
    IN_OPT(ssd, h0, "B,H*P*N"),
    OUT(ssd, y, "last_only?B:B*L,H*P"),
    OUT_OPT(ssd, h_final, "B,H*P*N"),
    OUT_OPT(ssd, states, "B,nc*H*P*N"),
};
static const struct op_member ssd_members[] = {
    DIM(ssd, B), DIM(ssd, L), DIM(ssd, H), DIM(ssd, P),
    DIM(ssd, G), DIM(ssd, N), DIM(ssd, Q), FLAG(ssd, last_only),
};

static const struct op_argument ssd_backward_arguments[] = {
    IN(ssd_backward, dy, "last_only?B:B*L,H*P"),
    IN(ssd_backward, x, "B*L,H*P"),
    IN(ssd_backward, dt, "B*L,H"),
    IN(ssd_backward, a_log, "1,H"),
    IN(ssd_backward, b, "B*L,G*N"),
    IN(ssd_backward, c, "B*L,G*N"),
    IN(ssd_backward, d, "1,H"),
    IN(ssd_backward, states, "B,nc*H*P*N"),
    IN_OPT(ssd_backward, dh_final, "B,H*P*N"),
    OUT(ssd_backward, dx, "B*L,H*P"),
    OUT(ssd_backward, ddt, "B*L,H"),
    GRAD(ssd_backward, da_log, "1,H"),
    OUT(ssd_backward, db, "B*L,G*N"),
    OUT(ssd_backward, dc, "B*L,G*N"),
    GRAD(ssd_backward, dd, "1,H"),
    OUT_OPT(ssd_backward, dh0, "B,H*P*N"),
};
static const struct op_member ssd_backward_members[] = {
    DIM(ssd_backward, B), DIM(ssd_backward, L),          DIM(ssd_backward, H),
    DIM(ssd_backward, P), DIM(ssd_backward, G),          DIM(ssd_backward, N),
    DIM(ssd_backward, Q), FLAG(ssd_backward, last_only),
};

static const struct op_argument conv1d_step_arguments[] = {
    IN(conv1d_step, x, "B,C"),     IN(conv1d_step, w, "C,K"),
    IN_OPT(conv1d_step, b, "1,C"), IN_OUT(conv1d_step, state, "B,C*K"),
    OUT(conv1d_step, y, "B,C"),
};
static const struct op_member conv1d_step_members[] = {
    DIM(conv1d_step, K),
};

static const struct op_argument ssd_step_arguments[] = {
    IN(ssd_step, x, "B,H*P"),       IN(ssd_step, dt, "B,H"),
    IN(ssd_step, a_log, "1,H"),     IN(ssd_step, b, "B,G*N"),
    IN(ssd_step, c, "B,G*N"),       IN(ssd_step, d, "1,H"),
    IN_OUT(ssd_step, h, "B,H*P*N"), OUT(ssd_step, y, "B,H*P"),
};
static const struct op_member ssd_step_members[] = {
    DIM(ssd_step, H),
    DIM(ssd_step, P),
    DIM(ssd_step, G),
    DIM(ssd_step, N),
};

/* Losses. */

#define mse_arguments   loss_arguments
#define mae_arguments   loss_arguments
#define huber_arguments loss_arguments
static const struct op_argument loss_arguments[] = {
    IN(loss, pred, "R,C"),
    IN(loss, target, "R,C"),
    OUT_F64(loss, out, "1,3"),
    OUT_OPT(loss, dpred, "R,C"),
};
#define mse_members loss_members
#define mae_members loss_members
static const struct op_member loss_members[] = {
    FINITE(loss, scale),
};
static const struct op_member huber_members[] = {
    POSITIVE(loss, delta),
    FINITE(loss, scale),
};

static const struct op_argument xent_arguments[] = {
    IN(xent, logits, "T,V"),
    IN_I32(xent, labels, "1,T"),
    OUT_F64(xent, out, "1,3"),
    OUT_OPT(xent, dlogits, "T,V"),
};
static const struct op_member xent_members[] = {
    FINITE(xent, scale),
};

/* Optimiser. */

static const struct op_argument sumsq_arguments[] = {
    IN(sumsq, x, "R,C"),
    OUT_F64(sumsq, out, "1,1"),
};
static const struct op_member sumsq_members[] = {
    FLAG(sumsq, accumulate),
};

static const struct op_argument clip_arguments[] = {
    IN_OUT(clip, x, "R,C"),
    IN_F64(clip, sumsq, "1,1"),
    OUT_F64(clip, out, "1,3"),
    IN_F64_OPT(clip, also, "E,W"),
};
static const struct op_member clip_members[] = {
    NOT_NEGATIVE(clip, max_norm),
};

static const struct op_argument adamw_arguments[] = {
    IN_OUT(adamw, p, "1,n"),    IN(adamw, g, "1,n"),
    IN_OUT(adamw, m, "1,n"),    IN_OUT(adamw, v, "1,n"),
    IN_F64(adamw, step, "1,3"), IN_F64(adamw, finite, "1,1"),
};
static const struct op_member adamw_members[] = {
    BELOW_ONE(adamw, beta1),
    BELOW_ONE(adamw, beta2),
    NOT_NEGATIVE(adamw, eps),
    NOT_NEGATIVE(adamw, weight_decay),
};

static const struct op_argument spectral_arguments[] = {
    IN_OUT(spectral, a_log, "1,H"),
    IN_F64_OPT(spectral, finite, "1,1"),
};
static const struct op_member spectral_members[] = {
    CHOICE(spectral, mode, M2_SPECTRAL_DISCRETE, M2_SPECTRAL_CONTINUOUS,
           "1 (discrete) or 2 (continuous)"),
    POSITIVE(spectral, rho),
    FINITE(spectral, dt_ref),
};

/* ln(-ln(rho) / dt_ref) exists for rho below 1 only. */
static int spectral_extra(const void *args, struct m2_error *err)
{
    const struct m2_spectral *a = args;

    if (a->mode != M2_SPECTRAL_DISCRETE)
        return M2_OK;
    if (a->rho >= 1)
        return m2_fail(err, M2_E_ARGUMENT,
                       "spectral: rho is %.9g, expected below 1 (mode "
                       "discrete)",
                       a->rho);
    if (a->dt_ref <= 0)
        return m2_fail(err, M2_E_ARGUMENT,
                       "spectral: dt_ref is %.9g, expected above 0 (mode "
                       "discrete)",
                       a->dt_ref);
    return M2_OK;
}

/* The table. */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define HEAD(op, type)                                                         \
    .name = #op, .args_size = sizeof(struct m2_##type),                        \
    .arguments = op##_arguments, .n_arguments = COUNT(op##_arguments)
#define MEMBERS(op)   .members = op##_members, .n_members = COUNT(op##_members)
#define PLAIN(op)     [M2_OP_##op] = {HEAD(op, op)}
#define WITH(op, ...) [M2_OP_##op] = {HEAD(op, op), MEMBERS(op), __VA_ARGS__}
#define LOSS(op)      [M2_OP_##op] = {HEAD(op, loss), MEMBERS(op)}

static const struct op_contract contracts[M2_N_OPS] = {
    PLAIN(add),
    WITH(scale),
    PLAIN(fill),
    PLAIN(copy),
    WITH(mean_time),
    WITH(mean_time_backward),
    WITH(gather_windows, .rules = {"L <= S"}),
    PLAIN(linear),
    WITH(linear_backward),
    PLAIN(embed),
    PLAIN(embed_backward),
    WITH(rmsnorm, .rules = {"I % groups"}),
    WITH(rmsnorm_backward, .rules = {"I % groups"}),
    WITH(layernorm),
    WITH(layernorm_backward),
    PLAIN(silu),
    WITH(silu_backward),
    WITH(conv1d_silu),
    WITH(conv1d_silu_backward),
    WITH(dt, .rules = {"low <= high"}),
    WITH(dt_backward, .rules = {"low <= high"}),
    WITH(ssd, .rules = {"H % G"}),
    WITH(ssd_backward, .rules = {"H % G"}),
    LOSS(mse),
    LOSS(mae),
    LOSS(huber),
    WITH(xent),
    WITH(sumsq),
    WITH(clip),
    WITH(adamw),
    WITH(spectral, .extra = spectral_extra),
    WITH(conv1d_step),
    WITH(ssd_step, .rules = {"H % G"}),
};

const struct op_contract *op_contract(enum m2_op op)
{
    assert(op >= 0 && op < M2_N_OPS && contracts[op].name != NULL);
    return &contracts[op];
}

double op_member_value(const struct op_member *member, const void *args)
{
    const char *at = (const char *)args + member->offset;
    int64_t wide;
    int narrow;
    double number;

    switch (member->type) {
    case MEMBER_INT64:
        memcpy(&wide, at, sizeof wide);
        return (double)wide;
    case MEMBER_INT:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    case MEMBER_DOUBLE:
        memcpy(&number, at, sizeof number);
        return number;
    }
    return NAN;
}
