/* Every golden kind that is not a single op: those of models (model/golden.h)
 * and of training: lr_schedule, train, seed_model. */
#ifndef M2_TRAIN_GOLDEN_KINDS_H
#define M2_TRAIN_GOLDEN_KINDS_H

#include "backends/conformance/golden.h"

enum { N_GOLDEN_KINDS = 8 };

/* Fills the table for conformance_options. */
void golden_kinds(struct golden_kind out[N_GOLDEN_KINDS]);

#endif
