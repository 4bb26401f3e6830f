/* The functions of the golden kinds of this room; private to it. */
#ifndef M2_MODEL_GOLDEN_PRIVATE_H
#define M2_MODEL_GOLDEN_PRIVATE_H

#include "backends/conformance/golden.h"

int golden_run_block(struct golden_case *c, struct m2_error *err);
int golden_run_model(struct golden_case *c, struct m2_error *err);
int golden_run_steps(struct golden_case *c, struct m2_error *err);

#endif
