/* Golden vectors from safetensors files, for the conformance suite, which
 * lies below this room and does not know the format. */
#ifndef M2_MODEL_GOLDEN_FILE_H
#define M2_MODEL_GOLDEN_FILE_H

#include "backends/conformance/golden.h"

/* A golden_read_fn: every tensor as doubles.  The file must have the SHA-256
 * that is given, if one is. */
int golden_file_read(const char *path, const char *sha256,
                     struct golden_file *out, struct m2_error *err);

#endif
