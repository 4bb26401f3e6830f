/* Which settings of runs differ, and which of them count. */
#include "results/settings.h"

#include "config/schema.h"
#include "tests/unit/unit.h"
#include "util/memory.h"

static void keys_that_change_no_result_are_those_of_the_schema(void **state)
{
    struct schema schema;
    struct m2_error err;
    size_t n = 0;

    (void)state;
    assert_ok(schema_init(&schema, "mamba2", NULL, &err), &err);
    for (size_t i = 0; i < schema.n_rows; i++) {
        const struct schema_row *row = &schema.rows[i];
        bool counts = (row->key->flags & KEY_NO_IDENTITY) == 0;

        if (schema_changes_results(row->path) != counts)
            fail_msg("%s", row->path);
        n += !counts;
    }
    assert_true(n >= 5);
    schema_free(&schema);
}

static void a_key_that_no_table_has_counts(void **state)
{
    static const char *const keys[] = {
        "",        "data.options.kind", "model.type.more", "train.nothing",
        "nothing", "checkpoint",        "name.more",       "model",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        assert_true(schema_changes_results(keys[i]));
    assert_false(schema_changes_results("data.path"));
    assert_false(schema_changes_results("threads"));
}

static void a_device_counts_by_its_name(void **state)
{
    struct text text = {0};

    (void)state;
    setting_write("device", "cuda:1", &text);
    setting_write("device", "/opt/m2_cuda.so", &text);
    setting_write("train.loss", "a:1", &text);
    assert_string_equal(text_string(&text), "cudacudaa:1");
    text_free(&text);
}

static struct run_entry make_run(const char *record)
{
    struct run_entry entry = {.record = json_loads(record, 0, NULL)};

    assert_non_null(entry.record);
    return entry;
}

static void a_run_without_settings_makes_no_difference(void **state)
{
    struct run_entry entries[] = {
        make_run("{\"config\": {\"a\": \"1\", \"b\": \"2\"}}"),
        make_run("{}"),
        make_run("{\"config\": {\"b\": \"2\", \"a\": \"1\"}}"),
    };
    const struct run_list list = {entries, COUNT_OF(entries)};
    struct setting_list settings;
    struct m2_error err;

    (void)state;
    assert_ok(setting_list_make(&list, &settings, &err), &err);
    assert_int_equal(settings.n, 2);
    for (size_t i = 0; i < settings.n; i++) {
        assert_false(settings.items[i].differs);
        assert_int_equal(settings.items[i].n, 2);
    }
    setting_list_free(&settings);
    for (size_t i = 0; i < COUNT_OF(entries); i++)
        run_entry_free(&entries[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_change_no_result_are_those_of_the_schema),
        cmocka_unit_test(a_key_that_no_table_has_counts),
        cmocka_unit_test(a_device_counts_by_its_name),
        cmocka_unit_test(a_run_without_settings_makes_no_difference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
