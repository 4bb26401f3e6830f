/* A Mamba-2 model on a device: parameters, activations, and its forward and
 * backward pass as a list of op calls (program.h).
 *
 * The lists are built once per batch size.  Building checks every call,
 * asks the backend whether it supports it with these very shapes, and
 * allocates all memory, so that nothing can fail for lack of memory or
 * support after step 1.  Shapes and formulas: Dao & Gu 2024; the order of the
 * whole backward pass and the names of the tensors are those of the
 * state-spaces code.
 *
 * Layout of a forecast model: r0 = x Win^T + bin; n blocks
 * r <- r + Mixer(RMSNorm(r)); f = RMSNorm_f(r); y = f Wh^T + bh.  Readout LAST
 * uses the row t = L-1 only (and, in the last block, computes only that row
 * of z, y, v and out); MEAN averages f over time; ALL gives every row.
 * Language model: r0 = E[ids], logits = RMSNorm_f(r) Wlm^T, tied or not. */
#ifndef M2_MODEL_MODEL_H
#define M2_MODEL_MODEL_H

#include "backends/ops.h"
#include "config/config.h"

struct st_file; /* safetensors.h */
struct st_writer;

struct model; /* opaque */

/* A label that the language model's loss leaves out. */
enum { MODEL_IGNORED_LABEL = -100 };

/* Everything that fixes shapes. */
struct model_spec {
    const struct config_model *config;
    int64_t n_features; /* F (forecast) */
    int64_t n_outputs;  /* Y: values per prediction (forecast) */
    int64_t n_vocab;    /* V (lm) */
    int64_t B, L;       /* largest batch, length */
    enum loss_kind loss;
    double huber_delta;
    bool training;   /* keep activations, gradients; else forward only */
    bool input_grad; /* also compute the gradient of the input (tests) */
};

/* Exact bytes on the device, known before anything is allocated. */
struct model_plan {
    uint64_t n_parameters;
    uint64_t parameter_bytes;  /* one arena */
    uint64_t gradient_bytes;   /* one arena; training */
    uint64_t moment_bytes;     /* both Adam moments; training */
    uint64_t activation_bytes; /* inputs, targets, outputs included */
    uint64_t workspace_bytes;  /* the backend's scratch; 0 without device */
    double step_flops;         /* forward + backward of B windows */
    double forward_flops;
};
/* device may be NULL: then dtype decides and workspace_bytes is 0. */
int model_plan(const struct model_spec *spec, struct m2_device *device,
               enum m2_dtype dtype, struct model_plan *out,
               struct m2_error *err);

int model_create(struct m2_device *device, const struct model_spec *spec,
                 struct model **out, struct m2_error *err);
void model_free(struct model *model);

/* ---- parameters ------------------------------------------------------- */

/* One named tensor, a view into the arena.  Decayed tensors (two or more
 * dimensions) come first in the arena, in one run, the others after them. */
struct parameter {
    char name[96]; /* state-spaces name */
    int64_t shape[4];
    int n_dims;
    int64_t offset; /* elements in the arena */
    int64_t n;      /* elements */
    bool decayed;
};
size_t model_parameters(const struct model *model,
                        const struct parameter **out);
/* Number of elements of the arena, and how many of them, from the start,
 * belong to decayed tensors. */
int64_t model_arena_size(const struct model *model, int64_t *n_decayed);

/* The arenas as (1, n) views. */
struct m2_view model_values(const struct model *model);
struct m2_view model_gradients(const struct model *model);

/* A_log of layer i, for the spectral op. */
struct m2_view model_a_log(const struct model *model, int64_t layer);

/* Fresh parameters (specification, section 7), each tensor from its own
 * Philox stream named after it: independent of order, threads and backend. */
int model_initialise(struct model *model, uint64_t seed, struct m2_error *err);

/* Adds every parameter as PREFIX + its name.  values (n) of the device's real
 * type is an arena on the host, which must live until the file is written. */
int model_save_tensors(const struct model *model, const char *prefix,
                       const void *values, struct st_writer *writer,
                       struct m2_error *err);

