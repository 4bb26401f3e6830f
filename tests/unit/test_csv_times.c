/* Times of the csv plugin: what is read without a format, and patterns. */
#include "csv/times.h"
#include "unit.h"

static struct zone *open_zone(const char *name)
{
    struct zone *zone;
    struct m2_error err;

    assert_ok(zone_open(name, &zone, &err), &err);
    return zone;
}

/* The time as text, or "!" and the reason. */
static void show(struct times *times, const char *text, char out[2100])
{
    struct m2_error err;
    int64_t ns;

    if (times_read(times, text, strlen(text), &ns, &err) == 0)
        civil_text(ns, out);
    else
        snprintf(out, 2100, "!%s", err.text);
}

static void expect(struct times *times, const char *text, const char *expected)
{
    char out[2100];

    show(times, text, out);
    if (expected[0] == '!' ? strstr(out, expected + 1) == NULL || out[0] != '!'
                           : strcmp(out, expected) != 0)
        fail_msg("'%s' gives \"%s\", not \"%s\"", text, out, expected);
}

static void the_year_comes_first_without_a_format(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"2014-05-01", "2014-05-01T00:00:00Z"},
        {"2014-05-01 10:30", "2014-05-01T10:30:00Z"},
        {"2014-05-01  10:30:07", "2014-05-01T10:30:07Z"},
        {"2014-05-01T10:30:07Z", "2014-05-01T10:30:07Z"},
        {"2014-05-01t10:30:07z", "2014-05-01T10:30:07Z"},
        {"2014-05-01 10:30:07 UTC", "2014-05-01T10:30:07Z"},
        {"2014-05-01 10:30:07+00:00", "2014-05-01T10:30:07Z"},
        {"2014-05-01T10:30:07-04:00", "2014-05-01T14:30:07Z"},
        {"2014-05-01T10:30:07+0530", "2014-05-01T05:00:07Z"},
        {"2014-05-01T10:30:07 -04", "2014-05-01T14:30:07Z"},
        {"2014-05-01T00:00:00.000000000Z", "2014-05-01T00:00:00Z"},
        {"2014-05-01 10:30:07.25", "2014-05-01T10:30:07.25Z"},
        {"2014-05-01 10:30:07,123456789", "2014-05-01T10:30:07.123456789Z"},
        {"1969-12-31T23:59:59.5", "1969-12-31T23:59:59.5Z"},
        {"2014/05/01 10:30", "2014-05-01T10:30:00Z"},
        {"2014.05.01 10:30", "2014-05-01T10:30:00Z"},
        {"2016-02-29", "2016-02-29T00:00:00Z"},
        {"2014-02-29", "!no such date"},
        {"2014-13-01", "!no such date"},
        {"2014-05-01 24:00", "!no such date or time of day"},
        {"1899-12-31", "!between the years 1900 and 2200"},
        {"2201-01-01", "!between the years 1900 and 2200"},
        {"2014-05-01 10:30:07.1234567891", "!not a time"},
        {"2014-05-01 10", "!not a time"},
        {"2014-05-01T10:30:07+24:00", "!not a time"},
        {"2014-05-01T10:30:07EST", "!not a time"},
        {"2014-05/01", "!not a time"},
        {"2014-5-1", "!`time_format: \"%Y-%m-%d\"` reads it"},
        {"01.05.2014 10:30", "!`time_format: \"%d.%m.%Y %H:%M\"` reads it"},
        {"13/05/2014", "!; `time_format: \"%d/%m/%Y\"` reads it"},
        {"01/05/2014 10:30:00",
         "!`time_format: \"%d/%m/%Y %H:%M:%S\"` or `time_format: "
         "\"%m/%d/%Y %H:%M:%S\"` reads it"},
        {"May 1 2014 10:30 PM", "!`time_format: \"%b %d %Y %I:%M %p\"`"},
        {"20140501 103000", "!`time_format: \"%Y%m%d %H%M%S\"` reads it"},
        {"20140501103000", "!`time_format: \"%Y%m%d%H%M%S\"` reads it"},
        {"20140501", "!a date, or a count since 1970? `time_format: "
                     "\"%Y%m%d\"` or `time_format: epoch_s`"},
        {"201405011030", "!a date, or a count since 1970?"},
        {"noon", "!`time_format` says how it is written"},
        {"", "!not a time"},
    };
    struct zone *utc = open_zone("UTC");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct times times = {.zone = utc};
        expect(&times, cases[i].text, cases[i].expected);
    }
    zone_free(utc);
}

static void the_size_of_a_count_tells_its_unit(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"1398902400", "2014-05-01T00:00:00Z"},
        {"1398902400.5", "2014-05-01T00:00:00.5Z"},
        {"1398902400000", "2014-05-01T00:00:00Z"},
        {"1398902400000.25", "2014-05-01T00:00:00.00025Z"},
        {"1398902400000000", "2014-05-01T00:00:00Z"},
        {"1398902400000000001", "2014-05-01T00:00:00.000000001Z"},
        {"63072000", "1972-01-01T00:00:00Z"},
        {"63071999", "!unit cannot be told by its size"},
        {"7289654399", "2200-12-31T23:59:59Z"},
        {"7289654400", "!unit cannot be told by its size"},
        {"63072000000", "1972-01-01T00:00:00Z"},
        {"0", "!`time_format: epoch_s` (epoch_ms, epoch_us, epoch_ns)"},
        {"-1398902400", "!unit cannot be told by its size"},
        {"99999999999999999999", "!not a time"},
    };
    struct zone *utc = open_zone("UTC");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct times times = {.zone = utc};
        expect(&times, cases[i].text, cases[i].expected);
    }
    zone_free(utc);
}

