/* Which op is the backward of which, and how the arguments correspond.
 *
 * The op table names gradients after what they are gradients of: "dw" among
 * the outputs of a backward op is the gradient of the forward input "w", and
 * "dy" among its inputs arrives through the forward output "y".  All else in
 * a backward op has the name it has in the forward op. */
#ifndef M2_BACKENDS_CONFORMANCE_PAIRS_H
#define M2_BACKENDS_CONFORMANCE_PAIRS_H

#include "backends/conformance/trial.h"

/* The backward op, or -1. */
int pair_backward(enum m2_op forward);

/* Makes the trial of the backward op from one of the forward op that has run:
 * inputs and saved outputs are copied, gradients that arrive are generated
 * from the trial's seed, those that leave take the shape of what they are the
 * gradient of.  Everything optional is there when its counterpart is. */
void pair_derive(const struct trial *forward, struct trial *backward);

#endif
