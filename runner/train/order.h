/* The order in which training windows are visited: a pure function of the
 * seed and the epoch, never of what ran before. */
#ifndef M2_TRAIN_ORDER_H
#define M2_TRAIN_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "m2_plugin.h"

/* A permutation of 0 .. n-1 into out (n). */
int train_order(uint64_t seed, int64_t epoch, size_t n, size_t *out,
                struct m2_error *err);

#endif