static void all_times_are_as_the_first(void **state)
{
    struct zone *zone = open_zone("-05:00");
    struct times local = {.zone = zone}, utc = {.zone = zone},
                 epoch = {.zone = zone};

    (void)state;
    expect(&local, "2014-05-01 10:30", "2014-05-01T15:30:00Z");
    expect(&local, "2014-05-01 10:31Z", "!with an offset from UTC, unlike");
    expect(&utc, "2014-05-01 10:30Z", "2014-05-01T10:30:00Z");
    expect(&utc, "2014-05-01 10:31-04", "2014-05-01T14:31:00Z");
    expect(&utc, "2014-05-01 10:32", "!without an offset from UTC, unlike");
    expect(&utc, "1398902400", "!not a time that puts the year first");
    expect(&epoch, "1398902400", "2014-05-01T00:00:00Z");
    expect(&epoch, "60", "1970-01-01T00:01:00Z");
    expect(&epoch, "1398902400000", "!outside the years 1900 to 2200");
    expect(&epoch, "2014-05-01", "!not a count of seconds");
    zone_free(zone);
}

static void a_count_may_start_anywhere(void **state)
{
    struct times times = {.kind = TIME_EPOCH,
                          .unit_ns = times_unit("ms"),
                          .start = INT64_C(1399420800) * NS_PER_SECOND};

    (void)state;
    expect(&times, "0", "2014-05-07T00:00:00Z");
    expect(&times, "60000", "2014-05-07T00:01:00Z");
    expect(&times, "-1.5", "2014-05-06T23:59:59.9985Z");
    expect(&times, "9223372036854775807", "!outside the years 1900 to 2200");
    assert_int_equal(times_unit("m"), 0);
}

static void patterns_read_what_they_say(void **state)
{
    static const struct {
        const char *pattern, *text, *expected;
    } cases[] = {
        {"%d.%m.%Y %H:%M:%S.%f", "01.05.2017 22:00:00.000",
         "2017-05-01T22:00:00Z"},
        {"%d.%m.%Y %H:%M:%S.%f", "01.05.2017 22:00:00", "!as `time_format:"},
        {"%Y%m%d %H%M%S", "20140501 103059", "2014-05-01T10:30:59Z"},
        {"%Y%m%d%H%M", "201405011030", "2014-05-01T10:30:00Z"},
        {"%m/%d/%Y", "5/1/2014", "2014-05-01T00:00:00Z"},
        {"%d/%m/%y", "01/05/14", "2014-05-01T00:00:00Z"},
        {"%d/%m/%y", "01/05/69", "1969-05-01T00:00:00Z"},
        {"%d %b %Y", "1 May 2014", "2014-05-01T00:00:00Z"},
        {"%d-%B-%Y", "01-september-2014", "2014-09-01T00:00:00Z"},
        {"%d %b %Y", "1 Sept 2014", "!as `time_format:"},
        {"%A, %d %b %Y", "Thursday, 1 MAY 2014", "2014-05-01T00:00:00Z"},
        {"%F %I:%M %p", "2014-05-01 12:05 am", "2014-05-01T00:05:00Z"},
        {"%F %I:%M %p", "2014-05-01 12:05 PM", "2014-05-01T12:05:00Z"},
        {"%F %I:%M %p", "2014-05-01 1:05 pm", "2014-05-01T13:05:00Z"},
        {"%F %I:%M %p", "2014-05-01 13:05 pm", "!as `time_format:"},
        {"%FT%T%z", "2014-05-01T10:30:00-0400", "2014-05-01T14:30:00Z"},
        {"%F %T %z", "2014-05-01   10:30:00 Z", "2014-05-01T10:30:00Z"},
        {"100%% %F", "100% 2014-05-01", "2014-05-01T00:00:00Z"},
        {"%F", "2014-05-01 ", "!as `time_format:"},
        {"%F", "2014-05", "!as `time_format:"},
        {"%F", "2014-02-30", "!no such date"},
        {"%F %H:%M", "2014-05-01 24:00", "!no such date or time of day"},
    };
    struct zone *utc = open_zone("UTC");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct m2_error err;
        struct times times = {
            .kind = TIME_PATTERN, .pattern = cases[i].pattern, .zone = utc};
        assert_ok(pattern_check(cases[i].pattern, &err), &err);
        expect(&times, cases[i].text, cases[i].expected);
    }
    zone_free(utc);
}

static void wrong_patterns_are_refused(void **state)
{
    static const struct {
        const char *pattern, *reason;
    } cases[] = {
        {"%Y-%m-%d %Q", "'%Y-%m-%d %Q' has an unknown field"},
        {"%Y-%m-%d %", "unknown field"},
        {"%H:%M", "no complete date"},
        {"", "no complete date"},
        {"%Y-%m", "no complete date"},
        {"%Y-%m-%d %F", "sets a field twice"},
        {"%d %m %b %Y", "sets a field twice"},
        {"%F %M", "leaves out a part of the time of day"},
        {"%F %H:%M.%f", "leaves out a part of the time of day"},
        {"%F %I:%M", "%I and %p"},
        {"%F %H:%M %p", "%I and %p"},
    };
    struct m2_error err;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_fails(pattern_check(cases[i].pattern, &err), M2_E_CONFIG,
                     cases[i].reason, &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_year_comes_first_without_a_format),
        cmocka_unit_test(the_size_of_a_count_tells_its_unit),
        cmocka_unit_test(all_times_are_as_the_first),
        cmocka_unit_test(a_count_may_start_anywhere),
        cmocka_unit_test(patterns_read_what_they_say),
        cmocka_unit_test(wrong_patterns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
