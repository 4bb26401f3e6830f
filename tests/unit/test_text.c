/* Growable strings and lists of strings. */
#include "tests/unit/unit.h"

#include "util/text.h"

static void empty_text_is_an_empty_string(void **state)
{
    struct m2_error err;
    struct text text = {0};
    char *stolen;

    (void)state;
    assert_string_equal(text_string(&text), "");
    stolen = text_steal(&text, &err);
    assert_string_equal(stolen, "");
    free(stolen);
    text_free(&text);
}

static void text_grows_by_every_kind_of_addition(void **state)
{
    struct m2_error err;
    struct text text;
    char *stolen;

    (void)state;
    text_init(&text);
    text_add(&text, "ab");
    text_add_char(&text, 'c');
    text_add_bytes(&text, "defgh", 2);
    text_add_repeated(&text, '-', 3);
    text_addf(&text, "%d/%s", 42, "x");
    assert_string_equal(text_string(&text), "abcde---42/x");
    assert_int_equal(text.length, 12);
    assert_ok(text_check(&text, &err), &err);
    stolen = text_steal(&text, &err);
    assert_string_equal(stolen, "abcde---42/x");
    assert_string_equal(text_string(&text), "");
    free(stolen);
}

static void long_formatted_text_is_complete(void **state)
{
    struct text text = {0};
    char letters[5001];

    (void)state;
    memset(letters, 'y', 5000);
    letters[5000] = '\0';
    text_addf(&text, "<%s>", letters);
    assert_int_equal(text.length, 5002);
    assert_int_equal(text_string(&text)[5001], '>');
    text_clear(&text);
    assert_string_equal(text_string(&text), "");
    text_free(&text);
}

static void failed_addition_is_remembered(void **state)
{
    struct m2_error err;
    struct text text = {0};

    (void)state;
    text_add(&text, "kept");
    text_add_repeated(&text, 'x', SIZE_MAX - 2);
    text_add(&text, "ignored");
    assert_string_equal(text_string(&text), "kept");
    assert_fails(text_check(&text, &err), M2_E_MEMORY, "out of memory", &err);
    assert_null(text_steal(&text, &err));
    assert_false(text.failed);
}

static void json_strings_are_escaped(void **state)
{
    struct text text = {0};

    (void)state;
    text_add_json(&text, "a\"b\\c\nd\te\x01 \xc3\xa9");
    assert_string_equal(text_string(&text),
                        "\"a\\\"b\\\\c\\nd\\te\\u0001 \xc3\xa9\"");
    text_free(&text);
}

static void what_is_no_character_is_replaced_in_json(void **state)
{
    static const struct {
        const char *bytes;
        size_t size; /* of the first character */
        const char *json;
    } cases[] = {
        {"\xc3\xa9", 2, "\"\xc3\xa9\""},
        {"\xf0\x9f\x98\x80x", 4, "\"\xf0\x9f\x98\x80x\""},
        {"\xe9", 0, "\"\xef\xbf\xbd\""},
        {"\xc3", 0, "\"\xef\xbf\xbd\""},
        {"\xf0\x9f", 0, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\x80", 0, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", 0, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80", 0,
         "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"", 0, "\"\""},
        {"a\xff", 1, "\"a\xef\xbf\xbd\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text text = {0};

        assert_int_equal(text_character_size(cases[i].bytes), cases[i].size);
        text_add_json(&text, cases[i].bytes);
        assert_string_equal(text_string(&text), cases[i].json);
        assert_int_equal(text_is_utf8(cases[i].bytes),
                         strstr(cases[i].json, "\xef\xbf\xbd") == NULL);
        text_free(&text);
    }
}

static void list_owns_finds_and_sorts_bytewise(void **state)
{
    struct m2_error err;
    struct string_list list = {0};
    static const char *const words[] = {"b", "a", "B", "aa", "\xc3\xa9", "_"};
    static const char *const sorted[] = {"B", "_", "a", "aa", "b", "\xc3\xa9"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_ok(string_list_add(&list, words[i], &err), &err);
    assert_int_equal(string_list_find(&list, "B"), 2);
    assert_int_equal(string_list_find(&list, "C"), list.count);
    string_list_sort(&list);
    for (size_t i = 0; i < COUNT_OF(sorted); i++)
        assert_string_equal(list.items[i], sorted[i]);
    assert_int_equal(string_list_add_owned(&list, NULL, &err), M2_E_MEMORY);
    string_list_free(&list);
    assert_int_equal(list.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_text_is_an_empty_string),
        cmocka_unit_test(text_grows_by_every_kind_of_addition),
        cmocka_unit_test(long_formatted_text_is_complete),
        cmocka_unit_test(failed_addition_is_remembered),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(what_is_no_character_is_replaced_in_json),
        cmocka_unit_test(list_owns_finds_and_sorts_bytewise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
