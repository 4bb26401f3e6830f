/* Do two computations of a run agree in every byte?
 *
 * Compared are metrics.csv, last.safetensors and best.safetensors as whole
 * files, and the end, scores and data in run.json.  What differs is explained
 * by reproduce/difference.h: step and column, or tensor. */
#ifndef M2_PROVE_AGREEMENT_H
#define M2_PROVE_AGREEMENT_H

#include <stdbool.h>

#include "util/sha256.h"
#include "util/text.h"

struct agreement {
    bool differs;
    size_t n_files; /* compared, of each computation */
    int64_t bytes;  /* in these */
    size_t n_rows, n_tensors;
    char parameters[SHA256_HEX_SIZE];
    /* When they differ: the first file that does, NULL only if none is left to
     * name; and a line each for what differs first in it and in the others. */
    const char *file; /* static */
    struct text differences;
};

/* `first` and `other` are published runs of one identity.  0 whether they
 * differ or not; M2_E_RESULTS when one of them cannot be read.  Free *out
 * whatever the result. */
struct agreement_request {
    const char *first, *other;
    const char *identity;
};
int agreement_find(const struct agreement_request *request,
                   struct agreement *out, struct m2_error *err);
void agreement_free(struct agreement *agreement);

#endif
