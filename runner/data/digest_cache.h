/* SHA-256 of data files, remembered between programs.
 *
 * One small file per path under $XDG_CACHE_HOME/m2run (or ~/.cache/m2run)
 * holds size, time of modification, digest and path.  It is written under a
 * name of its own and renamed, so any number of programs may do so at once; a
 * cache that cannot be read or written changes nothing but the time taken.  A
 * file that was modified within the last seconds is not remembered: it could
 * be modified again without its time changing. */
#ifndef M2_DATA_DIGEST_CACHE_H
#define M2_DATA_DIGEST_CACHE_H

#include "util/sha256.h"

/* Digest of a file in hex; M2_E_DATA when it cannot be read. */
int digest_file(const char *path, char out[SHA256_HEX_SIZE],
                struct m2_error *err);

#endif
