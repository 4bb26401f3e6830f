/* A folder to work in that goes with its process: ROOT/<prefix>XXXXXX.
 *
 * As long as the process lives it holds the lock of the folder's owner.json, so
 * that the next one can remove what a killed one has left. */
#ifndef M2_RESULTS_SCRATCH_H
#define M2_RESULTS_SCRATCH_H

#include <stdbool.h>

#include "m2_plugin.h"

struct scratch {
    char *path;   /* NULL: none */
    int owner_fd; /* holds the lock */
    char *root;   /* to be removed, too, if it was made and nothing is in it */
};

/* Makes ROOT when it is missing, and the folder in it; removes those with the
 * same prefix whose processes have died on this boot.  scratch_close also
 * after an error. */
int scratch_open(const char *root, const char *prefix, struct scratch *out,
                 struct m2_error *err);

/* The same in $TMPDIR, or /tmp. */
int scratch_open_temporary(const char *prefix, struct scratch *out,
                           struct m2_error *err);

/* Removes the folder, or leaves it for good; zero is allowed. */
int scratch_close(struct scratch *scratch, bool keep, struct m2_error *err);

#endif
