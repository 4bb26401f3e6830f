/* The sizes of a model under the letters of the Mamba-2 paper, derived once
 * from its specification and checked: divisibility, ranges, no overflow. */
#ifndef M2_MODEL_SIZES_H
#define M2_MODEL_SIZES_H

#include "model/model.h"

struct model_sizes {
    int64_t B, L;       /* largest batch; length */
    int64_t D, I;       /* model width; inner width = expand * D */
    int64_t H, P, G, N; /* heads, head width, groups, state */
    int64_t K, Q;       /* filter length, chunk */
    int64_t CD;         /* channels of the convolution: I + 2 G N */
    int64_t J;          /* rows of in_proj: 2 I + 2 G N + H */
    int64_t Gn;         /* groups of the gated norm */
    int64_t F, Y, V;    /* features, outputs; vocabulary (0: none) */
    int64_t n_layer;
    int64_t n_chunks; /* ceil(L / Q) */
    bool last_only;   /* only t = L-1 is read out */
    bool lm;
};

/* M2_E_CONFIG names the keys that do not fit each other. */
int model_sizes_of(const struct model_spec *spec, struct model_sizes *out,
                   struct m2_error *err);

#endif
