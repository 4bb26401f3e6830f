/* The op table: what a compute backend implements, and the contract of every
 * op.  This is the only header of the project that a backend includes.
 *
 * Model of computation
 *   A handle is one open device with one real type (f32 or f64).  Memory on
 *   it is an opaque struct m2_buffer, which only the backend can look into.
 *   A tensor is a struct m2_view: a row-major matrix inside a buffer.  Ops
 *   take views and scalars in one argument struct each.
 *
 *   Arguments are copied by the call.  An op may run at any time before the
 *   next DOWNLOAD or SYNC on the handle, but as if in the order of the calls.
 *   UPLOAD takes the host's bytes before it returns.
 *
 * Contracts common to all ops (tested for every op)
 *   - Views named "real" have the handle's real type; f64 and i32 are fixed.
 *   - Outputs never alias inputs unless the op says so.
 *   - Activation gradients are overwritten, or added to where the op has an
 *     accumulate member and it is not 0.  Parameter gradients are always
 *     added to.  A NULL buffer means "absent" where the op says optional.
 *   - Elements between cols and ld are never read and never written.
 *   - No op allocates: WORKSPACE tells how much scratch a call needs, RESERVE
 *     provides it, both before the first call.
 *   - Results depend on the arguments alone, never on threads, alignment,
 *     addresses or what ran before: reductions have a fixed order.
 *   - SUPPORTS is asked with real shapes; yes means the call runs.
 *
 * Shape letters are those of the Mamba-2 paper (Dao & Gu 2024,
 * arXiv 2405.21060): B batch, L length, D model width, H heads, P head width,
 * N state, G groups, Q chunk; T = B*L rows, K filter length.  Head h belongs
 * to group h / (H / G).  Column h*P+p of an (.., H*P) matrix is head h,
 * column g*N+n of an (.., G*N) matrix is group g. */
#ifndef M2_BACKEND_H
#define M2_BACKEND_H

#include "m2_plugin.h"

enum m2_dtype { M2_F32 = 1, M2_F64 = 2, M2_I32 = 3, M2_I64 = 4 };

static inline size_t m2_dtype_size(enum m2_dtype dtype)
{
    return dtype == M2_F32 || dtype == M2_I32 ? 4 : 8;
}

/* Device memory.  Each backend defines struct m2_buffer for itself; its first
 * member must be a struct m2_buffer_head, which is how the runner's checks
 * know where a buffer lives. */
struct m2_buffer;

struct m2_buffer_head {
    const void *handle; /* the handle that allocated it */
    size_t bytes;
};

/* A row-major matrix: element (i, j) is element offset + i*ld + j of the
 * buffer, counted in elements of dtype.  Vectors have rows 1. */
struct m2_view {
    struct m2_buffer *buffer;
    int64_t offset;
    int64_t rows, cols, ld; /* ld >= cols */
    enum m2_dtype dtype;
};

/* ---- devices, memory, control ---------------------------------------- */

/* DEVICES (handle NULL): the devices that can be opened, and a reason when
 * there are none.  Strings have static lifetime. */
struct m2_device_facts {
    char name[96];   /* as "AMD EPYC 7713 (avx2, fma)" */
    char facts[480]; /* library versions, kernels chosen, ISA: one line */
    uint64_t memory_bytes, memory_free_bytes;
};
struct m2_devices {
    int index; /* in: which device to describe; -1: only count */
    int count_out;
    struct m2_device_facts facts_out;
};

/* OPEN (handle NULL): one device with one real type.  threads: upper limit of
 * CPU threads, at least 1.  flags: sums of enum m2_open_flag; a backend to
 * which one does not apply ignores it. */
enum m2_open_flag {
    M2_OPEN_TF32 = 1, /* products of f32 may round their factors to TF32 */
};
struct m2_open {
    int index;
    enum m2_dtype real;
    int threads;
    unsigned flags;
    void *handle_out;
};

/* CLOSE: args NULL.  Every buffer of the handle must have been freed. */

struct m2_alloc {
    size_t bytes; /* contents are undefined */
    struct m2_buffer *buffer_out;
};
struct m2_free {
    struct m2_buffer *buffer;
};
/* UPLOAD, DOWNLOAD: bytes at a byte offset.  DOWNLOAD waits for every op
 * called before it. */
struct m2_transfer {
    struct m2_buffer *buffer;
    size_t offset, bytes;
    void *host; /* UPLOAD only reads it */
};
/* SYNC: args NULL.  Waits; returns an error of any op since the last wait. */

/* SUPPORTS: M2_OK, or M2_E_UNSUPPORTED with the reason.  WORKSPACE: scratch
 * bytes that the call needs at most.  args are complete but for the buffers,
 * which may be NULL. */
