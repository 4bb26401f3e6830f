/* Calendar times with the year first, and counts since an epoch. */
#include "csv/times.h"

#include <string.h>

/* 1900-01-01 and 2201-01-01, in seconds since 1970. */
#define FIRST_SECOND INT64_C(-2208988800)
#define END_SECOND   INT64_C(7289654400)

/* Where a text is being read. */
struct text_scan {
    const char *at, *end;
};

static bool take(struct text_scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

/* Exactly `digits` digits. */
static bool take_number(struct text_scan *scan, int digits, int *out)
{
    int value = 0;

    if (scan->end - scan->at < digits)
        return false;
    for (int i = 0; i < digits; i++) {
        char c = scan->at[i];
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (c - '0');
    }
    scan->at += digits;
    *out = value;
    return true;
}

static bool take_date(struct text_scan *scan, struct civil *civil)
{
    if (!take_number(scan, 4, &civil->year) || scan->at == scan->end)
        return false;
    char mark = *scan->at;
    return (mark == '-' || mark == '/' || mark == '.') && take(scan, mark) &&
           take_number(scan, 2, &civil->month) && take(scan, mark) &&
           take_number(scan, 2, &civil->day);
}

static bool take_clock(struct text_scan *scan, struct civil *civil)
{
    if (!take_number(scan, 2, &civil->hour) || !take(scan, ':') ||
        !take_number(scan, 2, &civil->minute))
        return false;
    if (!take(scan, ':'))
        return true;
    if (!take_number(scan, 2, &civil->second))
        return false;
    if (!take(scan, '.') && !take(scan, ','))
        return true;
    return pattern_read_fraction(&scan->at, scan->end, &civil->ns);
}

static bool take_offset(struct text_scan *scan, struct written_time *out)
{
    size_t n;

    if (scan->at == scan->end)
        return true;
    take(scan, ' ');
    n = (size_t)(scan->end - scan->at);
    out->with_offset = true;
    if (n == 3 && memcmp(scan->at, "UTC", 3) == 0)
        return true;
    return n > 0 && zone_read_offset(scan->at, n, &out->offset) == n;
}

static bool read_calendar(const char *text, size_t n, struct written_time *out)
{
    struct text_scan scan = {.at = text, .end = text + n};

    *out = (struct written_time){0};
    if (!take_date(&scan, &out->civil))
        return false;
    if (scan.at == scan.end)
        return true;
    if (!take(&scan, 'T') && !take(&scan, 't')) {
        if (!take(&scan, ' '))
            return false;
        while (take(&scan, ' '))
            continue;
    }
    return take_clock(&scan, &out->civil) && take_offset(&scan, out);
}

bool times_is_calendar(const char *text, size_t n)
{
    struct written_time written;

    return read_calendar(text, n, &written);
}

/* ---- counts ----------------------------------------------------------- */

static const struct {
    const char *name, *long_name;
    int64_t ns;
} units[] = {{"s", "seconds", 1000000000},
             {"ms", "milliseconds", 1000000},
             {"us", "microseconds", 1000},
             {"ns", "nanoseconds", 1}};

enum { N_UNITS = sizeof units / sizeof units[0] };

int64_t times_unit(const char *name)
{
    for (size_t i = 0; i < N_UNITS; i++)
        if (strcmp(units[i].name, name) == 0)
            return units[i].ns;
    return 0;
}

const char *times_unit_name(int64_t unit_ns)
{
    size_t i = 0;

    while (units[i].ns != unit_ns)
        i++;
    return units[i].long_name;
}

/* Digits, with a sign before and decimals behind, in units of unit_ns. */
struct count {
    bool negative;
    int64_t whole;
    int ns_of_unit; /* decimals, in units of 1e-9 */
    int digits;     /* of the whole part */
};

static bool read_count(const char *text, size_t n, struct count *out)
{
    struct text_scan scan = {.at = text, .end = text + n};

    *out = (struct count){.negative = take(&scan, '-')};
    for (; scan.at < scan.end && *scan.at >= '0' && *scan.at <= '9';
         scan.at++, out->digits++)
        if (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
            __builtin_add_overflow(out->whole, *scan.at - '0', &out->whole))
            return false;
    if (out->digits > 0 && take(&scan, '.') &&
        !pattern_read_fraction(&scan.at, scan.end, &out->ns_of_unit))
        return false;
    return out->digits > 0 && scan.at == scan.end;
}

/* From 1972 to 2200 the units cannot be mixed up: the largest count of one is
 * smaller than the smallest of the next. */
static int64_t guess_unit(const struct count *count)
{
    static const int64_t from = 63072000, until = END_SECOND;
    int64_t scale = 1;

    if (count->negative)
        return 0;
    for (size_t i = 0; i < N_UNITS; i++, scale *= 1000)
        if (count->whole >= from * scale && count->whole < until * scale)
            return units[i].ns;
    return 0;
}

/* 20140501, 2014050110 and 201405011030 are dates to most who write them. */
static bool may_be_date(size_t n, const struct count *count)
{
    int64_t digits = count->whole;
    struct civil civil = {0};

    if (n == 12) {
        civil.minute = (int)(digits % 100);
        digits /= 100;
    }
    if (n >= 10) {
        civil.hour = (int)(digits % 100);
        digits /= 100;
    }
    civil.year = (int)(digits / 10000);
    civil.month = (int)(digits / 100 % 100);
    civil.day = (int)(digits % 100);
    return (n == 8 || n == 10 || n == 12) && civil_is_valid(&civil);
}

static int read_epoch(const struct times *times, const char *text, size_t n,
                      int64_t *out, struct m2_error *err)
{
    struct count count;
    int64_t ns, part;

    if (!read_count(text, n, &count))
        return m2_fail(err, M2_E_DATA, "not a count of %s",
                       times_unit_name(times->unit_ns));
    part = count.ns_of_unit * times->unit_ns / NS_PER_SECOND;
    if (__builtin_mul_overflow(count.whole, times->unit_ns, &ns) ||
        __builtin_add_overflow(ns, part, &ns) ||
        __builtin_add_overflow(times->start, count.negative ? -ns : ns, &ns))
        return m2_fail(err, M2_E_DATA, "outside the years 1900 to 2200");
    if (ns < FIRST_SECOND * NS_PER_SECOND || ns >= END_SECOND * NS_PER_SECOND)
        return m2_fail(err, M2_E_DATA,
                       "as a count of %s it lies outside the years 1900 to "
                       "2200",
                       times_unit_name(times->unit_ns));
    *out = ns;
    return M2_OK;
}

/* ---- the first time, and the others ----------------------------------- */

static int fail_unknown(const char *text, size_t n, struct m2_error *err)
{
    char hint[PATTERN_HINT];

    pattern_hint(text, n, hint);
    return m2_fail(err, M2_E_DATA,
                   "not a time that puts the year first "
                   "(2014-05-01T10:30:00Z), nor a count since 1970; %s%s",
                   hint[0] != '\0' ? hint
                                   : "`time_format` says how it is written",
                   hint[0] != '\0' ? " reads it" : "");
}

static int fail_date(const char *text, size_t n, struct m2_error *err)
{
    char hint[PATTERN_HINT];

    pattern_hint(text, n, hint);
    return m2_fail(err, M2_E_DATA,
                   "a date, or a count since 1970? %s or `time_format: "
                   "epoch_s` (epoch_ms, epoch_us, epoch_ns) decides",
                   hint);
}

static int guess(struct times *times, const char *text, size_t n,
                 struct m2_error *err)
{
    struct written_time written;
    struct count count;

    times->guessed = true;
    if (read_calendar(text, n, &written)) {
        times->kind = TIME_CALENDAR;
        return M2_OK;
    }
    if (!read_count(text, n, &count))
        return fail_unknown(text, n, err);
    if (may_be_date(n, &count))
        return fail_date(text, n, err);
    times->unit_ns = guess_unit(&count);
    if (times->unit_ns == 0 && n == 14)
        return fail_unknown(text, n, err);
    if (times->unit_ns == 0)
        return m2_fail(err, M2_E_DATA,
                       "a count whose unit cannot be told by its size; "
                       "`time_format: epoch_s` (epoch_ms, epoch_us, epoch_ns) "
                       "names it");
    times->kind = TIME_EPOCH;
    return M2_OK;
}

static int to_utc(struct times *times, const struct written_time *written,
                  int64_t *out, struct m2_error *err)
{
    int64_t local, seconds = 0;

    if (!civil_is_valid(&written->civil))
        return m2_fail(err, M2_E_DATA,
                       "no such date or time of day between the years 1900 "
                       "and 2200");
    if (!times->has_first) {
        times->has_first = true;
        times->with_offset = written->with_offset;
    }
    if (times->with_offset != written->with_offset)
        return m2_fail(err, M2_E_DATA,
                       "a time %s an offset from UTC, unlike the first one",
                       written->with_offset ? "with" : "without");
    local = civil_ns(&written->civil);
    int64_t whole = civil_day_of(local) * 86400 +
                    (local - civil_day_of(local) * NS_PER_DAY) / NS_PER_SECOND;
    if (written->with_offset)
        seconds = whole - written->offset;
    else {
        int status = zone_to_utc(times->zone, whole, &seconds, err);
        if (status != M2_OK)
            return status;
    }
    *out = seconds * NS_PER_SECOND + written->civil.ns;
    return M2_OK;
}

int times_read(struct times *times, const char *text, size_t n, int64_t *out,
               struct m2_error *err)
{
    struct written_time written;

    if (times->kind == TIME_AUTO) {
        int status = guess(times, text, n, err);
        if (status != M2_OK)
            return status;
    }
    if (times->kind == TIME_EPOCH)
        return read_epoch(times, text, n, out, err);
    if (times->kind == TIME_PATTERN &&
        !pattern_read(times->pattern, text, n, &written))
        return m2_fail(err, M2_E_DATA,
                       "not a time as `time_format: \"%s\"` says",
                       times->pattern);
    if (times->kind == TIME_CALENDAR && !read_calendar(text, n, &written))
        return fail_unknown(text, n, err);
    return to_utc(times, &written, out, err);
}
