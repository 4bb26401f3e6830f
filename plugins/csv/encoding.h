/* What a file is that is not text. */
#ifndef M2_CSV_ENCODING_H
#define M2_CSV_ENCODING_H

#include <stddef.h>

/* The name of a format, by its first bytes, and what to do about it; NULL for
 * what may be text. */
struct not_text {
    const char *name, *advice;
};
const struct not_text *encoding_not_text(const char *bytes, size_t n);

#endif
