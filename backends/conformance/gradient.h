/* Gradients against finite differences of the device's own forward op. */
#ifndef M2_BACKENDS_CONFORMANCE_GRADIENT_H
#define M2_BACKENDS_CONFORMANCE_GRADIENT_H

#include "backends/conformance/compare.h"
#include "backends/conformance/trial.h"

/* The gradient tensor that is worst, and its worst element: got is what the
 * backward op says, want the finite difference; error is relative to the
 * largest element of the tensor, and absolute below 1e-4. */
struct gradient_error {
    const char *tensor; /* NULL: there was none to check */
    struct difference worst;
};

/* Runs both trials on an f64 bench and compares every gradient tensor that
 * `backward` computes, at up to 16 elements spread over each.  backward is
 * what case_build_backward made of forward; NULL for a loss op, which brings
 * its own gradient. */
int gradient_measure(struct bench *bench, struct trial *forward,
                     struct trial *backward, struct gradient_error *out,
                     struct m2_error *err);

#endif
