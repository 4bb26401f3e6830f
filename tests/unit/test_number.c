/* Numbers to and from text. */
#include "tests/unit/unit.h"

#include <locale.h>
#include <math.h>

#include "util/number.h"
#include "util/random.h"

static void doubles_are_read_strictly(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0},
        {"-1.5", -1.5},
        {"+2", 2},
        {".5", .5},
        {"5.", 5},
        {"1e-3", 1e-3},
        {"1E+3", 1e3},
        {"0.1", 0.1},
        {"1e-400", 0},
        {"1e308", 1e308},
        {"4.9e-324", 0x1p-1074},
    };
    static const char *const bad[] = {
        "",  " 1",  "1 ",   "0x10", "inf",   "nan",   "1e",    "e5",  ".",
        "-", "1,5", "1e5x", "--1",  "1e999", "1_000", "1.2.3", "1e+", "+.e1"};
    double value;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_true(number_parse_double(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    value = 7;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (number_parse_double(bad[i], &value))
            fail_msg("\"%s\" was taken for a number", bad[i]);
    }
    assert_true(value == 7);
}

static void integers_are_read_strictly(void **state)
{
    static const char *const bad[] = {"",
                                      "-",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "9223372036854775808",
                                      "-9223372036854775809"};
    int64_t value = 7;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(number_parse_int(bad[i], &value));
    assert_int_equal(value, 7);
    assert_true(number_parse_int("-9223372036854775808", &value));
    assert_true(value == INT64_MIN);
    assert_true(number_parse_int("+9223372036854775807", &value));
    assert_true(value == INT64_MAX);
    assert_true(number_parse_int("007", &value));
    assert_int_equal(value, 7);
}

static void printed_numbers_are_the_shortest_that_read_back(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.1, "0.1"},
        {1e-3, "0.001"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {-0.0, "-0"},
        {1e22, "1e+22"},
        {100000, "100000"},
        {NAN, "nan"},
        {-INFINITY, "-inf"},
    };
    char text[NUMBER_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(number_print_double(cases[i].value, text),
                            cases[i].text);
    assert_string_equal(number_print_float(0.1F, text), "0.1");
    assert_string_equal(number_print_float(1.0F / 3, text), "0.33333334");
    assert_string_equal(number_print_float(16777216.0F, text), "16777216");
    assert_string_equal(number_print_float(-NAN, text), "nan");
}

static void any_bits_survive_printing(void **state)
{
    const struct random_stream stream = random_stream(1, "any_bits");
    char text[NUMBER_TEXT_SIZE];

    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t bits = random_u64(stream, i);
        uint32_t half = (uint32_t)bits;
        double value, back;
        float small, small_back;

        memcpy(&value, &bits, sizeof value);
        memcpy(&small, &half, sizeof small);
        if (isfinite(value)) {
            assert_true(
                number_parse_double(number_print_double(value, text), &back));
            assert_memory_equal(&back, &value, sizeof value);
        }
        if (isfinite(small)) {
            small_back = strtof(number_print_float(small, text), NULL);
            assert_memory_equal(&small_back, &small, sizeof small);
        }
    }
}

static void locale_does_not_matter(void **state)
{
    char text[NUMBER_TEXT_SIZE];
    double value;

    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    assert_string_equal(number_print_double(1.5, text), "1.5");
    assert_true(number_parse_double("1.5", &value));
    assert_true(value == 1.5);
    setlocale(LC_ALL, "C");
}

static void sizes_are_shown_in_binary_units(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {1048575, "1.0 MiB"},
        {UINT64_C(5) << 30, "5.0 GiB"},
        {UINT64_MAX, "16.0 EiB"},
    };
    char text[NUMBER_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(number_print_bytes(cases[i].bytes, text),
                            cases[i].text);
}

static void durations_are_shown_in_two_units(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        {0, "0ms"},        {0.85, "850ms"}, {0.9999, "1.0s"},  {12.34, "12.3s"},
        {59.96, "1m00s"},  {185, "3m05s"},  {3599.6, "1h00m"}, {3725, "1h02m"},
        {442800, "5d03h"}, {-1, "?"},       {NAN, "?"},        {INFINITY, "?"},
    };
    char text[NUMBER_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(number_print_duration(cases[i].seconds, text),
                            cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_read_strictly),
        cmocka_unit_test(integers_are_read_strictly),
        cmocka_unit_test(printed_numbers_are_the_shortest_that_read_back),
        cmocka_unit_test(any_bits_survive_printing),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(sizes_are_shown_in_binary_units),
        cmocka_unit_test(durations_are_shown_in_two_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
