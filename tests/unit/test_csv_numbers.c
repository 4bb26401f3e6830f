/* Numbers of the csv plugin: exact, whatever the locale. */
#include <math.h>

#include "csv/numbers.h"
#include "unit.h"

static struct number_format plain(void)
{
    return (struct number_format){
        .decimal = '.', .c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
}

static void numbers_are_read_whole_or_not_at_all(void **state)
{
    static const struct {
        const char *text;
        enum number_kind kind;
        double value;
    } cases[] = {
        {"0", NUMBER_VALUE, 0.0},
        {"-0", NUMBER_VALUE, 0.0},
        {"1.38676", NUMBER_VALUE, 1.38676},
        {"+.38686", NUMBER_VALUE, .38686},
        {"5.", NUMBER_VALUE, 5.0},
        {"-12.5e-3", NUMBER_VALUE, -12.5e-3},
        {"1E+2", NUMBER_VALUE, 100.0},
        {"9007199254740993", NUMBER_VALUE, 9007199254740992.0},
        {"0.1e400", NUMBER_TOO_LARGE, 0},
        {"1e-400", NUMBER_VALUE, 0.0},
        {"4.9e-324", NUMBER_VALUE, 4.9e-324},
        {"1.7976931348623157e308", NUMBER_VALUE, 1.7976931348623157e308},
        {"1e23", NUMBER_VALUE, 1e23},
        {"8.5e-23", NUMBER_VALUE, 8.5e-23},
        {"", NUMBER_MISSING, 0},
        {"NA", NUMBER_MISSING, 0},
        {"n/a", NUMBER_MISSING, 0},
        {"#N/A", NUMBER_MISSING, 0},
        {"NaN", NUMBER_MISSING, 0},
        {"-nan", NUMBER_MISSING, 0},
        {"null", NUMBER_MISSING, 0},
        {"None", NUMBER_MISSING, 0},
        {"-", NUMBER_MISSING, 0},
        {"inf", NUMBER_INFINITE, 0},
        {"-Infinity", NUMBER_INFINITE, 0},
        {".", NUMBER_NONE, 0},
        {"+", NUMBER_NONE, 0},
        {"1.38x57", NUMBER_NONE, 0},
        {"1e", NUMBER_NONE, 0},
        {"1e+", NUMBER_NONE, 0},
        {"0x10", NUMBER_NONE, 0},
        {"1 2", NUMBER_NONE, 0},
        {"1,5", NUMBER_NONE, 0},
        {"--1", NUMBER_NONE, 0},
        {"nanx", NUMBER_NONE, 0},
        {"true", NUMBER_NONE, 0},
    };
    struct number_format format = plain();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *text = cases[i].text;
        double value = -1;
        enum number_kind kind =
            number_read(&format, text, strlen(text), &value);
        if (kind != cases[i].kind)
            fail_msg("'%s' is of kind %d", text, (int)kind);
        if (kind == NUMBER_VALUE && !(value == cases[i].value))
            fail_msg("'%s' is %.17g", text, value);
        if (kind == NUMBER_MISSING || kind == NUMBER_INFINITE)
            assert_true(isnan(value));
    }
    freelocale(format.c_locale);
}

/* Short and long ones, on both sides of what the fast way can do. */
static void every_number_is_the_nearest_double(void **state)
{
    struct number_format format = plain();
    uint64_t x = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double value, expected;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        int digits = (int)(x % 19) + 1, exponent = (int)(x >> 8 & 63) - 32;
        snprintf(text, sizeof text, "%s%.*s.%0*llue%d", i % 2 ? "-" : "",
                 (int)(x >> 16) % 5, "9071", digits,
                 (unsigned long long)(x >> 20), exponent);
        assert_int_equal(number_read(&format, text, strlen(text), &value),
                         NUMBER_VALUE);
        expected = strtod_l(text, NULL, format.c_locale);
        if (memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("'%s' is %.17g, not %.17g", text, value, expected);
    }
    freelocale(format.c_locale);
}

