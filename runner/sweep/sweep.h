/* From an experiment to the ordered list of its runs.
 *
 *     sweep:
 *       grid:                      each key is an axis
 *         train.optimizer.lr: [1e-3, 1e-4]     full name or a unique ending
 *         model.d_state: range(16, 80, 16)     16, 32, 48, 64
 *       zip:                       keys that change together, equal lengths
 *         - {model.d_model: [128, 256], train.batch_size: [64, 32]}
 *       list:                      whole points; a label is optional
 *         - {label: wide, model.expand: 4}
 *       random: {n: 50, seed: 7}   trials, see random.h
 *       params:
 *         train.optimizer.weight_decay: {loguniform: [1e-4, 1e-1]}
 *       exclude: ["d_state == 64 && d_model == 256"]     see predicate.h
 *       seeds: 3                   seed, seed+1, ...; or a list of seeds
 *       max_runs: 10000
 *
 * A group is one key of the grid, one entry of zip, the list, or the random
 * trials.  The runs are the product of the groups - those of the file in the
 * order above, then the axes of the command line; the last one varies fastest
 * - without the points that an exclude names, times the seeds, which vary
 * fastest of all.  A key is swept by one group only.
 *
 * An axis of the command line replaces the same axis of the file: in its place
 * where that is one of the grid, else as the last group.  So does a single
 * value, and ~key.  Every run is a complete config that passed every rule.
 * Without a sweep there is one run. */
#ifndef M2_SWEEP_SWEEP_H
#define M2_SWEEP_SWEEP_H

#include "config/load.h"

enum {
    SWEEP_MAX_RUNS = 10000,     /* unless sweep: max_runs: says otherwise */
    SWEEP_MOST_RUNS = 1000000,  /* of max_runs */
    SWEEP_MAX_POINTS = 1000000, /* of the product, before exclude */
};

/* One value of a run that an axis chose. */
struct sweep_setting {
    const char *key;   /* full name; of the schema */
    const char *value; /* canonical text; of the sweep.  NULL: this point of a
                          list leaves the key as it is */
};

struct sweep_run {
    struct config config;
    char *label; /* "lr-0.001_d_state-16_s0", of [A-Za-z0-9._-], at most 80;
                    "run" without a sweep */
    struct sweep_setting *settings; /* (n_axes) */
    size_t point; /* runs that differ in the seed only share it */
};

struct sweep_axis;  /* axis.h */
struct sweep_group; /* axis.h */
struct sweep {
    struct sweep_run *runs;
    size_t n_runs;
    size_t n_points, n_seeds; /* n_runs = n_points * n_seeds, until folded */
    size_t n_excluded;        /* points */
    size_t n_folded;          /* runs: sweep_fold */
    uint64_t *seeds;          /* (n_seeds) */
    struct sweep_axis *axes;
    size_t n_axes;
    struct sweep_group *groups;
    size_t n_groups;
    struct tree tree; /* nodes of values that no file holds */
};

/* Loads an experiment and expands it, with the messages of both in one go.
 * Errors: as experiment_load.  Both results are initialised whatever happens:
 * free the sweep first. */
int sweep_load(const struct experiment_request *request,
               struct experiment *experiment, struct sweep *sweep,
               struct messages *messages, struct m2_error *err);

/* Leaves out the runs for which is_double is true, (n_runs): they repeat
 * others.  The order of the rest stays. */
void sweep_fold(struct sweep *sweep, const bool *is_double);

void sweep_free(struct sweep *sweep);

#endif
