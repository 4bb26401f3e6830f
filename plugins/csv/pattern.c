/* Times by patterns. */
#include "csv/pattern.h"

#include <string.h>
#include <strings.h>

#include "csv/zone.h"

/* The text being read, and fields that need each other. */
struct matcher {
    const char *at, *end;
    struct written_time *out;
    int hour12;
    bool afternoon;
};

static const char *const months[] = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};
static const char *const weekdays[] = {"monday",   "tuesday", "wednesday",
                                       "thursday", "friday",  "saturday",
                                       "sunday"};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_digits(struct matcher *m, int at_least, int at_most, int *out)
{
    int n = 0, value = 0;

    for (; n < at_most && m->at < m->end && is_digit(*m->at); n++)
        value = value * 10 + (*m->at++ - '0');
    *out = value;
    return n >= at_least;
}

bool pattern_read_fraction(const char **at, const char *end, int *ns)
{
    int digits = 0, value = 0;

    for (; *at < end && is_digit(**at); ++*at, digits++) {
        if (digits < 9)
            value = value * 10 + (**at - '0');
        else if (**at != '0')
            return false;
    }
    for (int i = digits; i < 9; i++)
        value *= 10;
    *ns = value;
    return digits > 0;
}

/* One of the names, in full or its first three letters; its number from 1, or
 * 0. */
static int take_name(struct matcher *m, const char *const *names, int n_names)
{
    size_t n = 0, left = (size_t)(m->end - m->at);

    while (n < left && ((m->at[n] >= 'a' && m->at[n] <= 'z') ||
                        (m->at[n] >= 'A' && m->at[n] <= 'Z')))
        n++;
    for (int i = 0; i < n_names; i++)
        if ((n == 3 || n == strlen(names[i])) &&
            strncasecmp(m->at, names[i], n) == 0) {
            m->at += n;
            return i + 1;
        }
    return 0;
}

static bool take_half(struct matcher *m)
{
    if (m->end - m->at < 2 || (m->at[1] != 'M' && m->at[1] != 'm'))
        return false;
    char c = m->at[0];
    m->afternoon = c == 'P' || c == 'p';
    m->at += 2;
    return m->afternoon || c == 'A' || c == 'a';
}

static bool take_offset(struct matcher *m)
{
    size_t n =
        zone_read_offset(m->at, (size_t)(m->end - m->at), &m->out->offset);

    m->at += n;
    m->out->with_offset = true;
    return n > 0;
}

static bool take_fields(struct matcher *m, const char *pattern);

static bool take_field(struct matcher *m, char field)
{
    struct civil *civil = &m->out->civil;

    switch (field) {
    case 'Y':
        return take_digits(m, 4, 4, &civil->year);
    case 'y': /* as POSIX has it */
        if (!take_digits(m, 2, 2, &civil->year))
            return false;
        civil->year += civil->year < 69 ? 2000 : 1900;
        return true;
    case 'm':
        return take_digits(m, 1, 2, &civil->month);
    case 'd':
        return take_digits(m, 1, 2, &civil->day);
    case 'b':
    case 'B':
        civil->month = take_name(m, months, 12);
        return civil->month > 0;
    case 'a':
    case 'A':
        return take_name(m, weekdays, 7) > 0;
    case 'H':
        return take_digits(m, 1, 2, &civil->hour);
    case 'I':
        return take_digits(m, 1, 2, &m->hour12) && m->hour12 >= 1 &&
               m->hour12 <= 12;
    case 'p':
        return take_half(m);
    case 'M':
        return take_digits(m, 1, 2, &civil->minute);
    case 'S':
        return take_digits(m, 1, 2, &civil->second);
    case 'f':
        return pattern_read_fraction(&m->at, m->end, &civil->ns);
    case 'z':
        return take_offset(m);
    case 'F':
        return take_fields(m, "%Y-%m-%d");
    case 'T':
        return take_fields(m, "%H:%M:%S");
    default:
        return m->at < m->end && *m->at++ == field;
    }
}

static bool take_blanks(struct matcher *m)
{
    const char *start = m->at;

    while (m->at < m->end && *m->at == ' ')
        m->at++;
    return m->at > start;
}

static bool take_fields(struct matcher *m, const char *pattern)
{
    bool ok = true;

    for (const char *p = pattern; *p != '\0' && ok; p++) {
        if (*p == '%')
            ok = take_field(m, *++p);
        else if (*p == ' ')
            ok = take_blanks(m);
        else
            ok = m->at < m->end && *m->at++ == *p;
    }
    return ok;
}

