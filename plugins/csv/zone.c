/* Time zones: names, and local time to UTC. */
#include "csv/zone.h"

#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "common/memory.h"

/* No zone is farther from UTC than this. */
enum { MAX_OFFSET = 26 * 3600, MAX_ZONE_FILE = 1 << 20 };

/* ---- offsets ---------------------------------------------------------- */

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

/* ---- local time to UTC ------------------------------------------------ */

int zone_add_span(struct zone *zone, int64_t from, int32_t offset,
                  struct m2_error *err)
{
    struct zone_span *spans = memory_grow(zone->spans, &zone->capacity,
                                          zone->n + 1, sizeof *spans, err);

    if (spans == NULL)
        return M2_E_MEMORY;
    zone->spans = spans;
    zone->spans[zone->n++] = (struct zone_span){from, offset};
    return M2_OK;
}

static int64_t end_of(const struct zone *zone, size_t i)
{
    return i + 1 < zone->n ? zone->spans[i + 1].from : INT64_MAX;
}

/* The span that holds an instant. */
static size_t find_span(const struct zone *zone, int64_t utc)
{
    size_t low = 0, high = zone->n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zone->spans[middle].from <= utc)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int fail_change(const struct zone *zone, const char *what,
                       struct m2_error *err)
{
    return m2_fail(err, M2_E_DATA,
                   "a change of the clocks in %s (daylight saving time) %s "
                   "this local time; times in UTC, or with an offset, do not "
                   "have this",
                   zone->name, what);
}

/* Every span whose own offset puts the time into it gives an answer. */
static int search(struct zone *zone, int64_t local, int64_t *utc,
                  struct m2_error *err)
{
    size_t first = find_span(zone, local - MAX_OFFSET), found = 0;

    for (size_t i = first;
         i < zone->n &&
         (i == first || zone->spans[i].from <= local + MAX_OFFSET);
         i++) {
        int64_t candidate = local - zone->spans[i].offset;
        if (candidate < zone->spans[i].from || candidate >= end_of(zone, i))
            continue;
        *utc = candidate;
        zone->latest = i;
        found++;
    }
    if (found == 1)
        return M2_OK;
    return fail_change(zone, found == 0 ? "skips" : "repeats", err);
}

int zone_to_utc(struct zone *zone, int64_t local, int64_t *utc,
                struct m2_error *err)
{
    const struct zone_span *latest = &zone->spans[zone->latest];

    /* far from both ends of the span, one answer is certain */
    if ((zone->latest == 0 || local - MAX_OFFSET > latest->from) &&
        (zone->latest + 1 == zone->n ||
         local + MAX_OFFSET < end_of(zone, zone->latest))) {
        *utc = local - latest->offset;
        return M2_OK;
    }
    return search(zone, local, utc, err);
}

/* ---- names ------------------------------------------------------------ */

/* A name is a path below the folder of zones, nothing else. */
static bool is_zone_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_+-/";

    return name[0] != '\0' && name[0] != '/' &&
           name[strspn(name, allowed)] == '\0';
}

static int fail_name(const char *name, const char *folder, struct m2_error *err)
{
    return m2_fail(err, M2_E_CONFIG,
                   "data.options.timezone: there is no zone '%s' in %s; a "
                   "zone is UTC, an offset as -05:00, or a name as "
                   "America/New_York",
                   name, folder);
}

static int read_file(struct input *input, uint8_t *bytes, size_t *n,
                     struct m2_error *err)
{
    size_t got = 1;
    int status = M2_OK;

    for (*n = 0; status == M2_OK && got > 0 && *n < MAX_ZONE_FILE; *n += got)
        status = input_read(input, bytes + *n, MAX_ZONE_FILE - *n, &got, err);
    return status;
}

static int open_file(struct zone *zone, struct m2_error *err)
{
    const char *folder = getenv("TZDIR");
    char path[4096];
    struct input input;
    size_t n = 0;

    if (folder == NULL || folder[0] == '\0')
        folder = "/usr/share/zoneinfo";
    snprintf(path, sizeof path, "%s/%s", folder, zone->name);
    const struct input_source source = {.path = path};
    if (!is_zone_name(zone->name) || input_open(&input, &source, err) != M2_OK)
        return fail_name(zone->name, folder, err);
    uint8_t *bytes = memory_zeroed(MAX_ZONE_FILE, 1, err);
    int status = bytes == NULL ? M2_E_MEMORY : M2_OK;
    if (status == M2_OK)
        status = read_file(&input, bytes, &n, err);
    if (status == M2_OK)
        status = zone_parse(zone, bytes, n, err);
    free(bytes);
    input_close(&input);
    return status;
}

int zone_open(const char *name, struct zone **out, struct m2_error *err)
{
    size_t n = strlen(name);
    int seconds = 0, status;
    struct zone *zone = memory_zeroed(1, sizeof *zone, err);

    if (zone == NULL)
        return M2_E_MEMORY;
    zone->name = memory_string(name, n, err);
    if (zone->name == NULL)
        status = M2_E_MEMORY;
    else if (strcmp(name, "UTC") == 0 ||
             (n > 0 && zone_read_offset(name, n, &seconds) == n))
        status = zone_add_span(zone, INT64_MIN, seconds, err);
    else
        status = open_file(zone, err);
    if (status != M2_OK) {
        zone_free(zone);
        return status;
    }
    *out = zone;
    return M2_OK;
}

void zone_free(struct zone *zone)
{
    if (zone == NULL)
        return;
    free(zone->spans);
    free(zone->name);
    free(zone);
}
