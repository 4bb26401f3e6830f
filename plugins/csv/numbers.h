/* Numbers as text: exact, and the same under every locale. */
#ifndef M2_CSV_NUMBERS_H
#define M2_CSV_NUMBERS_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

struct number_format {
    char decimal;               /* '.' or ',' */
    char thousands;             /* 0: none */
    const char *const *missing; /* borrowed: further texts of a missing value */
    size_t n_missing;
    locale_t c_locale;
};

enum number_kind {
    NUMBER_VALUE,
    NUMBER_MISSING,  /* empty, NA, N/A, #N/A, NaN, null, None, -, or listed */
    NUMBER_INFINITE, /* inf, infinity, with or without a sign */
    NUMBER_TOO_LARGE,
    NUMBER_NONE, /* any other text */
};

/* The double nearest to the decimal number, or a NaN.  The whole text must be
 * a number: sign, digits with thousands separators between groups of three,
 * a decimal mark, an exponent. */
enum number_kind number_read(const struct number_format *format,
                             const char *text, size_t n, double *out);

/* The option that would make a number of this text, as `decimal: ","`, or
 * NULL. */
const char *number_hint(const struct number_format *format, const char *text,
                        size_t n);

#endif
