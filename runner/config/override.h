/* Overrides: what the command line changes in an experiment.
 *
 *     lr=3e-4                 sets a key: full name or a unique ending
 *     ~lr                     back to the default
 *     lr=1e-3,1e-4            a grid axis: as sweep: grid: in the file
 *     d_state=range(16,80,16) the same: 16, 32, 48, 64 (stop excluded)
 *     features=[a,b]          brackets, braces and quotes are YAML
 *     seeds=3  seeds=4,7      sweep: seeds:; max_runs and random.n likewise
 *     ~sweep                  no sweep at all
 *
 * What stands later counts: lr=1e-3,1e-4 lr=1e-2 sweeps nothing.  A comma
 * inside brackets, parentheses or quotes parts nothing.  Messages name the
 * place as "command line:2:4": second override, fourth character. */
#ifndef M2_CONFIG_OVERRIDE_H
#define M2_CONFIG_OVERRIDE_H

#include "config/load.h"

/* All overrides as one source, one to a line.  NULL when out of memory. */
const struct source *override_add_source(struct tree *tree,
                                         const char *const *overrides,
                                         size_t count);

/* The value that the overrides give data.source, as a node; NULL when they
 * give none, or when out of memory. */
struct node *override_find_source(struct tree *tree,
                                  const struct source *source,
                                  const struct experiment_request *request);

/* Applies them all to experiment->root and ->sweep, and adds the axes. */
void override_apply(struct experiment *experiment, const struct source *source,
                    const struct experiment_request *request,
                    struct messages *messages);

#endif
