/* Times as text, to ns since 1970-01-01 UTC.
 *
 * Without a format the first time decides what all the others are:
 *  - calendar times that put the year first, as ISO 8601 and RFC 3339 do:
 *    2014-05-01, 2014-05-01 10:30, 2014-05-01T10:30:00.25Z,
 *    2014/05/01 10:30:00-04:00, 2014.05.01 10:30;
 *  - or counts since 1970 in a unit told by their size, from 1972 on.
 * Anything that could be read in two ways is refused.  Times are either all
 * with an offset from UTC or all without; the latter are in the given zone. */
#ifndef M2_CSV_TIMES_H
#define M2_CSV_TIMES_H

#include "csv/pattern.h"
#include "csv/zone.h"

enum time_kind {
    TIME_AUTO,     /* not known yet */
    TIME_CALENDAR, /* year first, as above */
    TIME_EPOCH,    /* a count of unit_ns since start */
    TIME_PATTERN,
};

struct times {
    enum time_kind kind;
    bool guessed;        /* kind and unit were told from the first time */
    int64_t unit_ns;     /* TIME_EPOCH */
    int64_t start;       /* TIME_EPOCH: what is counted from */
    const char *pattern; /* borrowed; TIME_PATTERN: see pattern.h */
    bool has_first, with_offset; /* of the first time */
    struct zone *zone;           /* borrowed; of times without an offset */
};

/* M2_E_DATA and the reason, without the place: the text is no such time, does
 * not exist in the zone, lies outside 1900 to 2200. */
int times_read(struct times *times, const char *text, size_t n, int64_t *out,
               struct m2_error *err);

/* Would the text pass as a calendar time without a format? */
bool times_is_calendar(const char *text, size_t n);

/* "s", "ms", "us" or "ns" to ns; 0 for anything else. */
int64_t times_unit(const char *name);
const char *times_unit_name(int64_t unit_ns); /* "seconds", ... */

#endif
