/* Time zones: from local times to UTC. */
#ifndef M2_CSV_ZONE_H
#define M2_CSV_ZONE_H

#include <stdbool.h>

#include "m2_plugin.h"

struct zone;

/* "UTC", an offset as "-05:00", or a name of the system's zone files as
 * America/New_York.  M2_E_CONFIG when there is no such zone.  The caller frees
 * *out with zone_free. */
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

#endif
