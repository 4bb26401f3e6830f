/* YAML 1.2 core scalars, hints, and writing them back. */
#include <math.h>

#include "unit.h"

#include "config/scalar.h"
#include "util/suggest.h"

static struct node scalar(const char *text)
{
    return (struct node){.kind = NODE_SCALAR, .text = text};
}

static struct node quoted(const char *text)
{
    return (struct node){.kind = NODE_SCALAR, .text = text, .quoted = true};
}

static void integers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-7", true, -7},
        {"+12", true, 12},
        {"0x1F", true, 31},
        {"0o17", true, 15},
        {"1e3", true, 1000},
        {"2.0", true, 2},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"010", false, 0},
        {"-01", false, 0},
        {"1.5", false, 0},
        {"1e-3", false, 0},
        {"0b11", false, 0},
        {"0x", false, 0},
        {"1_000", false, 0},
        {"12:30", false, 0},
        {"", false, 0},
        {" 1", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct node node = scalar(cases[i].text);
        int64_t value = 0;

        if (scalar_is_int(&node, &value) != cases[i].ok ||
            value != cases[i].value)
            fail_msg("'%s': %lld", cases[i].text, (long long)value);
    }
}

static void numbers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        double value;
    } cases[] = {
        {"1e-3", true, 1e-3}, {"1E+3", true, 1e3},   {".5", true, 0.5},
        {"5.", true, 5},      {"-0.25", true, -.25}, {"3", true, 3},
        {"0x10", true, 16},   {"0", true, 0},        {"0.5", true, 0.5},
        {"00.5", false, 0},   {".nan", false, 0},    {"inf", false, 0},
        {"1e999", false, 0},  {"1,5", false, 0},     {"e3", false, 0},
        {".", false, 0},      {"1e", false, 0},      {"695e05x", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct node node = scalar(cases[i].text);
        double value = 0;

        if (scalar_is_number(&node, &value) != cases[i].ok ||
            value != cases[i].value)
            fail_msg("'%s': %g", cases[i].text, value);
    }
}

static void infinity_has_a_point(void **state)
{
    struct node node = scalar(".inf");
    double value = 0;

    (void)state;
    assert_true(scalar_is_number(&node, &value) && isinf(value) && value > 0);
    node = scalar("-.Inf");
    assert_true(scalar_is_number(&node, &value) && isinf(value) && value < 0);
}

static void seeds_have_64_bits(void **state)
{
    struct node node = scalar("18446744073709551615");
    uint64_t value = 5;

    (void)state;
    assert_true(scalar_is_unsigned(&node, &value));
    assert_true(value == UINT64_MAX);
    value = 5;
    node = scalar("18446744073709551616");
    assert_false(scalar_is_unsigned(&node, &value));
    node = scalar("-1");
    assert_false(scalar_is_unsigned(&node, &value));
    assert_true(value == 5);
}

static void only_true_and_false_are_bool(void **state)
{
    static const char *const others[] = {"yes", "no", "on",   "off", "y",
                                         "n",   "1",  "tRuE", "0",   ""};
    struct node node = scalar("True");
    bool value = false;

    (void)state;
    assert_true(scalar_is_bool(&node, &value) && value);
    node = scalar("FALSE");
    assert_true(scalar_is_bool(&node, &value) && !value);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        node = scalar(others[i]);
        assert_false(scalar_is_bool(&node, &value));
    }
}

static void quoted_values_are_text(void **state)
{
    struct node node = quoted("12");
    int64_t integer;
    double number;

    (void)state;
    assert_false(scalar_is_int(&node, &integer));
    assert_false(scalar_is_number(&node, &number));
    node = quoted("null");
    assert_false(scalar_is_null(&node));
    node = scalar("~");
    assert_true(scalar_is_null(&node));
}

static void hints_say_what_to_write(void **state)
{
    static const struct {
        const char *text, *hint;
    } cases[] = {
        {"10k", "; write 10000"},   {"1.5M", "; write 1500000"},
        {"80%", "; write 0.8"},     {"1_000", "; write 1000"},
        {"0,001", "; write 0.001"}, {"-inf", "; write -.inf"},
        {"1 000", "; write 1000"},  {"fast", ""},
        {"007", "write 7"},         {"10^-3", "not a formula"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct node node = scalar(cases[i].text);
        struct text hint = {0};

        scalar_hint_number(&node, false, &hint);
        if (cases[i].hint[0] == '\0'
                ? hint.length > 0
                : strstr(text_string(&hint), cases[i].hint) == NULL)
            fail_msg("'%s': '%s'", cases[i].text, text_string(&hint));
        text_free(&hint);
    }
}

static void written_strings_read_back_as_strings(void **state)
{
    static const struct {
        const char *string, *written;
    } cases[] = {
        {"close", "close"},
        {"log_return(close)", "log_return(close)"},
        {"/data/6e/*.dbn.zst", "/data/6e/*.dbn.zst"},
        {"log_ratio(high,low)", "\"log_ratio(high,low)\""},
        {"no", "\"no\""},
        {"Off", "\"Off\""},
        {"null", "\"null\""},
        {"12", "\"12\""},
        {"1e5", "\"1e5\""},
        {"", "\"\""},
        {"*.csv", "\"*.csv\""},
        {"a: b", "\"a: b\""},
        {"a\"b", "\"a\\\"b\""},
        {"~", "\"~\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text written = {0};

        scalar_write_string(&written, cases[i].string);
        assert_string_equal(text_string(&written), cases[i].written);
        text_free(&written);
    }
}

static void suggestions_are_near_or_none(void **state)
{
    static const struct {
        const char *word, *best;
    } cases[] = {
        {"windwo", "window"},   {"WINDOW", "window"}, {"strid", "stride"},
        {"d-model", "d_model"}, {"wombat", NULL},     {"x", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct suggestion near = suggest_start(cases[i].word);

        suggest_try(&near, "window");
        suggest_try(&near, "stride");
        suggest_try(&near, "d_model");
        if (cases[i].best == NULL)
            assert_null(near.best);
        else
            assert_string_equal(near.best, cases[i].best);
    }
}

static void listed_words_ignore_case_and_hyphens(void **state)
{
    (void)state;
    assert_true(suggest_is_listed("seq_len lookback", "seq_len"));
    assert_true(suggest_is_listed("seq_len lookback", "Seq-Len"));
    assert_true(suggest_is_listed("seq_len lookback", "lookback"));
    assert_false(suggest_is_listed("seq_len lookback", "look"));
    assert_false(suggest_is_listed("seq_len lookback", ""));
    assert_false(suggest_is_listed(NULL, "look"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(numbers),
        cmocka_unit_test(infinity_has_a_point),
        cmocka_unit_test(seeds_have_64_bits),
        cmocka_unit_test(only_true_and_false_are_bool),
        cmocka_unit_test(quoted_values_are_text),
        cmocka_unit_test(hints_say_what_to_write),
        cmocka_unit_test(written_strings_read_back_as_strings),
        cmocka_unit_test(suggestions_are_near_or_none),
        cmocka_unit_test(listed_words_ignore_case_and_hyphens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
