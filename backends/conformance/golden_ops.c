/* The golden kinds of single ops: names in the files against arguments. */
#include "backends/conformance/golden_table.h"

static int64_t width_of(const struct trial *trial, const char *name)
{
    const struct trial_view *view = trial_view(trial, name);
    return view ? view->cols : 0;
}

static int64_t rows_of(const struct trial *trial, const char *name)
{
    const struct trial_view *view = trial_view(trial, name);
    return view ? view->rows : 0;
}

static int run_linear(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"x", "x", 1},   {"W", "w", 1},   {"b", "b", 1},
        {"y", "y", 1},   {"dy", "dy", 1}, {"dx", "dx", 1},
        {"dW", "dw", 1}, {"db", "db", 1}, {0},
    };
    static const struct golden_op op = {M2_OP_linear, NULL, tensors};
    return golden_run_op(&op, c, err);
}

static int prepare_rmsnorm(const struct golden_case *c, struct trial *trial,
                           struct m2_error *err)
{
    struct m2_rmsnorm *a = &trial->args.rmsnorm;
    a->groups = (int64_t)golden_number_or(c, "groups", 1.0);
    trial_output(trial, "rs", rows_of(trial, "x"), a->groups);
    return golden_number(c, "eps", &a->eps, err);
}

static int run_rmsnorm(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"x", "x", 1},   {"w", "w", 1},   {"y", "y", 1}, {"dy", "dy", 1},
        {"dx", "dx", 1}, {"dw", "dw", 1}, {0},
    };
    static const struct golden_op op = {M2_OP_rmsnorm, prepare_rmsnorm,
                                        tensors};
    return golden_run_op(&op, c, err);
}

/* In these files y is what is gated, and o the result. */
static int run_gated_rmsnorm(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"y", "x", 1},   {"z", "z", 1},   {"w", "w", 1},
        {"o", "y", 1},   {"do", "dy", 1}, {"dy", "dx", 1},
        {"dz", "dz", 1}, {"dw", "dw", 1}, {0},
    };
    static const struct golden_op op = {M2_OP_rmsnorm, prepare_rmsnorm,
                                        tensors};
    return golden_run_op(&op, c, err);
}

static int prepare_layernorm(const struct golden_case *c, struct trial *trial,
                             struct m2_error *err)
{
    trial_output(trial, "stats", rows_of(trial, "x"), 2);
    return golden_number(c, "eps", &trial->args.layernorm.eps, err);
}

static int run_layernorm(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"x", "x", 1},   {"w", "w", 1},   {"b", "b", 1},
        {"y", "y", 1},   {"dy", "dy", 1}, {"dx", "dx", 1},
        {"dw", "dw", 1}, {"db", "db", 1}, {0},
    };
    static const struct golden_op op = {M2_OP_layernorm, prepare_layernorm,
                                        tensors};
    return golden_run_op(&op, c, err);
}

static int run_silu(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"x", "x", 1}, {"y", "y", 1}, {"dy", "dy", 1}, {"dx", "dx", 1}, {0},
    };
    static const struct golden_op op = {M2_OP_silu, NULL, tensors};
    return golden_run_op(&op, c, err);
}

static int prepare_conv(const struct golden_case *c, struct trial *trial,
                        struct m2_error *err)
{
    const struct golden_tensor *x;
    int code = golden_need(c, "in.x", &x, err);
    if (code)
        return code;
    trial->args.conv1d_silu.B = x->shape[0];
    trial->args.conv1d_silu.L = x->shape[1];
    trial->args.conv1d_silu.K = width_of(trial, "w");
    return M2_OK;
}

static int run_conv(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"x", "x", 1},
        {"w", "w", 1},
        {"b", "b", 1},
        {"state", "state", 2},
        {"y", "y", 1},
        {"state_out", "state_out", 2},
        {"dy", "dy", 1},
        {"dstate_out", "dstate_out", 2},
        {"dx", "dx", 1},
        {"dw", "dw", 1},
        {"db", "db", 1},
        {"dstate", "dstate", 2},
        {0},
    };
    static const struct golden_op op = {M2_OP_conv1d_silu, prepare_conv,
                                        tensors};
    return golden_run_op(&op, c, err);
}

static int prepare_dt(const struct golden_case *c, struct trial *trial,
                      struct m2_error *err)
{
    int code = golden_number(c, "lo", &trial->args.dt.low, err);
    return code ? code : golden_number(c, "hi", &trial->args.dt.high, err);
}

static int run_dt(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"raw", "raw", 1},
        {"bias", "bias", 1},
        {"dt", "dt", 1},
        {"ddt", "ddt", 1},
        {"draw", "draw", 1},
        {"dbias", "dbias", 1},
        {0},
    };
    static const struct golden_op op = {M2_OP_dt, prepare_dt, tensors};
    return golden_run_op(&op, c, err);
}

