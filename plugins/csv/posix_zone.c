/* Rules for the changes of a zone's clocks in every year to come. */
#include "csv/zone.h"

#include <string.h>

#include "common/civil.h"

/* A day of the year, and the local time of the change on it. */
struct change {
    char kind; /* 'M': month, week, weekday; 'J': day 1-365, never a leap day;
                  'D': day 0-365 */
    int month, week, day;
    int seconds; /* may lie outside the day */
};

struct rule {
    int standard, daylight; /* seconds east of UTC */
    bool has_daylight;
    struct change start, end;
};

static bool take(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

static bool take_int(const char **at, int low, int high, int *out)
{
    int value = 0;
    const char *start = *at;

    for (; **at >= '0' && **at <= '9'; ++*at) {
        value = value * 10 + (**at - '0');
        if (value > high)
            return false;
    }
    *out = value;
    return *at > start && value >= low;
}

/* "EST" or "<+0330>": nothing depends on it. */
static bool take_name(const char **at)
{
    const char *start = *at;

    if (take(at, '<')) {
        *at += strcspn(*at, ">");
        return take(at, '>');
    }
    while ((**at >= 'A' && **at <= 'Z') || (**at >= 'a' && **at <= 'z'))
        ++*at;
    return *at - start >= 3;
}

/* [+-]hh[:mm[:ss]] */
static bool take_clock(const char **at, int *seconds)
{
    bool negative = take(at, '-');
    int hours, minutes = 0, rest = 0;

    if (!negative)
        take(at, '+');
    if (!take_int(at, 0, 167, &hours))
        return false;
    if (take(at, ':') && !take_int(at, 0, 59, &minutes))
        return false;
    if (take(at, ':') && !take_int(at, 0, 59, &rest))
        return false;
    *seconds = (hours * 60 + minutes) * 60 + rest;
    if (negative)
        *seconds = -*seconds;
    return true;
}

static bool take_change(const char **at, struct change *out)
{
    bool ok;

    *out = (struct change){.kind = 'D', .seconds = 7200};
    if (take(at, 'M')) {
        out->kind = 'M';
        ok = take_int(at, 1, 12, &out->month) && take(at, '.') &&
             take_int(at, 1, 5, &out->week) && take(at, '.') &&
             take_int(at, 0, 6, &out->day);
    } else if (take(at, 'J')) {
        out->kind = 'J';
        ok = take_int(at, 1, 365, &out->day);
    } else {
        ok = take_int(at, 0, 365, &out->day);
    }
    if (ok && take(at, '/'))
        ok = take_clock(at, &out->seconds);
    return ok;
}

/* Offsets are written west of UTC there. */
static bool read_rule(const char *text, struct rule *out)
{
    const char **at = &text;

    *out = (struct rule){0};
    if (!take_name(at) || !take_clock(at, &out->standard))
        return false;
    out->standard = -out->standard;
    if (**at == '\0')
        return true;
    out->has_daylight = true;
    out->daylight = out->standard + 3600;
    if (!take_name(at))
        return false;
    if (**at != ',') {
        if (!take_clock(at, &out->daylight))
            return false;
        out->daylight = -out->daylight;
    }
    return take(at, ',') && take_change(at, &out->start) && take(at, ',') &&
           take_change(at, &out->end) && **at == '\0';
}

/* Days since 1970 of a change in a year. */
static int64_t day_of(const struct change *change, int year)
{
    int64_t january = civil_days(year, 1, 1), first;

    if (change->kind == 'D')
        return january + change->day;
    if (change->kind == 'J') {
        bool after_leap_day =
            civil_month_length(year, 2) == 29 && change->day >= 60;
        return january + change->day - 1 + after_leap_day;
    }
    first = civil_days(year, change->month, 1);
    /* 1970-01-01 was a Thursday, day 4 of its week */
    int64_t weekday = ((first + 4) % 7 + 7) % 7;
    int64_t day = (change->day - weekday + 7) % 7 + 7 * (change->week - 1);
    if (day >= civil_month_length(year, change->month))
        day -= 7; /* week 5 is the last one */
    return first + day;
}

static int add_change(struct zone *zone, int64_t from, int offset,
                      struct m2_error *err)
{
    if (from <= zone->spans[zone->n - 1].from)
        return M2_OK;
    return zone_add_span(zone, from, offset, err);
}

static int add_year(struct zone *zone, const struct rule *rule, int year,
                    struct m2_error *err)
{
    int64_t start = day_of(&rule->start, year) * 86400 + rule->start.seconds -
                    rule->standard;
    int64_t end =
        day_of(&rule->end, year) * 86400 + rule->end.seconds - rule->daylight;
    bool start_first = start <= end;
    int status = start_first ? add_change(zone, start, rule->daylight, err)
                             : add_change(zone, end, rule->standard, err);

    if (status != M2_OK)
        return status;
    return start_first ? add_change(zone, end, rule->standard, err)
                       : add_change(zone, start, rule->daylight, err);
}

int zone_extend(struct zone *zone, const char *text, struct m2_error *err)
{
    struct rule rule;
    const int64_t first = civil_days(CIVIL_FIRST_YEAR, 1, 1) * 86400,
                  beyond = civil_days(CIVIL_LAST_YEAR + 2, 1, 1) * 86400;
    int64_t last = zone->spans[zone->n - 1].from;
    int year = CIVIL_FIRST_YEAR, status = M2_OK;

    if (!read_rule(text, &rule) || rule.standard < -26 * 3600 ||
        rule.standard > 26 * 3600 || rule.daylight < -26 * 3600 ||
        rule.daylight > 26 * 3600)
        return m2_fail(err, M2_E_CONFIG,
                       "data.options.timezone: the file of zone '%s' ends "
                       "with the rule '%s', which is none",
                       zone->name, text);
    if (!rule.has_daylight || last >= beyond)
        return M2_OK; /* as after the last change */
    if (last > first)
        year = civil_date(last / 86400 - 1).year;
    for (; year <= CIVIL_LAST_YEAR + 1 && status == M2_OK; year++)
        status = add_year(zone, &rule, year, err);
    return status;
}
