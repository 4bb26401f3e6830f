/* Cutting text to a screen. */
#include "cli/screen.h"

#include "tests/unit/unit.h"

static void lines_are_cut_and_marked(void **state)
{
    static const struct {
        const char *text;
        size_t width, height;
        const char *expected;
    } cases[] = {
        {"", 10, 0, ""},
        {"short\n", 10, 0, "short\n"},
        {"exactly 10\n", 10, 0, "exactly 10\n"},
        {"one more 11\n", 10, 0, "one more >\n"},
        {"a\nlonger\nb", 4, 0, "a\nlon>\nb\n"},
        /* characters count, not bytes */
        {"\xc3\xa4\xc3\xb6\xc3\xbc\n", 3, 0, "\xc3\xa4\xc3\xb6\xc3\xbc\n"},
        {"\xc3\xa4\xc3\xb6\xc3\xbc\n", 2, 0, "\xc3\xa4>\n"},
        {"a\nb\nc\n", 9, 2, "a\nb\n"},
        {"wide\n", 0, 0, "wide\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text out = {0};

        screen_cut(cases[i].text, cases[i].width, cases[i].height, &out);
        assert_string_equal(text_string(&out), cases[i].expected);
        text_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_cut_and_marked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