static void marks_and_words_are_as_the_options_say(void **state)
{
    static const char *const words[] = {"-999", "x"};
    static const struct {
        char decimal, thousands;
        const char *text;
        enum number_kind kind;
        double value;
    } cases[] = {
        {',', '\0', "1,38676", NUMBER_VALUE, 1.38676},
        {',', '\0', "1,23456789012345678901", NUMBER_VALUE,
         1.23456789012345678901},
        {',', '\0', "1.5", NUMBER_NONE, 0},
        {'.', ',', "1,000,137", NUMBER_VALUE, 1000137},
        {'.', ',', "-1,000.25", NUMBER_VALUE, -1000.25},
        {'.', ',', "1000137", NUMBER_VALUE, 1000137},
        {'.', ',', "12,345,678,901,234,567,890", NUMBER_VALUE,
         12345678901234567890.0},
        {'.', ',', "1,00", NUMBER_NONE, 0},
        {'.', ',', "1,0000", NUMBER_NONE, 0},
        {'.', ',', "1000,000", NUMBER_NONE, 0},
        {'.', ',', ",100", NUMBER_NONE, 0},
        {'.', ',', "1,,000", NUMBER_NONE, 0},
        {'.', ',', "1.000,000", NUMBER_NONE, 0},
        {',', '.', "1.000,5", NUMBER_VALUE, 1000.5},
        {'.', '\0', "-999", NUMBER_MISSING, 0},
        {'.', '\0', "-999.0", NUMBER_VALUE, -999},
        {'.', '\0', "x", NUMBER_MISSING, 0},
    };
    struct number_format format = plain();

    (void)state;
    format.missing = words;
    format.n_missing = COUNT_OF(words);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *text = cases[i].text;
        double value;
        format.decimal = cases[i].decimal;
        format.thousands = cases[i].thousands;
        if (number_read(&format, text, strlen(text), &value) != cases[i].kind ||
            (cases[i].kind == NUMBER_VALUE && !(value == cases[i].value)))
            fail_msg("'%s' is %.17g", text, value);
    }
    freelocale(format.c_locale);
}

static void hints_name_the_option_that_reads_it(void **state)
{
    static const struct {
        const char *text, *hint;
    } cases[] = {
        {"1,38676", "`decimal: \",\"`"},
        {"1,000,000", "`thousands: \",\"`"},
        {"1,000.5", "`thousands: \",\"`"},
        {"1.000,5", "`decimal: \",\"` with `thousands: \".\"`"},
        {"1'000.5", "`thousands: \"'\"`"},
        {"1,234", "`decimal: \",\"` or `thousands: \",\"`"},
        {"abc", NULL},
        {"1,38,676", NULL},
    };
    struct number_format format = plain();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *hint =
            number_hint(&format, cases[i].text, strlen(cases[i].text));
        if (cases[i].hint == NULL)
            assert_null(hint);
        else
            assert_string_equal(hint, cases[i].hint);
    }
    freelocale(format.c_locale);
}

/* strtod(3) would stop at the point there. */
static void a_locale_with_a_decimal_comma_changes_nothing(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
                                        "fr_FR.UTF-8", "de_DE"};
    static const char text[] = "1.23456789012345678901";
    struct number_format format = plain();
    const char *set = NULL;
    double value;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names) && set == NULL; i++)
        set = setlocale(LC_ALL, names[i]);
    if (set == NULL)
        print_message("# no locale with a decimal comma: C is used\n");
    enum number_kind kind = number_read(&format, text, sizeof text - 1, &value);
    setlocale(LC_ALL, "C");
    freelocale(format.c_locale);
    assert_int_equal(kind, NUMBER_VALUE);
    assert_true(value == 1.23456789012345678901);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_whole_or_not_at_all),
        cmocka_unit_test(every_number_is_the_nearest_double),
        cmocka_unit_test(marks_and_words_are_as_the_options_say),
        cmocka_unit_test(hints_name_the_option_that_reads_it),
        cmocka_unit_test(a_locale_with_a_decimal_comma_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
