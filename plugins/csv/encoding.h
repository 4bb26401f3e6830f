/* What is text, and what a file is that is not. */
#ifndef M2_CSV_ENCODING_H
#define M2_CSV_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

/* The name of a format, by its first bytes, and what to do about it; NULL for
 * what may be text. */
struct not_text {
    const char *name, *advice;
};
const struct not_text *encoding_not_text(const char *bytes, size_t n);

/* Length of the UTF-8 character at the beginning of n bytes, or 0 when there
 * is none (RFC 3629: no surrogates, nothing in a longer form than needed). */
size_t utf8_character(const char *bytes, size_t n);

/* Can the text be a name: UTF-8 without control characters? */
bool utf8_is_name(const char *text, size_t n);

#endif