/* x is [B,L,H,P] and b [B,L,G,N]. */
static int prepare_ssd(const struct golden_case *c, struct trial *trial,
                       struct m2_error *err)
{
    const struct golden_tensor *x, *b;
    double chunk;
    int code = golden_need(c, "in.x", &x, err);
    if (code == M2_OK)
        code = golden_need(c, "in.B", &b, err);
    if (code == M2_OK)
        code = golden_number(c, "chunk", &chunk, err);
    if (code)
        return code;
    struct m2_ssd *a = &trial->args.ssd;
    a->B = x->shape[0];
    a->L = x->shape[1];
    a->H = x->shape[2];
    a->P = x->shape[3];
    a->G = b->shape[2];
    a->N = b->shape[3];
    a->Q = (int64_t)chunk;
    return M2_OK;
}

static int run_ssd(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"x", "x", 2},         {"dt", "dt", 1},
        {"A_log", "a_log", 1}, {"B", "b", 2},
        {"C", "c", 2},         {"D", "d", 1},
        {"h0", "h0", 3},       {"y", "y", 2},
        {"hL", "h_final", 3},  {"chunk_in_states", "states", 4},
        {"dy", "dy", 2},       {"dhL", "dh_final", 3},
        {"dx", "dx", 2},       {"ddt", "ddt", 1},
        {"dB", "db", 2},       {"dA_log", "da_log", 1},
        {"dC", "dc", 2},       {"dD", "dd", 1},
        {"dh0", "dh0", 3},     {0},
    };
    static const struct golden_op op = {M2_OP_ssd, prepare_ssd, tensors};
    return golden_run_op(&op, c, err);
}

/* x is [B,H,P] and b [B,G,N]. */
static int prepare_ssd_step(const struct golden_case *c, struct trial *trial,
                            struct m2_error *err)
{
    const struct golden_tensor *x, *b;
    int code = golden_need(c, "in.x", &x, err);
    if (code == M2_OK)
        code = golden_need(c, "in.B", &b, err);
    if (code)
        return code;
    trial->args.ssd_step.H = x->shape[1];
    trial->args.ssd_step.P = x->shape[2];
    trial->args.ssd_step.G = b->shape[1];
    trial->args.ssd_step.N = b->shape[2];
    return M2_OK;
}

static int run_ssd_step(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"x", "x", 2}, {"dt", "dt", 1}, {"A_log", "a_log", 1},
        {"B", "b", 2}, {"C", "c", 2},   {"D", "d", 1},
        {"h", "h", 3}, {"y", "y", 2},   {"h_out", "h", 3},
        {0},
    };
    static const struct golden_op op = {M2_OP_ssd_step, prepare_ssd_step,
                                        tensors};
    return golden_run_op(&op, c, err);
}

static int run_embedding(struct golden_case *c, struct m2_error *err)
{
    static const struct golden_argument tensors[] = {
        {"ids", "ids", 1}, {"weight", "w", 1},   {"y", "y", 1},
        {"dy", "dy", 1},   {"dweight", "dw", 1}, {0},
    };
    static const struct golden_op op = {M2_OP_embed, NULL, tensors};
    return golden_run_op(&op, c, err);
}

const struct golden_kind *golden_op_kinds(size_t *n)
{
    static const struct golden_kind kinds[] = {
        {"linear", run_linear, "linear"},
        {"rmsnorm", run_rmsnorm, "rmsnorm"},
        {"gated_rmsnorm", run_gated_rmsnorm, "rmsnorm"},
        {"layernorm", run_layernorm, "layernorm"},
        {"silu", run_silu, "silu"},
        {"conv1d_silu", run_conv, "conv1d_silu"},
        {"dt_softplus_clamp", run_dt, "dt"},
        {"ssd", run_ssd, "ssd"},
        {"ssd_gen", golden_run_ssd_gen, "ssd"},
        {"ssd_step", run_ssd_step, "ssd_step"},
        {"embedding", run_embedding, "embed"},
        {"loss_mse", golden_run_loss, "mse"},
        {"loss_mae", golden_run_loss, "mae"},
        {"loss_huber", golden_run_loss, "huber"},
        {"cross_entropy", golden_run_xent, "xent"},
        {"adamw", golden_run_adamw, "adamw"},
        {"clip_global_norm", golden_run_clip, "clip"},
        {"spectral_projection", golden_run_spectral, "spectral"},
    };
    *n = sizeof kinds / sizeof *kinds;
    return kinds;
}
