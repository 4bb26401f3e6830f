/* The folder that a proof works in: ROOT/.prove-XXXXXX, which no list shows.
 * As long as its process lives it holds the lock of the folder's owner.json, so
 * that the next proof can remove what a killed one has left. */
#ifndef M2_PROVE_SCRATCH_H
#define M2_PROVE_SCRATCH_H

#include <stdbool.h>

#include "m2_plugin.h"

struct scratch {
    char *path;   /* NULL: none */
    int owner_fd; /* holds the lock */
    char *root;   /* to be removed, too, if it was made and nothing is in it */
};

/* Makes ROOT when it is missing, and the folder in it; removes those of proofs
 * that have died on this boot. */
int scratch_open(const char *root, struct scratch *out, struct m2_error *err);

/* Removes the folder, or leaves it for good; zero is allowed. */
int scratch_close(struct scratch *scratch, bool keep, struct m2_error *err);

#endif
