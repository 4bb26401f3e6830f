/* The steps from repaired rows to a dataset, shared by the files that do
 * them; dataset_load (dataset.c) runs them in this order. */
#ifndef M2_DATA_ASSEMBLE_H
#define M2_DATA_ASSEMBLE_H

#include "data/columns.h"
#include "data/scaling.h"
#include "data/split.h"
#include "data/store.h"

struct assembly {
    const struct dataset_request *request;
    const struct config_data *config;
    struct store store;
    struct columns columns; /* against the store's columns */
    struct fact_list facts;
    struct split_part parts[N_PARTS];
    struct dataset dataset; /* in the making */
    struct m2_error *err;
};

/* Reads the store and repairs it. */
int assemble_rows(struct assembly *assembly, const struct plugin *plugin);

/* Fills the stack: series, times, starts, features (not yet scaled), raw
 * targets, levels, names. */
int assemble_stack(struct assembly *assembly);

/* Scaling from the request's table, or fitted on the training part; scales
 * features in place and makes the scaled targets. */
int assemble_scaling(struct assembly *assembly);

/* The distinct times of all series, ascending; the caller frees *out. */
int assemble_times(const struct assembly *assembly, int64_t **out, int64_t *n);

#endif
