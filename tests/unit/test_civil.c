/* Calendar arithmetic of the data plugins. */
#include <time.h>

#include "unit.h"

#include "common/civil.h"

static void dates_agree_with_the_c_library(void **state)
{
    (void)state;
    for (int64_t day = -25567; day <= 84005; day++) { /* 1900 to 2199 */
        time_t seconds = (time_t)(day * 86400);
        struct tm tm;
        struct civil date = civil_date(day);
        gmtime_r(&seconds, &tm);
        assert_int_equal(date.year, tm.tm_year + 1900);
        assert_int_equal(date.month, tm.tm_mon + 1);
        assert_int_equal(date.day, tm.tm_mday);
        assert_int_equal(civil_days(date.year, date.month, date.day), day);
        assert_true(civil_is_valid(&date));
    }
}

static void dates_that_do_not_exist_are_told(void **state)
{
    static const struct civil cases[] = {
        {2023, 2, 29, 0, 0, 0, 0}, {2024, 2, 30, 0, 0, 0, 0},
        {1900, 2, 29, 0, 0, 0, 0}, {2024, 0, 1, 0, 0, 0, 0},
        {2024, 13, 1, 0, 0, 0, 0}, {2024, 4, 31, 0, 0, 0, 0},
        {2024, 1, 0, 0, 0, 0, 0},  {1899, 12, 31, 0, 0, 0, 0},
        {2201, 1, 1, 0, 0, 0, 0},  {2024, 1, 1, 24, 0, 0, 0},
        {2024, 1, 1, 0, 60, 0, 0}, {2024, 1, 1, 0, 0, 60, 0},
        {2024, 1, 1, -1, 0, 0, 0}, {2024, 1, 1, 0, 0, 0, 1000000000},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_false(civil_is_valid(&cases[i]));
}

static void times_are_written_with_the_decimals_they_need(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {1704153600000000000, "2024-01-02T00:00:00Z"},
        {1704153661500000000, "2024-01-02T00:01:01.5Z"},
        {1704153661000001000, "2024-01-02T00:01:01.000001Z"},
    };
    char text[CIVIL_TEXT];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(civil_text(cases[i].ns, text), cases[i].text);
}

static void durations_are_a_number_and_a_unit(void **state)
{
    static const struct {
        const char *text;
        int64_t ns; /* 0: no duration */
    } cases[] = {
        {"1m", 60000000000},
        {"90s", 90000000000},
        {"1h", 3600000000000},
        {"1d", 86400000000000},
        {"500ms", 500000000},
        {"7us", 7000},
        {"3ns", 3},
        {"", 0},
        {"m", 0},
        {"0m", 0},
        {"1", 0},
        {"-1m", 0},
        {"1M", 0},
        {"1m ", 0},
        {"1.5h", 0},
        {"999999999999999d", 0},
        {"9999999999999999s", 0},
    };
    char text[CIVIL_TEXT];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t ns = 0;
        bool ok = civil_duration(cases[i].text, &ns);
        assert_int_equal(ok, cases[i].ns != 0);
        if (ok)
            assert_int_equal(ns, cases[i].ns);
    }
    assert_string_equal(civil_duration_text(90 * NS_PER_SECOND, text), "90s");
    assert_string_equal(civil_duration_text(NS_PER_DAY, text), "1d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_agree_with_the_c_library),
        cmocka_unit_test(dates_that_do_not_exist_are_told),
        cmocka_unit_test(times_are_written_with_the_decimals_they_need),
        cmocka_unit_test(durations_are_a_number_and_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