struct m2_query {
    int op; /* enum m2_op */
    const void *args;
    size_t bytes_out; /* WORKSPACE only */
};
/* RESERVE: makes sure that at least bytes of scratch are there. */
struct m2_reserve {
    size_t bytes;
};
/* STEP_BEGIN, STEP_END (optional slots, args NULL): mark one training step, so
 * that a backend may capture and replay it. */

/* ---- elementwise and data movement ----------------------------------- */

/* y = a + b.  (R, C) each; y may be a or b.  real. */
struct m2_add {
    struct m2_view a, b, y;
};
/* y = factor * y.  real. */
struct m2_scale {
    struct m2_view y;
    double factor;
};
/* y = value.  real or f64. */
struct m2_fill {
    struct m2_view y;
    double value;
};
/* y = x, same shape and type: real, f64 or i32. */
struct m2_copy {
    struct m2_view x, y;
};

/* y[b] = mean over t of x[b*L + t].  x (B*L, D), y (B, D). */
struct m2_mean_time {
    int64_t B, L;
    struct m2_view x, y;
};
/* dx[b*L + t] = dy[b] / L. */
struct m2_mean_time_backward {
    int64_t B, L;
    struct m2_view dy, dx;
    int accumulate;
};

enum m2_window_norm { M2_NORM_NONE, M2_NORM_LAST, M2_NORM_ZSCORE };
enum m2_horizon { M2_HORIZON_PATH, M2_HORIZON_LAST, M2_HORIZON_SUM };

/* Cuts a batch of windows out of series that stay on the device.
 * features (S, F) and targets (S, O) hold all rows of all series; starts
 * (1, B) i32 is the first row of each window.
 *   x (B*L, F): x[b*L+t] = (features[starts[b]+t] - shift) / spread
 *   y (B, Y), optional: rows start+L .. start+L+horizon-1 of targets.
 *     PATH: Y = horizon*O, y[b, k*O+o]; LAST: Y = O, step horizon only;
 *     SUM: Y = O, the sum over the horizon.
 *   shift, spread per window and column: norm NONE: 0, 1; LAST: the last row
 *   of the window, 1; ZSCORE: mean and sqrt(population variance + eps) over
 *   the window.  y is normalised by the statistics of its own column of
 *   targets over the look-back; with SUM, shift counts horizon times.
 *   norms (B, 2*O) f64, optional: shift | spread of y, to undo it:
 *   raw = y * spread + shift (shift already counted horizon times for SUM).
 * Statistics are summed in f64 in row order. */
struct m2_gather_windows {
    int64_t B, L, horizon;
    int horizon_mode; /* enum m2_horizon */
    int window_norm;  /* enum m2_window_norm */
    double eps;
    struct m2_view features, targets, starts, x, y, norms;
};

/* ---- layers ------------------------------------------------------------ */

/* y = x W^T + b + residual.  x (T, I), w (O, I), y (T, O); b (1, O) and
 * residual (T, O) optional; y may be residual. */
struct m2_linear {
    struct m2_view x, w, b, residual, y;
};
/* dx = dy W (accumulate: added), dw += dy^T x, db += sum over rows of dy;
 * each of dx, dw, db optional.  x is needed for dw, w for dx. */
struct m2_linear_backward {
    struct m2_view dy, x, w, dx, dw, db;
    int accumulate;
};

/* y[t] = w[ids[t]].  ids (1, T) i32 in [0, V); w (V, D), y (T, D). */
struct m2_embed {
    struct m2_view ids, w, y;
};
/* dw[ids[t]] += dy[t], in the order of t. */
struct m2_embed_backward {
    struct m2_view ids, dy, dw;
};

/* u = x, or x * silu(z) when z is given; split in `groups` slices of
 * I/groups: y = u * rs * w with rs = 1/sqrt(mean of the slice of u^2 + eps).
 * x, z, y (T, I); w (1, I); rs (T, groups) is saved for the backward. */
struct m2_rmsnorm {
    int64_t groups;
    double eps;
    struct m2_view x, z, w, y, rs;
};
/* dx (accumulate: added), dz (overwritten, with z only), dw += .  With dz the
 * gate's gradient; see the specification's section 4.4. */
struct m2_rmsnorm_backward {
    int64_t groups;
    struct m2_view dy, x, z, w, rs, dx, dz, dw;
    int accumulate;
};

/* y = (x - mu) rs w + b.  w, b (1, I); stats (T, 2) saves mu | rs. */
struct m2_layernorm {
    double eps;
    struct m2_view x, w, b, y, stats;
};
struct m2_layernorm_backward {
    struct m2_view dy, x, w, stats, dx, dw, db;
    int accumulate;
};