bool pattern_read(const char *pattern, const char *text, size_t n,
                  struct written_time *out)
{
    struct matcher m = {.at = text, .end = text + n, .out = out};

    *out = (struct written_time){0};
    if (!take_fields(&m, pattern) || m.at != m.end)
        return false;
    if (m.hour12 > 0)
        out->civil.hour = m.hour12 % 12 + (m.afternoon ? 12 : 0);
    return true;
}

/* ---- checks ----------------------------------------------------------- */

/* The part of a time that a field sets: two fields of one part exclude each
 * other. */
static char part_of(char field)
{
    switch (field) {
    case 'y':
        return 'Y';
    case 'b':
    case 'B':
        return 'm';
    case 'A':
        return 'a';
    case 'I':
        return 'H';
    default:
        return field;
    }
}

static int fail_pattern(const char *pattern, const char *what,
                        struct m2_error *err)
{
    return m2_fail(err, M2_E_CONFIG, "data.options.time_format: '%s' %s",
                   pattern, what);
}

/* Marks in seen what the pattern sets. */
static int check_fields(const char *pattern, bool seen[128],
                        struct m2_error *err)
{
    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '%' || *++p == '%')
            continue;
        if (*p == '\0' || strchr("YymdbBHIpMSfzaAFT", *p) == NULL)
            return fail_pattern(pattern,
                                "has an unknown field; there are %Y %y %m %d "
                                "%b %H %I %p %M %S %f %z %a %F %T %%",
                                err);
        const char *parts = *p == 'F' ? "Ymd" : *p == 'T' ? "HMS" : NULL;
        const char one[2] = {part_of(*p), '\0'};
        for (const char *c = parts != NULL ? parts : one; *c != '\0'; c++) {
            if (seen[(unsigned char)*c])
                return fail_pattern(pattern, "sets a field twice", err);
            seen[(unsigned char)*c] = true;
        }
    }
    return M2_OK;
}

int pattern_check(const char *pattern, struct m2_error *err)
{
    bool seen[128] = {false};
    int status = check_fields(pattern, seen, err);

    if (status != M2_OK)
        return status;
    if (!seen['Y'] || !seen['m'] || !seen['d'])
        return fail_pattern(pattern, "is no complete date: year, month, day",
                            err);
    if ((seen['M'] && !seen['H']) || (seen['S'] && !seen['M']) ||
        (seen['f'] && !seen['S']))
        return fail_pattern(pattern, "leaves out a part of the time of day",
                            err);
    if (seen['p'] != (strstr(pattern, "%I") != NULL))
        return fail_pattern(pattern, "has one of %I and %p without the other",
                            err);
    return M2_OK;
}

/* ---- hints ------------------------------------------------------------ */

/* Dates; the first one goes with a clock without a mark, too. */
static const char *const usual_dates[] = {
    "%Y%m%d",   "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y",  "%d-%m-%Y", "%m-%d-%Y",
    "%d %b %Y", "%d-%b-%Y", "%b %d %Y", "%b %d, %Y", "%Y-%b-%d", "%d.%m.%y",
    "%d/%m/%y", "%m/%d/%y", "%d-%b-%y", "%Y/%m/%d",  "%Y-%m-%d", "%d%b%Y"};
static const char *const usual_clocks[] = {
    "",        " %H:%M",   " %H:%M:%S",    " %H:%M:%S.%f",
    " %H%M",   " %H%M%S",  " %I:%M %p",    " %I:%M:%S %p",
    "T%H%M%S", "T%H%M%SZ", " %H:%M:%S %z", "%H",
    "%H%M",    "%H%M%S"};

void pattern_hint(const char *text, size_t n, char out[PATTERN_HINT])
{
    const size_t n_dates = sizeof usual_dates / sizeof usual_dates[0];
    const size_t n_clocks = sizeof usual_clocks / sizeof usual_clocks[0];
    size_t used = 0;
    int found = 0;

    out[0] = '\0';
    for (size_t i = 0; i < n_dates * n_clocks && found < 2; i++) {
        const char *date = usual_dates[i / n_clocks];
        const char *clock = usual_clocks[i % n_clocks];
        char pattern[40];
        struct written_time written;
        snprintf(pattern, sizeof pattern, "%s%s", date, clock);
        if ((clock[0] == '%' && i >= n_clocks) ||
            !pattern_read(pattern, text, n, &written) ||
            !civil_is_valid(&written.civil))
            continue;
        used += (size_t)snprintf(out + used, PATTERN_HINT - used,
                                 "%s`time_format: \"%s\"`",
                                 found++ > 0 ? " or " : "", pattern);
    }
}