/* Where tensors come from.  Their types may be F64, F32, F16 or BF16. */
struct tensor_source {
    const struct st_file *file;
    const char *prefix; /* before every name: "", "adam_m." */
    int code;           /* of the error when the tensors do not fit */
};

/* Fills an arena of the model.  Every parameter must be there with its exact
 * shape; with prefix "" nothing else may be there but the moments of a
 * checkpoint.  Accepted beside the state-spaces names: the prefix "model.",
 * backbone.embeddings.weight, and a tied lm_head.weight that equals the
 * embedding.  All that does not fit is told in one message, and then nothing
 * was written. */
int model_load_tensors(struct model *model, const struct tensor_source *from,
                       const struct m2_view *arena, struct m2_error *err);

/* The parameters of a safetensors file, a checkpoint or one of another
 * program; M2_E_CONFIG when they are not those of this model. */
int model_init_from(struct model *model, const char *path,
                    struct m2_error *err);

/* ---- running ------------------------------------------------------------ */

/* Where a batch goes in and comes out, for batch size b <= B.
 * input (b*L, F) real, or ids (1, b*L) i32; target (b, Y) real (ALL:
 * (b*L, Y)), or labels (1, b*L) i32; output like target, or (b*L, V). */
struct m2_view model_input(const struct model *model, int64_t b);
struct m2_view model_target(const struct model *model, int64_t b);
struct m2_view model_output(const struct model *model, int64_t b);
struct m2_view model_input_gradient(const struct model *model, int64_t b);
/* (1, 3) f64: what the loss op wrote last. */
struct m2_view model_loss(const struct model *model);

/* Builds the lists for batch size b (kept; cheap when already there). */
int model_prepare(struct model *model, int64_t b, struct m2_error *err);

/* Prediction of what is in input. */
int model_forward(struct model *model, int64_t b, struct m2_error *err);

/* Forward, loss, backward.  Gradients are added to the gradient arena; the
 * loss gradient is scaled by `scale` (0: 1 / elements). */
int model_forward_backward(struct model *model, int64_t b, double scale,
                           struct m2_error *err);

/* Views of intermediate results of the last forward pass by name, for tests
 * and comparisons; false when there is none.  "layers.0." and so on with
 * input, u, zxd, z, xbc_raw, dt_raw, xbc, dt, states, y, v, resid (what leaves
 * the layer) are kept by a training model only; "f" and "output" always.  In
 * the last layer of readout LAST, z, y, v and resid have one row per window
 * and there is no zxd. */
bool model_activation(const struct model *model, int64_t b, const char *name,
                      struct m2_view *out);

/* What a view of the model's memory is called, into name, and the layer it
 * belongs to, or -1.  A parameter has its name, its gradient "gradient of "
 * before it; activations are called as above, with their layer, and gradients
 * of them "d." and the activation.  What spans several tensors of an arena is
 * "parameters" or "gradients"; the name of anything else is empty. */
int64_t model_view_name(const struct model *model, const struct m2_view *view,
                        char *name, size_t size);

/* First tensor of the parameters (or, with gradients true, of the gradient
 * arena) that holds a value that is not finite: its name, else NULL. */
int model_first_not_finite(struct model *model, bool gradients,
                           const char **name, struct m2_error *err);

/* ---- one step at a time ------------------------------------------------ */

/* Recurrent inference: state per layer, zero at the start.  Equal to the full
 * sequence to rounding. */
struct model_stepper; /* opaque */
int model_stepper_create(struct model *model, int64_t b,
                         struct model_stepper **out, struct m2_error *err);
void model_stepper_free(struct model_stepper *stepper);
int model_stepper_reset(struct model_stepper *stepper, struct m2_error *err);
/* One time step: input (b, F) real or ids (1, b); output (b, Y) or (b, V). */
struct m2_view model_stepper_input(const struct model_stepper *stepper);
struct m2_view model_stepper_output(const struct model_stepper *stepper);
int model_stepper_step(struct model_stepper *stepper, struct m2_error *err);
/* conv (b, CD*K) and ssm (b, H*P*N) state of a layer. */
struct m2_view model_stepper_conv_state(const struct model_stepper *stepper,
                                        int64_t layer);
struct m2_view model_stepper_ssm_state(const struct model_stepper *stepper,
                                       int64_t layer);

#endif
