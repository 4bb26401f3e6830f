/* Records that share values are those that were written. */
#include "results/record_reader.h"

#include "tests/unit/unit.h"
#include "util/memory.h"

/* As members of "config", where the JSON library has them. */
static void put_settings_back(struct run_entry *entry)
{
    const struct run_settings *settings = entry->settings;
    json_t *config = json_object();

    for (size_t i = 0; i < settings->n; i++)
        assert_int_equal(
            json_object_set(config, json_string_value(settings->items[i].key),
                            settings->items[i].value),
            0);
    assert_int_equal(json_object_size(config), settings->n);
    assert_null(json_object_get(entry->record, "config"));
    json_object_set_new(entry->record, "config", config);
}

/* What the reader makes of these bytes after all it has read so far is what
 * the JSON library makes of them alone. */
static void check(struct record_reader *reader, const char *bytes)
{
    struct run_entry entry = {.path = memory_string("/nowhere", NULL)};
    struct run_entry alone = {.path = memory_string("/nowhere", NULL)};
    struct m2_error err;

    assert_ok(record_reader_parse(reader, bytes, strlen(bytes), &entry, &err),
              &err);
    run_entry_parse(&alone, bytes, strlen(bytes));
    if (entry.settings != NULL)
        put_settings_back(&entry);
    if (alone.record == NULL) {
        assert_null(entry.record);
        assert_string_equal(entry.damage, alone.damage);
    } else if (!json_equal(entry.record, alone.record)) {
        fail_msg("%s was read as %s", bytes,
                 json_dumps(entry.record, JSON_COMPACT));
    }
    run_entry_free(&entry);
    run_entry_free(&alone);
}

/* Whatever stands before whatever. */
static void every_record_is_read_as_if_it_were_alone(void **state)
{
    static const char *const records[] = {
        "{}",
        " { \"a\" : 1 , \"b\" : \"x\" } \n",
        "{\"a\":1,\"b\":\"x\"}",
        "{\"a\":12,\"b\":\"xy\",\"c\":[1,{\"d\":\"}\"}]}",
        "{\"a\":1e5,\"b\":\"x\\\"y\\\\\",\"c\":[1,{\"d\":\"}\"}]}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":true,\"b\":null,\"config\":{\"k\":\"1\",\"l\":\"2\"}}",
        "{\"a\":true,\"b\":null,\"config\":{\"k\":\"1\",\"l\":\"3\"}}",
        "{\"a\":true,\"b\":null,\"config\":{\"l\":\"3\",\"k\":\"1\"},\"z\":0}",
        "{\"config\":{\"config\":{\"k\":1}},\"config\":{}}",
        "{\"config\":3}",
        "{\"config\":{\"k\":\"1\",\"k\":\"2\"}}",
        "{\"config\":{\"k\":\"1\",\"l\":\"2\",\"k\":\"3\"}}",
        "{\"config\":{\"l\":\"2\",\"k\":{\"k\":[]}}}",
        "{\"config\":{}}",
        "{\"a\":\"tab\tin it\",\"b\":\"\u00e4\"}",
        "{\"a\":\"\x7f\",\"b\":\"\"}",
        "{\"config\":{\"k\":\"1\"}",
        "{\"a\\u0062\":1}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\xff\"}",
        "{\"\xff\":1}",
        "{\"a\x1f\":1}",
        "{\"config\":{\"a\tb\":\"1\"}}",
        "{\"a\":01}",
        "{\"a\":1}}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{\"a\":[1}",
        "{\"a\":\"x",
        "{\"a\":",
        "{\"a",
        "[{\"a\":1}]",
        "",
        "{",
        "1",
    };
    const size_t n = COUNT_OF(records);

    (void)state;
    for (size_t i = 0; i < 2 * n * n; i++) {
        struct record_reader reader = {.settings_apart = i >= n * n};

        check(&reader, records[i % n]);
        check(&reader, records[i / n % n]);
        check(&reader, records[i % n]);
        check(&reader, records[i / n % n]);
        check(&reader, records[i / n % n]);
        record_reader_free(&reader);
    }
}

/* The value outlives the reader and the record that it was parsed for. */
static void what_is_the_same_is_shared(void **state)
{
    static const char *const bytes = "{\"build\": {\"version\": \"1\"}}";
    struct record_reader reader = {0};
    struct run_entry a = {0}, b = {0};
    struct m2_error err;

    (void)state;
    assert_ok(record_reader_parse(&reader, bytes, strlen(bytes), &a, &err),
              &err);
    assert_ok(record_reader_parse(&reader, bytes, strlen(bytes), &b, &err),
              &err);
    assert_ptr_equal(run_value(&a, NULL, "build"),
                     run_value(&b, NULL, "build"));
    run_entry_free(&a);
    record_reader_free(&reader);
    assert_string_equal(json_string_value(run_value(&b, "build", "version")),
                        "1");
    run_entry_free(&b);
}

static void what_a_longer_record_left_is_not_taken_for_new(void **state)
{
    struct record_reader reader = {.settings_apart = true};

    (void)state;
    check(&reader, "{\"a\":1,\"b\":2,\"c\":3}");
    check(&reader, "{\"a\":9}");
    check(&reader, "{\"a\":1,\"b\":7,\"c\":8}");
    check(&reader, "{\"config\":{\"a\":\"1\",\"b\":\"2\"}}");
    check(&reader, "{\"config\":{\"a\":\"1\",\"b\":\"2\"}}");
    check(&reader, "{\"config\":{\"a\":\"4\",\"b\":\"5\"}}");
    check(&reader, "{\"config\":{\"a\":\"4\",\"b\":\"5\",\"c\":\"6\"}}");
    check(&reader, "{\"config\":{\"c\":\"4\",\"b\":\"5\"}}");
    check(&reader, "{\"config\":{\"c\":\"4\",\"b\":\"5\",\"c\":\"6\"}}");
    record_reader_free(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_read_as_if_it_were_alone),
        cmocka_unit_test(what_is_the_same_is_shared),
        cmocka_unit_test(what_a_longer_record_left_is_not_taken_for_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
