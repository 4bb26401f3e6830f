/* Times: int64 nanoseconds since 1970-01-01T00:00:00Z, and their text form. */
#include "util/timefmt.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SECONDS_PER_DAY = 86400 };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    return a % b + (a % b < 0 ? b : 0);
}

static int days_in_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

/* Exactly n digits; advances *text past them. */
static bool take_digits(const char **text, int n, int *out)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        char c = (*text)[i];

        if (c < '0' || c > '9')
            return false;
        value = 10 * value + (c - '0');
    }
    *text += n;
    *out = value;
    return true;
}

static bool take_char(const char **text, char c)
{
    if (**text != c)
        return false;
    (*text)++;
    return true;
}

static bool take_date(const char **text, int64_t *days)
{
    int year, month, day;
    struct civil_date date;

    if (!take_digits(text, 4, &year) || !take_char(text, '-') ||
        !take_digits(text, 2, &month) || !take_char(text, '-') ||
        !take_digits(text, 2, &day))
        return false;
    date = (struct civil_date){year, month, day};
    if (!civil_is_valid(date))
        return false;
    *days = days_from_civil(date);
    return true;
}

/* hh:mm; seconds since midnight */
static bool take_minutes(const char **text, int *seconds)
{
    int hour, minute;

    if (!take_digits(text, 2, &hour) || !take_char(text, ':') ||
        !take_digits(text, 2, &minute) || hour > 23 || minute > 59)
        return false;
    *seconds = 3600 * hour + 60 * minute;
    return true;
}

/* One to nine decimals, as nanoseconds */
static bool take_decimals(const char **text, int *ns)
{
    size_t n = strspn(*text, "0123456789");

    if (n == 0 || n > 9 || !take_digits(text, (int)n, ns))
        return false;
    for (; n < 9; n++)
        *ns *= 10;
    return true;
}

static bool take_time_of_day(const char **text, int *seconds, int *ns)
{
    int second;

    if (!take_minutes(text, seconds))
        return false;
    if (!take_char(text, ':'))
        return true;
    if (!take_digits(text, 2, &second) || second > 59)
        return false;
    *seconds += second;
    return !take_char(text, '.') || take_decimals(text, ns);
}

static bool take_zone(const char **text, int *offset)
{
    int sign;

    if (**text == '\0' || take_char(text, 'Z') || take_char(text, 'z'))
        return true;
    sign = **text == '-' ? -1 : 1;
    if (!take_char(text, '+') && !take_char(text, '-'))
        return false;
    if (!take_minutes(text, offset))
        return false;
    *offset *= sign;
    return true;
}

/* The calendar is counted in 400-year eras of 146097 days whose years begin on
 * 1 March, so that the leap day is the last one of a year (Hinnant). */
int64_t days_from_civil(struct civil_date date)
{
    int64_t year = date.year - (date.month <= 2);
    int64_t era = floor_div(year, 400);
    int64_t year_of_era = year - 400 * era;
    int64_t month = (date.month + 9) % 12; /* March is 0 */
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    int64_t day_of_era =
        365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return 146097 * era + day_of_era - 719468;
}

struct civil_date civil_from_days(int64_t days)
{
    int64_t shifted = days + 719468; /* from 0000-03-01 */
    int64_t era = floor_div(shifted, 146097);
    int64_t day_of_era = shifted - 146097 * era;
    int64_t year = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
                    day_of_era / 146096) /
                   365;
    int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* March is 0 */
    struct civil_date date = {
        .month = (int)(month < 10 ? month + 3 : month - 9),
        .day = (int)(day_of_year - (153 * month + 2) / 5 + 1),
    };

    date.year = year + 400 * era + (date.month <= 2);
    return date;
}

bool civil_is_valid(struct civil_date date)
{
    return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
           date.day <= days_in_month(date.year, date.month);
}

int64_t days_from_time(int64_t time_ns)
{
    return floor_div(time_ns, M2_NS_PER_DAY);
}

char *time_print(int64_t time_ns, char out[TIME_TEXT_SIZE])
{
    int64_t seconds = floor_div(time_ns, M2_NS_PER_SECOND);
    int64_t days = floor_div(seconds, SECONDS_PER_DAY);
    /* not time_ns - seconds * 1e9: the product may be below INT64_MIN */
    int ns = (int)floor_mod(time_ns, M2_NS_PER_SECOND);
    int of_day = (int)(seconds - days * SECONDS_PER_DAY);
    struct civil_date date = civil_from_days(days);
    int length = snprintf(out, TIME_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d",
                          (int)date.year, date.month, date.day, of_day / 3600,
                          of_day / 60 % 60, of_day % 60);

    if (ns != 0) {
        length += snprintf(out + length, TIME_TEXT_SIZE - (size_t)length,
                           ".%09d", ns);
        while (out[length - 1] == '0')
            length--;
    }
    strcpy(out + length, "Z");
    return out;
}

bool time_parse(const char *text, int64_t *out)
{
    int64_t days, time_ns;
    int seconds = 0, ns = 0, offset = 0;

    if (!take_date(&text, &days))
        return false;
    if (*text != '\0') {
        if (!take_char(&text, 'T') && !take_char(&text, 't') &&
            !take_char(&text, ' '))
            return false;
        if (!take_time_of_day(&text, &seconds, &ns) ||
            !take_zone(&text, &offset) || *text != '\0')
            return false;
    }
    if (__builtin_mul_overflow(days * SECONDS_PER_DAY + seconds - offset,
                               M2_NS_PER_SECOND, &time_ns) ||
        __builtin_add_overflow(time_ns, ns, &time_ns))
        return false;
    *out = time_ns;
    return true;
}

int64_t time_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * M2_NS_PER_SECOND + now.tv_nsec;
}

double time_monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
