/* Times and dates. */
#include "tests/unit/unit.h"

#include "util/timefmt.h"

static void known_days(void **state)
{
    static const struct {
        struct civil_date date;
        int64_t days;
    } cases[] = {
        {{1970, 1, 1}, 0},     {{1969, 12, 31}, -1},    {{2000, 2, 29}, 11016},
        {{2000, 3, 1}, 11017}, {{1900, 3, 1}, -25508},  {{2024, 12, 31}, 20088},
        {{1, 1, 1}, -719162},  {{-1, 12, 31}, -719529},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct civil_date back = civil_from_days(cases[i].days);

        assert_int_equal(days_from_civil(cases[i].date), cases[i].days);
        assert_int_equal(back.year, cases[i].date.year);
        assert_int_equal(back.month, cases[i].date.month);
        assert_int_equal(back.day, cases[i].date.day);
    }
}

static void every_day_of_eight_centuries_reads_back(void **state)
{
    struct civil_date before = civil_from_days(-146098);

    (void)state;
    for (int64_t days = -146097; days < 146097; days++) {
        struct civil_date date = civil_from_days(days);

        assert_true(civil_is_valid(date));
        assert_int_equal(days_from_civil(date), days);
        assert_true(date.day == before.day + 1 || date.day == 1);
        before = date;
    }
}

static void dates_that_do_not_exist_are_refused(void **state)
{
    static const struct civil_date bad[] = {
        {2023, 2, 29}, {1900, 2, 29}, {2024, 4, 31},
        {2024, 13, 1}, {2024, 0, 1},  {2024, 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(civil_is_valid(bad[i]));
    assert_true(civil_is_valid((struct civil_date){2000, 2, 29}));
}

static void times_print_with_the_decimals_they_need(void **state)
{
    static const struct {
        int64_t time;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {INT64_C(1704164645) * 1000000000, "2024-01-02T03:04:05Z"},
        {INT64_C(1704164645500000000), "2024-01-02T03:04:05.5Z"},
        {INT64_C(1704164645000001000), "2024-01-02T03:04:05.000001Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
    };
    char text[TIME_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(time_print(cases[i].time, text), cases[i].text);
}

static void times_are_read_in_every_accepted_form(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds, ns;
    } cases[] = {
        {"2024-01-02T03:04:05Z", 1704164645, 0},
        {"2024-01-02 03:04:05", 1704164645, 0},
        {"2024-01-02T03:04:05.25Z", 1704164645, 250000000},
        {"2024-01-02T03:04:05.123456789+00:00", 1704164645, 123456789},
        {"2024-01-02T05:04:05+02:00", 1704164645, 0},
        {"2024-01-01T21:34:05-05:30", 1704164645, 0},
        {"2024-01-02T03:04", 1704164640, 0},
        {"2024-01-02", 1704153600, 0},
        {"1969-12-31T23:59:59.5Z", -1, 500000000},
    };
    int64_t time;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(time_parse(cases[i].text, &time));
        assert_true(time == cases[i].seconds * M2_NS_PER_SECOND + cases[i].ns);
    }
}

static void other_times_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "2024",
        "2024-1-02",
        "2024-02-30",
        "24-01-02",
        "2024-01-02T",
        "2024-01-02T24:00:00Z",
        "2024-01-02T23:59:60Z",
        "2024-01-02T03:04:05.Z",
        "2024-01-02T03:04:05.1234567890Z",
        "2024-01-02T03:04:05ZZ",
        "2024-01-02T03:04:05+2",
        "2024-01-02T03:04:05+24:00",
        "2024-01-02T03:04:05 UTC",
        "1677-01-01T00:00:00Z",
        "2300-01-01",
        "9999-12-31",
    };
    int64_t time = 7;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (time_parse(bad[i], &time))
            fail_msg("\"%s\" was taken for a time", bad[i]);
    }
    assert_int_equal(time, 7);
}

static void day_of_a_time_rounds_down(void **state)
{
    (void)state;
    assert_int_equal(days_from_time(0), 0);
    assert_int_equal(days_from_time(-1), -1);
    assert_int_equal(days_from_time(M2_NS_PER_DAY - 1), 0);
    assert_int_equal(days_from_time(-M2_NS_PER_DAY), -1);
}

static void clocks_run(void **state)
{
    double start = time_monotonic();

    (void)state;
    assert_true(time_now() > INT64_C(1600000000) * M2_NS_PER_SECOND);
    assert_true(time_monotonic() >= start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_days),
        cmocka_unit_test(every_day_of_eight_centuries_reads_back),
        cmocka_unit_test(dates_that_do_not_exist_are_refused),
        cmocka_unit_test(times_print_with_the_decimals_they_need),
        cmocka_unit_test(times_are_read_in_every_accepted_form),
        cmocka_unit_test(other_times_are_refused),
        cmocka_unit_test(day_of_a_time_rounds_down),
        cmocka_unit_test(clocks_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
