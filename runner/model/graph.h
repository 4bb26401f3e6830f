/* Inside of the model room: the model itself and the builders of its lists.
 * Only files of this room, and its tests and golden cases, include this.
 *
 * A builder adds the calls of one part for batches of b windows to a program;
 * failures are remembered by the program. */
#ifndef M2_MODEL_GRAPH_H
#define M2_MODEL_GRAPH_H

#include "model/activations.h"
#include "model/parameters.h"
#include "model/program.h"

/* The lists for one batch size. */
struct batch_lists {
    int64_t b;
    struct program forward;
    struct program backward; /* loss first; training only */
};

struct model {
    struct m2_device *device;
    enum m2_dtype real;
    struct model_spec spec;     /* its config is the one below */
    struct config_model config; /* without its strings */
    struct model_sizes sizes;
    struct parameter_set parameters;
    struct activation_slots slots;
    /* While planning, each of them is any address: see program.h. */
    struct m2_buffer *values, *gradients, *activations;
    struct batch_lists **lists;
    size_t n_lists, lists_capacity;
};

/* Views of parameters and of their gradients; absent ones have no buffer. */
struct m2_view value_of(const struct model *model, int index);
struct m2_view gradient_of(const struct model *model, int index);
struct m2_view layer_value(const struct model *model, int64_t layer,
                           enum layer_tensor tensor);
struct m2_view layer_gradient(const struct model *model, int64_t layer,
                              enum layer_tensor tensor);

/* Activations of b windows. */
struct m2_view activation(const struct model *model, const struct slot *slot,
                          int64_t b);
/* ids or labels of b windows as one row: (1, b*L) i32. */
struct m2_view tokens(const struct model *model, const struct slot *slot,
                      int64_t b);

/* Row t = L-1 of each window of a (b*L, cols) view: (b, cols). */
struct m2_view last_rows(struct m2_view view, int64_t L);
/* Rows [first, first + count). */
struct m2_view view_rows(struct m2_view view, int64_t first, int64_t count);

/* Columns of a bias (1, n), which may be absent. */
struct m2_view bias_columns(struct m2_view bias, int64_t first, int64_t count);

/* True for the layer of which only row t = L-1 is read. */
bool layer_is_split(const struct model *model, int64_t layer);

/* The parts of z|x|B|C|dt, or of its gradient, in a projection slot.  all has
 * no buffer when the layer is split; rest is x|B|C|dt. */
struct projection {
    struct m2_view all; /* (b*L, J) */
    struct m2_view z;   /* (b*L, I), split: (b, I) */
    struct m2_view rest, xbc, dt;
};
struct projection projection_of(const struct model *model, int64_t layer,
                                const struct slot *slot, int64_t b);

/* The parts of x|B|C after the convolution, or of its gradient. */
struct m2_view scan_x(const struct model *model, struct m2_view c);
struct m2_view scan_b(const struct model *model, struct m2_view c);
struct m2_view scan_c(const struct model *model, struct m2_view c);

/* mamba2_forward.c */
void forward_layer(const struct model *model, int64_t layer, int64_t b,
                   struct program *out);
void forward_model(const struct model *model, int64_t b, struct program *out);

/* mamba2_backward.c: dr_out is the gradient of the layer's output, and
 * becomes that of its input; in a split layer dr_out is (b, D) and the
 * gradient of the input goes to the slot d.r. */
void backward_layer(const struct model *model, int64_t layer, int64_t b,
                    struct m2_view dr_out, struct program *out);
void backward_model(const struct model *model, int64_t b, struct program *out);

#endif
