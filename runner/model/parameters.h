/* The named tensors of a model: names, shapes, place in the arena, and the
 * values they start with.
 *
 * All parameters lie in one arena without gaps: first the decayed tensors
 * (two or more dimensions), then the others, each group in the order of the
 * model.  Gradients and moments use the same places in arenas of their own.
 * Names and shapes are those of the state-spaces code; a forecast model adds
 * input_proj and head. */
#ifndef M2_MODEL_PARAMETERS_H
#define M2_MODEL_PARAMETERS_H

#include "model/model.h"
#include "model/sizes.h"

enum layer_tensor {
    LAYER_NORM,
    LAYER_DT_BIAS,
    LAYER_A_LOG,
    LAYER_D,
    LAYER_IN_PROJ,      /* (J, D) */
    LAYER_IN_PROJ_BIAS, /* with proj_bias */
    LAYER_CONV,         /* (CD, 1, K) */
    LAYER_CONV_BIAS,    /* with conv_bias */
    LAYER_GATE_NORM,
    LAYER_OUT_PROJ,      /* (D, I) */
    LAYER_OUT_PROJ_BIAS, /* with proj_bias */
    N_LAYER_TENSORS
};

enum model_tensor {
    MODEL_INPUT, /* input_proj.weight (D, F), or the embedding (V, D) */
    MODEL_INPUT_BIAS,
    MODEL_NORM_F,
    MODEL_HEAD, /* head.weight (Y, D), or lm_head.weight (V, D); absent: tied */
    MODEL_HEAD_BIAS,
    N_MODEL_TENSORS
};

struct parameter_set {
    struct parameter *items; /* in the order of the arena */
    unsigned char *inits;    /* how each one starts: enum init, private */
    size_t count;
    int64_t n, n_decayed; /* elements of the arena */
    int64_t n_layer;
    int *of_layer; /* (n_layer, N_LAYER_TENSORS): index in items, -1: absent */
    int of_model[N_MODEL_TENSORS];
};

int parameters_build(const struct model_sizes *sizes,
                     const struct config_model *config,
                     struct parameter_set *out, struct m2_error *err);
void parameters_free(struct parameter_set *set);

/* The tensor as a matrix in an arena at `buffer`: (shape[0], the rest), or
 * (1, n) for a vector.  index -1 gives an absent view. */
struct m2_view parameter_view(const struct parameter_set *set, int index,
                              struct m2_buffer *buffer, enum m2_dtype dtype);
int parameter_of_layer(const struct parameter_set *set, int64_t layer,
                       enum layer_tensor tensor);

/* Elements [first, first + count) of tensor `index` as they start, from the
 * stream (seed, name of the tensor): specification, section 7. */
void parameter_start(const struct parameter_set *set, size_t index,
                     uint64_t seed, int64_t first, int64_t count, double *out);

/* dt + ln(1 - exp(-dt)): what softplus turns into dt. */
double inverse_softplus(double dt);

#endif
