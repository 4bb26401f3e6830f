/* Any text becomes a JSON string. */
#include "util/json.h"

#include "tests/unit/unit.h"

static void text_that_is_not_utf8_is_kept_as_far_as_it_goes(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"gr\xfc\xdf.csv", "gr??.csv"},
        {"cut \xe2\x82", "cut ??"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_t *string = json_any_text(cases[i].text);

        assert_non_null(string);
        assert_string_equal(json_string_value(string), cases[i].expected);
        json_decref(string);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_is_not_utf8_is_kept_as_far_as_it_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