/* y = x / (1 + exp(-x)). */
struct m2_silu {
    struct m2_view x, y;
};
struct m2_silu_backward {
    struct m2_view dy, x, dx;
    int accumulate;
};

/* Causal depthwise convolution over time, then SiLU, per channel c:
 * y[b,t,c] = silu(b[c] + sum_k w[c,k] x_ext[b, t-(K-1)+k, c]).
 * x, y (B*L, C); w (C, K); b (1, C) optional.  x_ext before t = 0 comes from
 * state (B, C*K): the last K raw inputs per channel, oldest first (optional,
 * zeros); state_out (B, C*K) optional, may be state. */
struct m2_conv1d_silu {
    int64_t B, L, K;
    struct m2_view x, w, b, state, y, state_out;
};
/* dx overwritten, dw += , db += (optional), dstate overwritten (optional);
 * dstate_out (optional) is the gradient that arrives through state_out and is
 * added into dx and dstate. */
struct m2_conv1d_silu_backward {
    int64_t B, L, K;
    struct m2_view dy, x, w, b, state, dstate_out, dx, dw, db, dstate;
};

/* dt = min(max(softplus(raw + bias), low), high); softplus is the identity
 * above 20.  raw, dt (T, H); bias (1, H).  high may be infinite. */
struct m2_dt {
    double low, high;
    struct m2_view raw, bias, dt;
};
/* draw overwritten, dbias += ; zero outside the closed interval. */
struct m2_dt_backward {
    double low, high;
    struct m2_view ddt, raw, bias, draw, dbias;
};

/* The selective state-space scan with skip (paper, section 6):
 *   h_t = exp(dt_t A) h_{t-1} + dt_t x_t B_t^T,  y_t = h_t C_t + d x_t,
 *   A = -exp(a_log).
 * x (B*L, H*P), dt (B*L, H), b, c (B*L, G*N), a_log, d (1, H).
 * y (B*L, H*P); with last_only y is (B, H*P) and holds t = L-1 alone.
 * h0 (B, H*P*N) optional, zeros; h_final (B, H*P*N) optional.
 * states (B, nc*H*P*N), nc = ceil(L/Q): the state entering each chunk of Q
 * steps, [chunk][head][P][N]; optional, saved for the backward.
 * The result does not depend on Q but for rounding. */
struct m2_ssd {
    int64_t B, L, H, P, G, N, Q;
    int last_only;
    struct m2_view x, dt, a_log, b, c, d, h0, y, h_final, states;
};
/* dx, ddt, db, dc overwritten; da_log, dd added to; dh_final and dh0
 * optional.  dy is (B, H*P) with last_only.  ddt is the gradient through both
 * uses of dt. */
struct m2_ssd_backward {
    int64_t B, L, H, P, G, N, Q;
    int last_only;
    struct m2_view dy, x, dt, a_log, b, c, d, states, dh_final;
    struct m2_view dx, ddt, da_log, db, dc, dd, dh0;
};

/* One step of conv1d_silu for inference: x, y (B, C); state (B, C*K) is
 * shifted by one and takes x. */
struct m2_conv1d_step {
    int64_t K;
    struct m2_view x, w, b, state, y;
};
/* One step of ssd: h (B, H*P*N) is read and replaced.  x, y (B, H*P), dt
 * (B, H), b, c (B, G*N). */
struct m2_ssd_step {
    int64_t H, P, G, N;
    struct m2_view x, dt, a_log, b, c, d, h, y;
};

/* ---- losses ------------------------------------------------------------ */

/* Elementwise losses over pred and target (R, C).
 * out (1, 3) f64: sum of the losses, number of elements, number of elements
 * whose sign was right (sign(p) = sign(t), t = 0 not counted as right).
 * dpred optional: scale * d(sum)/d(pred); scale 0 means 1 / elements.
 * mse: e^2; mae: |e|, gradient sign(e) with sign(0) = 0; huber: e^2/2 up to
 * delta, then delta (|e| - delta/2). */
struct m2_loss {
    double delta; /* huber only */
    double scale;
    struct m2_view pred, target, out, dpred;
};
/* Cross entropy: logits (T, V), labels (1, T) i32; rows labelled ignore are
 * left out.  out: sum of -log softmax, rows counted, rows whose arg max is
 * the label.  scale 0: 1 / rows counted (0 when none is). */
struct m2_xent {
    int64_t ignore;
    double scale;
    struct m2_view logits, labels, out, dlogits;
};

/* ---- optimiser ---------------------------------------------------------- */

