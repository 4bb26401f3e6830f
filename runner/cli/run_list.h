/* From an experiment file to the runs that will be worked: what `run`, `plan`
 * and `worker` share. */
#ifndef M2_CLI_RUN_LIST_H
#define M2_CLI_RUN_LIST_H

#include <jansson.h>

#include "sweep/record.h"
#include "sweep/sweep.h"

struct resolved_sweep {
    struct experiment experiment;
    struct sweep sweep;
    struct sweep_record record; /* labels, identities, settings, per run */
    char auto_device[64], auto_why[256]; /* what `auto` stands for; "": it was
                                            not asked for */
};

/* Loads, expands, chooses devices, finds init_from, fingerprints the data,
 * computes identities; runs with the identity of an earlier one are left out,
 * with a word.  Messages go to stderr.  Free it whatever the result.
 * root: where a RUN named by init_from is looked for. */
int resolve_sweep(const char *path, const char *const *overrides,
                  size_t n_overrides, const char *root,
                  struct resolved_sweep *out, struct m2_error *err);
void resolved_sweep_free(struct resolved_sweep *resolved);

/* Identity of one config, with the fingerprint of its data. */
int resolve_identity(const struct schema *schema, const struct config *config,
                     const char *fingerprint, char out[SHA256_HEX_SIZE],
                     struct m2_error *err);

/* {key: canonical text} of every key of a config; NULL when out of memory. */
json_t *settings_json(const struct schema *schema, const struct config *config);

#endif
