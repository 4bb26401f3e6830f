/* Time zones of a fixed offset. */
#include "csv/zone.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

struct zone {
    int64_t offset; /* seconds east of UTC */
};

static bool two_digits(const char *text, size_t n, size_t at, int *out)
{
    if (at + 2 > n || text[at] < '0' || text[at] > '9' || text[at + 1] < '0' ||
        text[at + 1] > '9')
        return false;
    *out = 10 * (text[at] - '0') + (text[at + 1] - '0');
    return true;
}

size_t zone_read_offset(const char *text, size_t n, int *seconds)
{
    int hours, minutes = 0;
    size_t used = 3;

    if (n > 0 && (text[0] == 'Z' || text[0] == 'z')) {
        *seconds = 0;
        return 1;
    }
    if (n == 0 || (text[0] != '+' && text[0] != '-') ||
        !two_digits(text, n, 1, &hours))
        return 0;
    if (used < n && text[used] == ':' && two_digits(text, n, 4, &minutes))
        used = 6;
    else if (two_digits(text, n, 3, &minutes))
        used = 5;
    if (hours > 23 || minutes > 59)
        return 0;
    *seconds = (text[0] == '-' ? -60 : 60) * (60 * hours + minutes);
    return used;
}

int zone_open(const char *name, struct zone **out, struct m2_error *err)
{
    size_t n = strlen(name);
    int seconds = 0;

    if (strcmp(name, "UTC") != 0 &&
        (n == 0 || zone_read_offset(name, n, &seconds) != n))
        return m2_fail(err, M2_E_CONFIG,
                       "data.options.timezone: there is no zone '%s'", name);
    struct zone *zone = memory_zeroed(1, sizeof *zone, err);
    if (zone == NULL)
        return M2_E_MEMORY;
    zone->offset = seconds;
    *out = zone;
    return M2_OK;
}

void zone_free(struct zone *zone)
{
    free(zone);
}

int zone_to_utc(struct zone *zone, int64_t local, int64_t *utc,
                struct m2_error *err)
{
    (void)err;
    *utc = local - zone->offset;
    return M2_OK;
}
