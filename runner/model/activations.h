/* Where everything but parameters and gradients lies on the device: one
 * buffer, planned before it is allocated.
 *
 * A slot holds `per` rows of `cols` elements for each window of a batch, so
 * that a batch of b windows uses the first b * per rows.  A training model
 * keeps what the backward pass reads of every layer; a forward-only model has
 * one set of slots that all layers share, and its residual stream is updated
 * in place. */
#ifndef M2_MODEL_ACTIVATIONS_H
#define M2_MODEL_ACTIVATIONS_H

#include "model/model.h"
#include "model/sizes.h"

struct slot {
    int64_t offset; /* in elements of dtype; 64-byte boundary */
    int64_t per, cols;
    enum m2_dtype dtype;
};

/* Of one layer; shapes per window.  With last_only, the last layer has one
 * row of y, v and gate_rs, and its projection is split: first z (B, I), then
 * x|B|C|dt (B*L, CD+H), see projection_of. */
struct layer_slots {
    struct slot r;          /* (L, D) residual that enters the layer */
    struct slot u, rs;      /* (L, D), (L, 1): RMSNorm(r) */
    struct slot projection; /* z|x|B|C|dt */
    struct slot c;          /* (L, CD): x|B|C after the convolution */
    struct slot dt;         /* (L, H) */
    struct slot states;     /* (1, nc*H*P*N); training only */
    struct slot y;          /* (L, I): the scan's output */
    struct slot v, gate_rs; /* (L, I), (L, Gn): gated norm of y */
};

/* State of one layer between steps of recurrent inference, for each window:
 * the last K raw inputs of the convolution (1, CD*K), the scan's (1, H*P*N). */
struct state_slots {
    struct slot conv, ssm;
};

/* Gradients that live within one layer's backward pass, and the residual's. */
struct gradient_slots {
    struct slot output; /* like the output */
    struct slot f, fm;  /* like f and fm */
    struct slot r;      /* (L, D) */
    struct slot r_last; /* (1, D); last_only */
    struct slot v, y, projection, c, dt, u;
    struct slot input; /* with input_grad */
};

struct activation_slots {
    struct slot input, target; /* features (L, F), targets; lm: ids, labels */
    struct slot output;        /* (1, Y), (L, Y), or logits (L, V) */
    struct slot loss;          /* (3) f64; not per window */
    struct layer_slots *layers;
    struct slot r_final; /* after the last layer: (L, D), last_only (1, D) */
    struct slot f, f_rs; /* RMSNorm of it */
    struct slot fm;      /* (1, D): mean of f over time; readout MEAN */
    struct gradient_slots d;
    struct state_slots *states; /* of each layer; stepping only, else NULL */
    struct slot all_states;     /* one row over all of them */
    uint64_t bytes;
};

int activations_plan(const struct model_sizes *sizes,
                     const struct model_spec *spec, enum m2_dtype real,
                     struct activation_slots *out, struct m2_error *err);
/* For one step at a time (sizes with L = 1): adds the layers' states. */
int activations_add_states(const struct model_sizes *sizes, enum m2_dtype real,
                           struct activation_slots *slots,
                           struct m2_error *err);
void activations_free(struct activation_slots *slots);

/* The first b windows of a slot: (b * per, cols). */
struct m2_view slot_view(const struct slot *slot, int64_t b,
                         struct m2_buffer *buffer);

#endif
