/* Calendar arithmetic: UTC dates and times as ns since 1970-01-01. */
#ifndef M2_PLUGINS_COMMON_CIVIL_H
#define M2_PLUGINS_COMMON_CIVIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_SECOND INT64_C(1000000000)
#define NS_PER_DAY    (86400 * NS_PER_SECOND)

/* A date and time of day, as written. */
struct civil {
    int year, month, day;     /* 1-12, 1-31 */
    int hour, minute, second; /* 24:00:00 is not a time here */
    int ns;                   /* 0 .. 999999999 */
};

/* Times are refused outside these years, so that ns fit in 64 bits and a
 * mistaken unit is found. */
enum { CIVIL_FIRST_YEAR = 1900, CIVIL_LAST_YEAR = 2200 };

/* Days since 1970-01-01 of a date of the Gregorian calendar. */
int64_t civil_days(int year, int month, int day);

/* The date of such a day: year, month and day are set, the rest is 0. */
struct civil civil_date(int64_t days);

int civil_month_length(int year, int month);

/* Does such a date and time exist, within the years accepted? */
bool civil_is_valid(const struct civil *civil);

/* ns since 1970 of a valid date and time, read as UTC. */
int64_t civil_ns(const struct civil *civil);

/* The UTC day (since 1970) that holds the instant. */
static inline int64_t civil_day_of(int64_t ns)
{
    return ns / NS_PER_DAY - (ns % NS_PER_DAY < 0);
}

/* "2024-01-03T00:05:00Z", with as many decimals as are needed.  Returns out. */
enum { CIVIL_TEXT = 40 };
char *civil_text(int64_t ns, char out[CIVIL_TEXT]);

/* "500ms", "1s", "5m", "1h", "1d" to ns > 0; false for anything else. */
bool civil_duration(const char *text, int64_t *ns);

/* ns to such a text.  Returns out. */
char *civil_duration_text(int64_t ns, char out[CIVIL_TEXT]);

#endif