/* out[0] = sum of x^2 (accumulate: added), in f64.  x (R, C); out (1, 1). */
struct m2_sumsq {
    struct m2_view x, out;
    int accumulate;
};
/* norm = sqrt(sumsq); coef = max_norm / (norm + 1e-6); when coef < 1 and
 * max_norm > 0, x *= coef.  also (any shape, f64, optional): values that must
 * be finite, too, as the losses of the step.  out (1, 3) f64: norm, the
 * coefficient used (1 when none), 1 if norm and all of also are finite, else 0
 * (x is then left alone). */
struct m2_clip {
    double max_norm; /* 0: only report */
    struct m2_view x, sumsq, out, also;
};
/* One AdamW update with decoupled decay, on vectors (1, n):
 *   p *= 1 - lr wd; m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2;
 *   p -= lr / c1 * m / (sqrt(v) / sqrt(c2) + eps).
 * step (1, 3) f64: lr, c1 = 1 - b1^t, c2 = 1 - b2^t.  finite (1, 1) f64:
 * nothing is done when it is 0. */
struct m2_adamw {
    double beta1, beta2, eps, weight_decay;
    struct m2_view p, g, m, v, step, finite;
};
enum m2_spectral_mode { M2_SPECTRAL_DISCRETE = 1, M2_SPECTRAL_CONTINUOUS = 2 };
/* Constraint on the decay of one layer, a_log (1, H) in place:
 * DISCRETE: a_log = max(a_log, ln(-ln(rho) / dt_ref)); CONTINUOUS: with
 * m = max a_log, if m > ln rho then a_log += ln rho - m.  finite (1, 1) f64,
 * optional: nothing is done when it is 0. */
struct m2_spectral {
    int mode;
    double rho, dt_ref;
    struct m2_view a_log, finite;
};

/* ---- the table ---------------------------------------------------------- */

/* X(NAME, struct): the ops in slot order.  Append only. */
#define M2_OPS(X)                                                              \
    X(add, m2_add)                                                             \
    X(scale, m2_scale)                                                         \
    X(fill, m2_fill)                                                           \
    X(copy, m2_copy)                                                           \
    X(mean_time, m2_mean_time)                                                 \
    X(mean_time_backward, m2_mean_time_backward)                               \
    X(gather_windows, m2_gather_windows)                                       \
    X(linear, m2_linear)                                                       \
    X(linear_backward, m2_linear_backward)                                     \
    X(embed, m2_embed)                                                         \
    X(embed_backward, m2_embed_backward)                                       \
    X(rmsnorm, m2_rmsnorm)                                                     \
    X(rmsnorm_backward, m2_rmsnorm_backward)                                   \
    X(layernorm, m2_layernorm)                                                 \
    X(layernorm_backward, m2_layernorm_backward)                               \
    X(silu, m2_silu)                                                           \
    X(silu_backward, m2_silu_backward)                                         \
    X(conv1d_silu, m2_conv1d_silu)                                             \
    X(conv1d_silu_backward, m2_conv1d_silu_backward)                           \
    X(dt, m2_dt)                                                               \
    X(dt_backward, m2_dt_backward)                                             \
    X(ssd, m2_ssd)                                                             \
    X(ssd_backward, m2_ssd_backward)                                           \
    X(mse, m2_loss)                                                            \
    X(mae, m2_loss)                                                            \
    X(huber, m2_loss)                                                          \
    X(xent, m2_xent)                                                           \
    X(sumsq, m2_sumsq)                                                         \
    X(clip, m2_clip)                                                           \
    X(adamw, m2_adamw)                                                         \
    X(spectral, m2_spectral)                                                   \
    X(conv1d_step, m2_conv1d_step)                                             \
    X(ssd_step, m2_ssd_step)

/* Slots: control first, with room to grow, then the ops. */
enum m2_backend_slot {
    M2_SLOT_DEVICES,
    M2_SLOT_OPEN,
    M2_SLOT_CLOSE,
    M2_SLOT_ALLOC,
    M2_SLOT_FREE,
    M2_SLOT_UPLOAD,
    M2_SLOT_DOWNLOAD,
    M2_SLOT_SYNC,
    M2_SLOT_SUPPORTS,
    M2_SLOT_WORKSPACE,
    M2_SLOT_RESERVE,
    M2_SLOT_STEP_BEGIN,
    M2_SLOT_STEP_END,
    M2_SLOT_FIRST_OP = 24,
};

enum m2_op {
#define M2_OP_ENUM(name, type) M2_OP_##name,
    M2_OPS(M2_OP_ENUM)
#undef M2_OP_ENUM
        M2_N_OPS
};

#define M2_BACKEND_N_SLOTS (M2_SLOT_FIRST_OP + M2_N_OPS)

#endif
