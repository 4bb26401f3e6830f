/* The process that works a list of runs: a mark that `m2run stop` finds.
 *
 * ROOT/<name>/.active/.driver-<token>/owner.json, locked as long as the
 * process lives. */
#ifndef M2_RESULTS_DRIVER_H
#define M2_RESULTS_DRIVER_H

#include "results/owner.h"

struct driver; /* opaque */

/* Marks of dead drivers are removed. */
int driver_begin(const char *root, const char *name, struct driver **out,
                 struct m2_error *err);
void driver_end(struct driver *driver); /* NULL is allowed */

/* Calls visit (NULL: nothing) for every driver of an experiment that lives on
 * this boot.  Marks of dead ones are removed. */
int driver_each(const char *root, const char *name,
                void (*visit)(void *context, const struct owner *owner),
                void *context, struct m2_error *err);

#endif
