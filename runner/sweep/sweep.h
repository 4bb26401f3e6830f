/* From an experiment to the ordered list of its runs.
 *
 * The runs are the product of the grid's axes - those of the file in their
 * order, then those of the command line; the last one varies fastest - times
 * the seeds (seed, seed+1, ...), which vary fastest of all:
 *
 *     sweep:
 *       grid:
 *         train.optimizer.lr: [1e-3, 1e-4]     full name or a unique ending
 *         model.d_state: [16, 64]
 *       seeds: 3
 *
 * An axis of the command line replaces the same axis of the file; so does a
 * single value.  Every run is a complete config that passed every rule.
 * Without a sweep there is one run. */
#ifndef M2_SWEEP_SWEEP_H
#define M2_SWEEP_SWEEP_H

#include "config/load.h"

enum { SWEEP_MAX_RUNS = 10000 };

/* One value of a run that an axis chose. */
struct sweep_setting {
    const char *key;   /* full name; of the schema */
    const char *value; /* canonical text; of the sweep */
};

struct sweep_run {
    struct config config;
    char *label; /* "lr-0.001_d_state-16_s0", of [A-Za-z0-9._-], at most 80;
                    "run" without a sweep */
    struct sweep_setting *settings; /* (n_axes) */
    size_t point; /* runs that differ in the seed only share it */
};

struct sweep_axis; /* axis.h */
struct sweep {
    struct sweep_run *runs;
    size_t n_runs;
    size_t n_points, n_seeds; /* n_runs = n_points * n_seeds */
    struct sweep_axis *axes;
    size_t n_axes;
};

/* Loads an experiment and expands it, with the messages of both in one go.
 * Errors: as experiment_load.  Both results are initialised whatever happens:
 * free the sweep first. */
int sweep_load(const struct experiment_request *request,
               struct experiment *experiment, struct sweep *sweep,
               struct messages *messages, struct m2_error *err);

void sweep_free(struct sweep *sweep);

#endif
