/* Times: int64 nanoseconds since 1970-01-01T00:00:00Z, and their text form.
 * Always UTC, proleptic Gregorian, no leap seconds, no time zone database. */
#ifndef M2_UTIL_TIMEFMT_H
#define M2_UTIL_TIMEFMT_H

#include <stdbool.h>
#include <stdint.h>

#define M2_NS_PER_SECOND INT64_C(1000000000)
#define M2_NS_PER_DAY    (86400 * M2_NS_PER_SECOND)

enum { TIME_TEXT_SIZE = 40 };

struct civil_date {
    int64_t year;
    int month; /* 1 .. 12 */
    int day;   /* 1 .. 31 */
};

/* Days since 1970-01-01. The date must be a valid one. */
int64_t days_from_civil(struct civil_date date);
struct civil_date civil_from_days(int64_t days);
bool civil_is_valid(struct civil_date date);

/* Days since 1970-01-01 of a time; rounds down before 1970, too. */
int64_t days_from_time(int64_t time_ns);

/* RFC 3339: 2024-01-02T03:04:05Z, with as many decimals as the time needs.
 * Returns out. */
char *time_print(int64_t time_ns, char out[TIME_TEXT_SIZE]);

/* Reads RFC 3339, with T or a blank, up to nine decimals, Z or +hh:mm. May
 * lack: the zone (UTC), the seconds, the time of day (midnight). False, and
 * *out untouched, for anything else, for 24:00 and 23:59:60, and for years
 * that int64 nanoseconds cannot hold (before 1678, after 2261). */
bool time_parse(const char *text, int64_t *out);

int64_t time_now(void);      /* of the wall clock; never used for results */
double time_monotonic(void); /* seconds since some fixed moment */

#endif
