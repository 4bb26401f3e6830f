/* What can change the result of a run, as run.json holds it: the keys "host",
 * "environment", "build", "libraries", and, as far as they are known, "data"
 * (its files and plugin) and "backend".
 *
 * Host: processor and its vector extensions, C library, threads.  Libraries:
 * every shared object of the process with its build id, so that BLAS, libm,
 * CUDA and its driver are known without the runner knowing any of them.
 * Backend and data plugin: build string, numerics number, file and SHA-256. */
#ifndef M2_TRAIN_FACT_SHEET_H
#define M2_TRAIN_FACT_SHEET_H

#include <jansson.h>

#include "train/session.h"

/* Of a process that computes.  config and session may be NULL while they are
 * not known; with a config its data files are looked up and digested (cached).
 * *out is a new object (json_decref). */
struct fact_request {
    const struct config *config;
    const struct session *session; /* with an open device */
    int threads;
    const char *device_why; /* how `auto` was decided, or NULL */
};
int fact_sheet_make(const struct fact_request *request, json_t **out,
                    struct m2_error *err);

/* The same of this process for a config, without training: opens the device,
 * loads the data plugin, digests the data files, and closes the device.
 * To be compared with a record by facts_compare.  Errors: those of opening a
 * device, M2_E_DATA when there are no files as the config says. */
int fact_sheet_now(const struct config *config, int threads, json_t **out,
                   struct m2_error *err);

#endif
