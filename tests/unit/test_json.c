/* Any text becomes a JSON string; an object has all of its keys or is none. */
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

static int allocations; /* left before memory runs out; negative: enough */

static void *run_out(size_t size)
{
    if (allocations == 0)
        return NULL;
    if (allocations > 0)
        allocations--;
    return malloc(size);
}

static json_t *small_object(void)
{
    struct json_builder builder = json_build(), inner = json_build();
    json_t *list = json_array();

    json_add_text(&builder, "name", "b\xfc");
    json_add_text(&builder, "none", NULL);
    json_add_integer(&builder, "n", 3);
    json_add(&builder, "nan", json_number_or_null(0.0 / 0.0));
    json_add_integer(&inner, "k", 4);
    json_add_integer(&inner, "n", 5);
    json_add_all(&builder, inner.object);
    json_add(&builder, "inner", json_built(&inner));
    if (list == NULL || !json_append(list, json_integer(1)))
        list = json_drop(list);
    json_add(&builder, "list", list);
    return json_built(&builder);
}

static void an_object_has_all_of_its_keys(void **state)
{
    json_t *object = small_object();
    char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);

    (void)state;
    assert_string_equal(text,
                        "{\"inner\":{\"k\":4,\"n\":5},\"k\":4,\"list\":[1]"
                        ",\"n\":5,\"name\":\"b?\",\"nan\":null,"
                        "\"none\":null}");
    free(text);
    json_decref(object);
}

/* With a sanitizer this shows that no failure leaks, too. */
static void or_it_is_none(void **state)
{
    json_t *object = NULL;
    int n = 0;

    (void)state;
    json_set_alloc_funcs(run_out, free);
    while (object == NULL && n < 1000) {
        allocations = n++;
        object = small_object();
    }
    allocations = -1;
    assert_true(n > 10);
    assert_non_null(object);
    assert_int_equal(json_object_size(object), 7);
    json_decref(object);
    json_set_alloc_funcs(malloc, free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_is_not_utf8_is_kept_as_far_as_it_goes),
        cmocka_unit_test(an_object_has_all_of_its_keys),
        cmocka_unit_test(or_it_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
