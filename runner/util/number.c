/* Numbers to and from text: strict, lossless, the same in every locale. */
#include "util/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    /* the C locale is built in: this cannot fail */
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t get_c_locale(void)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale;
}

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

static const char *skip_sign(const char *text)
{
    return text + (*text == '+' || *text == '-');
}

/* [sign] digits [. digits] [e [sign] digits], a digit before or after the
 * point: strtod alone would take hex, inf, nan and leading blanks. */
static bool is_decimal(const char *text)
{
    const char *start = skip_sign(text);
    const char *end = skip_digits(start);
    bool has_digits = end > start;

    if (*end == '.') {
        const char *fraction = end + 1;

        end = skip_digits(fraction);
        has_digits = has_digits || end > fraction;
    }
    if (has_digits && (*end == 'e' || *end == 'E')) {
        const char *exponent = skip_sign(end + 1);

        end = skip_digits(exponent);
        has_digits = end > exponent;
    }
    return has_digits && *end == '\0';
}

/* Prints with the least precision in [low, high] that reads back. */
static char *print_shortest(double value, int low, int high, bool is_float,
                            char out[NUMBER_TEXT_SIZE])
{
    locale_t before = uselocale(get_c_locale());

    for (int digits = low; digits <= high; digits++) {
        snprintf(out, NUMBER_TEXT_SIZE, "%.*g", digits, value);
        if (is_float ? strtof(out, NULL) == (float)value
                     : strtod(out, NULL) == value)
            break;
    }
    uselocale(before);
    return out;
}

static char *print_special(double value, char out[NUMBER_TEXT_SIZE])
{
    strcpy(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return out;
}

bool number_parse_double(const char *text, double *out)
{
    double value;

    if (!is_decimal(text))
        return false;
    value = strtod_l(text, NULL, get_c_locale());
    if (isinf(value))
        return false;
    *out = value;
    return true;
}

bool number_parse_int(const char *text, int64_t *out)
{
    const char *digits = skip_sign(text);
    const char *end = skip_digits(digits);
    long long value;

    _Static_assert(sizeof value == sizeof *out, "long long is 64 bits");
    if (end == digits || *end != '\0')
        return false;
    errno = 0;
    value = strtoll(text, NULL, 10);
    if (errno == ERANGE)
        return false;
    *out = value;
    return true;
}

char *number_print_double(double value, char out[NUMBER_TEXT_SIZE])
{
    if (!isfinite(value))
        return print_special(value, out);
    return print_shortest(value, 15, 17, false, out);
}

char *number_print_float(float value, char out[NUMBER_TEXT_SIZE])
{
    if (!isfinite(value))
        return print_special(value, out);
    return print_shortest(value, 6, 9, true, out);
}

char *number_print_bytes(uint64_t bytes, char out[NUMBER_TEXT_SIZE])
{
    static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    unsigned unit = 0;

    /* 1023.95 would print as 1024.0 */
    while (value >= (unit == 0 ? 1024 : 1023.95)) {
        value /= 1024;
        unit++;
    }
    snprintf(out, NUMBER_TEXT_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", value,
             units[unit]);
    return out;
}

char *number_print_duration(double seconds, char out[NUMBER_TEXT_SIZE])
{
    double whole = round(seconds);
    long long s = whole < 1e15 && whole > -1 ? (long long)whole : -1;

    if (!(seconds >= 0) || s < 0)
        strcpy(out, "?");
    else if (seconds < 0.9995)
        snprintf(out, NUMBER_TEXT_SIZE, "%.0fms", seconds * 1000);
    else if (seconds < 59.95)
        snprintf(out, NUMBER_TEXT_SIZE, "%.1fs", seconds);
    else if (s < 3600)
        snprintf(out, NUMBER_TEXT_SIZE, "%lldm%02llds", s / 60, s % 60);
    else if (s < 86400)
        snprintf(out, NUMBER_TEXT_SIZE, "%lldh%02lldm", s / 3600, s / 60 % 60);
    else
        snprintf(out, NUMBER_TEXT_SIZE, "%lldd%02lldh", s / 86400,
                 s / 3600 % 24);
    return out;
}
