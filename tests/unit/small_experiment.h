/* A small experiment on synthetic bars, for tests of training. */
#ifndef M2_TESTS_SMALL_EXPERIMENT_H
#define M2_TESTS_SMALL_EXPERIMENT_H

#include "config/load.h"

/* Loads it with overrides, parted by blanks; an error fails the test. */
void small_experiment(struct experiment *out, const char *overrides);

#endif
