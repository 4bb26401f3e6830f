/* Time zones: from local times to UTC.
 *
 * Zones come from the system's zone files (TZif, RFC 9636) under $TZDIR or
 * /usr/share/zoneinfo, so their rules are as new as the system's. */
#ifndef M2_CSV_ZONE_H
#define M2_CSV_ZONE_H

#include <stdbool.h>

#include "m2_plugin.h"

/* From `from` (seconds since 1970 UTC) until the next span, local time is
 * UTC + offset seconds. */
struct zone_span {
    int64_t from;
    int32_t offset;
};

struct zone {
    char *name;
    struct zone_span *spans; /* spans[0].from is INT64_MIN */
    size_t n, capacity;
    size_t latest; /* the span that was looked at last */
};

/* "UTC", an offset as "-05:00", or the name of a zone file as
 * America/New_York.  M2_E_CONFIG when there is no such zone, or its file is
 * damaged.  The caller frees *out with zone_free. */
int zone_open(const char *name, struct zone **out, struct m2_error *err);
void zone_free(struct zone *zone); /* NULL is allowed */

/* Seconds of local time (as if it were UTC) to seconds since 1970 UTC.
 * M2_E_DATA, with the reason but without a place, for a local time that a
 * change of daylight saving time skips or repeats. */
int zone_to_utc(struct zone *zone, int64_t local, int64_t *utc,
                struct m2_error *err);

/* "Z", "+0530", "-05:00", "+02": seconds east of UTC, and how many characters
 * it took; 0 when the text begins with no offset. */
size_t zone_read_offset(const char *text, size_t n, int *seconds);

/* Adds a span; it must begin after the last one. */
int zone_add_span(struct zone *zone, int64_t from, int32_t offset,
                  struct m2_error *err);

/* tzif.c: the spans of a zone file's bytes.  M2_E_CONFIG when they are damaged;
 * name is for the message. */
int zone_parse(struct zone *zone, const uint8_t *bytes, size_t n,
               struct m2_error *err);

/* posix_zone.c: goes on after the last span up to the year 2200, as a rule like
 * "EST5EDT,M3.2.0,M11.1.0" says (POSIX.1-2017, 8.3; hours as in RFC 9636).
 * M2_E_CONFIG when it is none. */
int zone_extend(struct zone *zone, const char *rule, struct m2_error *err);

#endif
