/* Calendar arithmetic in UTC. */
#include "common/civil.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Both conversions count years from March, so that a leap day is the last day
 * of its year, in eras of 400 years (146,097 days). */
int64_t civil_days(int year, int month, int day)
{
    int64_t y = month > 2 ? year : (int64_t)year - 1;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

struct civil civil_date(int64_t days)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t day_of_era = z - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
                           day_of_era / 146096) /
                          365;
    int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int month = (int)(month_from_march < 10 ? month_from_march + 3
                                            : month_from_march - 9);

    return (struct civil){
        .year = (int)(year_of_era + era * 400 + (month <= 2)),
        .month = month,
        .day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1)};
}

int civil_month_length(int year, int month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30,
                                  31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return lengths[month - 1] + (month == 2 && leap);
}

bool civil_is_valid(const struct civil *c)
{
    return c->year >= CIVIL_FIRST_YEAR && c->year <= CIVIL_LAST_YEAR &&
           c->month >= 1 && c->month <= 12 && c->day >= 1 &&
           c->day <= civil_month_length(c->year, c->month) && c->hour >= 0 &&
           c->hour <= 23 && c->minute >= 0 && c->minute <= 59 &&
           c->second >= 0 && c->second <= 59 && c->ns >= 0 &&
           c->ns < NS_PER_SECOND;
}

int64_t civil_ns(const struct civil *c)
{
    int64_t seconds = civil_days(c->year, c->month, c->day) * 86400 +
                      c->hour * 3600 + c->minute * 60 + c->second;

    return seconds * NS_PER_SECOND + c->ns;
}

char *civil_text(int64_t ns, char out[CIVIL_TEXT])
{
    int64_t day = civil_day_of(ns);
    int64_t rest = ns - day * NS_PER_DAY;
    int64_t second = rest / NS_PER_SECOND;
    int64_t fraction = rest % NS_PER_SECOND;
    struct civil date = civil_date(day);
    char decimals[12] = "";

    if (fraction != 0) {
        int n = snprintf(decimals, sizeof decimals, ".%09" PRId64, fraction);
        while (decimals[n - 1] == '0')
            decimals[--n] = '\0';
    }
    snprintf(out, CIVIL_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", date.year,
             date.month, date.day, (int)(second / 3600),
             (int)(second / 60 % 60), (int)(second % 60), decimals);
    return out;
}

static const struct {
    const char *name;
    int64_t ns;
} units[] = {{"d", NS_PER_DAY},
             {"h", 3600 * NS_PER_SECOND},
             {"m", 60 * NS_PER_SECOND},
             {"s", NS_PER_SECOND},
             {"ms", NS_PER_SECOND / 1000},
             {"us", NS_PER_SECOND / 1000000},
             {"ns", 1}};

bool civil_duration(const char *text, int64_t *ns)
{
    int64_t count = 0;
    size_t n = strspn(text, "0123456789");

    if (n == 0 || n > 15)
        return false;
    for (size_t i = 0; i < n; i++)
        count = count * 10 + (text[i] - '0');
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(text + n, units[i].name) == 0)
            return count > 0 && !__builtin_mul_overflow(count, units[i].ns, ns);
    return false;
}

char *civil_duration_text(int64_t ns, char out[CIVIL_TEXT])
{
    size_t i = 0;

    while (ns % units[i].ns != 0)
        i++;
    snprintf(out, CIVIL_TEXT, "%" PRId64 "%s", ns / units[i].ns, units[i].name);
    return out;
}
