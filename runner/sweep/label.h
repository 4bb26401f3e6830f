/* Labels: the readable part of a run's directory name. */
#ifndef M2_SWEEP_LABEL_H
#define M2_SWEEP_LABEL_H

#include <stddef.h>
#include <stdint.h>

#include "results/store.h"

/* Adds "name-value" to a label, after a "_" when it is not the first.  Every
 * character but [A-Za-z0-9._-] becomes "-", runs of them one. */
void label_add(struct text *label, const char *name, const char *value);

/* Adds a word as it is, after a "_" when it is not the first. */
void label_add_word(struct text *label, const char *word);

/* Ends a label with the seed, "_s0".  What stands before is cut so that the
 * whole is at most RUN_LABEL_MAX characters. */
void label_add_seed(struct text *label, uint64_t seed);

#endif
