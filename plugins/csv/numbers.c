/* Text to double. */
#include "csv/numbers.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A longer text is no number. */
enum { MAX_TEXT = 400 };

/* Powers of ten that a double holds exactly. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* What the scanner makes of a text: mantissa * 10^exponent, as long as
 * is_small holds; afterwards only that it is a number. */
struct decimal {
    uint64_t mantissa;
    int exponent;
    bool negative, is_small;
};

struct scanner {
    const char *at, *end;
    struct decimal *out;
    int digits; /* seen so far */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void add_digit(struct decimal *d, char c)
{
    if (d->mantissa > (UINT64_MAX - 9) / 10)
        d->is_small = false;
    else
        d->mantissa = d->mantissa * 10 + (uint64_t)(c - '0');
}

static bool scan_digits(struct scanner *s, int step)
{
    const char *start = s->at;

    while (s->at < s->end && is_digit(*s->at)) {
        add_digit(s->out, *s->at++);
        s->out->exponent += step;
        s->digits++;
    }
    return s->at > start;
}

/* One to three digits, then groups of exactly three. */
static bool scan_grouped(struct scanner *s, char thousands)
{
    scan_digits(s, 0);
    if (s->at == s->end || *s->at != thousands)
        return true;
    if (s->digits < 1 || s->digits > 3)
        return false;
    while (s->at < s->end && *s->at == thousands) {
        int before = s->digits;
        s->at++;
        if (!scan_digits(s, 0) || s->digits - before != 3)
            return false;
    }
    return true;
}

static bool scan_exponent(struct scanner *s)
{
    bool negative = false;
    int exponent = 0;

    if (s->at == s->end || (*s->at != 'e' && *s->at != 'E'))
        return true;
    s->at++;
    if (s->at < s->end && (*s->at == '-' || *s->at == '+'))
        negative = *s->at++ == '-';
    if (s->at == s->end)
        return false;
    for (; s->at < s->end && is_digit(*s->at); s->at++)
        if (exponent < 100000)
            exponent = exponent * 10 + (*s->at - '0');
    s->out->exponent += negative ? -exponent : exponent;
    return true;
}

static bool scan_number(const struct number_format *format, const char *text,
                        size_t n, struct decimal *out)
{
    struct scanner s = {.at = text, .end = text + n, .out = out};

    *out = (struct decimal){.is_small = true};
    if (n > 0 && (*s.at == '-' || *s.at == '+'))
        out->negative = *s.at++ == '-';
    if (format->thousands == '\0')
        scan_digits(&s, 0);
    else if (!scan_grouped(&s, format->thousands))
        return false;
    if (s.at < s.end && *s.at == format->decimal) {
        s.at++;
        scan_digits(&s, -1);
    }
    return s.digits > 0 && scan_exponent(&s) && s.at == s.end;
}

/* The library rounds correctly however long the number is; it gets the text
 * without separators and with a point, under the C locale. */
static enum number_kind convert_long(const struct number_format *format,
                                     const char *text, size_t n, double *out)
{
    char copy[MAX_TEXT + 1];
    size_t kept = 0;

    if (n > MAX_TEXT)
        return NUMBER_NONE;
    for (size_t i = 0; i < n; i++)
        if (text[i] == format->decimal)
            copy[kept++] = '.';
        else if (text[i] != format->thousands || format->thousands == '\0')
            copy[kept++] = text[i];
    copy[kept] = '\0';
    *out = strtod_l(copy, NULL, format->c_locale);
    return isinf(*out) ? NUMBER_TOO_LARGE : NUMBER_VALUE;
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(text, word, n) == 0;
}

/* Words that stand for a value that is not there. */
static enum number_kind read_word(const char *text, size_t n)
{
    static const char *const missing[] = {"na",   "n/a",  "#n/a", "nan",
                                          "-nan", "null", "none", "-"};
    size_t sign = n > 0 && (text[0] == '-' || text[0] == '+');

    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        if (is_word(text, n, missing[i]))
            return NUMBER_MISSING;
    if (is_word(text + sign, n - sign, "inf") ||
        is_word(text + sign, n - sign, "infinity"))
        return NUMBER_INFINITE;
    return NUMBER_NONE;
}

static bool is_listed(const struct number_format *format, const char *text,
                      size_t n)
{
    for (size_t i = 0; i < format->n_missing; i++)
        if (strlen(format->missing[i]) == n &&
            memcmp(format->missing[i], text, n) == 0)
            return true;
    return false;
}

enum number_kind number_read(const struct number_format *format,
                             const char *text, size_t n, double *out)
{
    struct decimal d;

    *out = NAN;
    if (n == 0 || is_listed(format, text, n))
        return NUMBER_MISSING;
    if (!scan_number(format, text, n, &d))
        return read_word(text, n);
    /* Both factors are exact, so one operation rounds once: the nearest
     * double (Clinger 1990). */
    if (!d.is_small || d.mantissa > UINT64_C(1) << 53 || d.exponent > 22 ||
        d.exponent < -22)
        return convert_long(format, text, n, out);
    double value = (double)d.mantissa;
    value = d.exponent < 0 ? value / powers[-d.exponent]
                           : value * powers[d.exponent];
    *out = d.negative ? -value : value;
    return NUMBER_VALUE;
}

const char *number_hint(const struct number_format *format, const char *text,
                        size_t n)
{
    static const char decimal_comma[] = "`decimal: \",\"`";
    static const struct {
        char decimal, thousands;
        const char *hint;
    } others[] = {
        {',', '\0', decimal_comma},
        {'.', ',', "`thousands: \",\"`"},
        {',', '.', "`decimal: \",\"` with `thousands: \".\"`"},
        {'.', '\'', "`thousands: \"'\"`"},
        {'.', ' ', "`thousands: \" \"`"},
        {',', ' ', "`decimal: \",\"` with `thousands: \" \"`"},
        {'.', '\0', "`decimal: \".\"`"},
    };
    const char *found = NULL;
    struct decimal d;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct number_format other = {.decimal = others[i].decimal,
                                            .thousands = others[i].thousands};
        if ((other.decimal == format->decimal &&
             other.thousands == format->thousands) ||
            !scan_number(&other, text, n, &d))
            continue;
        if (found == decimal_comma && other.thousands == ',')
            return "`decimal: \",\"` or `thousands: \",\"`";
        if (found == NULL)
            found = others[i].hint;
    }
    return found;
}
