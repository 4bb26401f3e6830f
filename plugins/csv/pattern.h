/* Times as a pattern describes them, in the manner of strptime(3), but the
 * same under every locale and with fractions of a second.
 *
 *   %Y %y %m %d   year, year of 1969-2068, month, day (one digit will do)
 *   %b %B         English name of a month, in full or three letters
 *   %H %M %S      hour 0-23, minute, second
 *   %I %p         hour 1-12, AM or PM
 *   %f            decimals of a second
 *   %z            offset from UTC: Z, +05:30, -0400
 *   %a %A         a name of a weekday, which decides nothing
 *   %F %T         %Y-%m-%d and %H:%M:%S
 *   %%            a percent sign
 *   blank         one blank or more
 * Other characters stand for themselves. */
#ifndef M2_CSV_PATTERN_H
#define M2_CSV_PATTERN_H

#include "common/civil.h"
#include "m2_plugin.h"

/* A time as it is written somewhere, not checked yet. */
struct written_time {
    struct civil civil;
    bool with_offset;
    int offset; /* seconds east of UTC */
};

/* M2_E_CONFIG and what is wrong with the pattern: an unknown field, one that
 * comes twice, a date that is not complete. */
int pattern_check(const char *pattern, struct m2_error *err);

/* Does the text, from its beginning to its end, follow a pattern that passed
 * the check? */
bool pattern_read(const char *pattern, const char *text, size_t n,
                  struct written_time *out);

/* Patterns that the text follows, as a part of a message: `time_format:
 * "%d.%m.%Y"`, with another where there are two.  Empty if there is none. */
enum { PATTERN_HINT = 160 };
void pattern_hint(const char *text, size_t n, char out[PATTERN_HINT]);

/* Decimals of a second at *at, before end: all digits that are there; those
 * beyond ns must be 0.  False when there is none. */
bool pattern_read_fraction(const char **at, const char *end, int *ns);

#endif
