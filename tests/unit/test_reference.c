/* The schema tables as JSON Schema, Markdown and manual page. */
#include <jansson.h>

#include "unit.h"

#include "config/reference.h"
#include "option_tables.h"

static const struct reference_source sources[] = {
    {"synthetic", "Series made from numbers.", test_synthetic},
    {"csv", "Tables as text.", test_csv},
    {"dbn", NULL, test_dbn},
};

/* A member by names parted by "/". */
static const json_t *member(const json_t *json, const char *path)
{
    char copy[256];

    snprintf(copy, sizeof copy, "%s", path);
    for (char *p = strtok(copy, "/"); p != NULL; p = strtok(NULL, "/")) {
        json = json_object_get(json, p);
        if (json == NULL)
            fail_msg("no '%s' in %s", p, path);
    }
    return json;
}

static json_t *load_json(void)
{
    struct text text = {0};
    struct m2_error err;
    json_error_t json_err;
    json_t *json;

    assert_ok(reference_write_json(sources, COUNT_OF(sources), &text, &err),
              &err);
    json = json_loads(text_string(&text), JSON_REJECT_DUPLICATES, &json_err);
    if (json == NULL)
        fail_msg("line %d: %s", json_err.line, json_err.text);
    text_free(&text);
    return json;
}

static void the_json_schema_has_every_key_and_limit(void **state)
{
    json_t *json = load_json();
    const json_t *lr =
        member(json, "properties/train/properties/optimizer/properties/lr");

    (void)state;
    assert_string_equal(json_string_value(member(json, "$schema")),
                        "https://json-schema.org/draft/2020-12/schema");
    assert_true(json_number_value(member(lr, "exclusiveMinimum")) == 0);
    assert_true(json_number_value(member(lr, "maximum")) == 100);
    assert_true(json_is_false(member(json, "additionalProperties")));
    assert_true(
        json_is_false(member(json, "properties/model/additionalProperties")));
    assert_int_equal(
        json_array_size(member(json, "properties/train/properties/loss/enum")),
        4);
    member(json, "properties/include");
    member(json, "properties/sweep/properties/seeds");
    member(json, "properties/sweep/properties/grid/properties/model.d_state");
    assert_null(json_object_get(
        member(json, "properties/sweep/properties/grid/properties"), "seed"));
    json_decref(json);
}

/* A "$ref" of a sweep axis leads to the key's own schema. */
static void every_reference_leads_somewhere(void **state)
{
    json_t *json = load_json();
    const json_t *grid =
        member(json, "properties/sweep/properties/grid/properties");
    size_t n = 0;

    (void)state;
    for (void *i = json_object_iter((json_t *)(uintptr_t)grid); i != NULL;
         i = json_object_iter_next((json_t *)(uintptr_t)grid, i)) {
        const char *reference =
            json_string_value(member(json_object_iter_value(i), "items/$ref"));

        assert_memory_equal(reference, "#/", 2);
        member(json, reference + 2);
        n++;
    }
    assert_true(n > 50);
    json_decref(json);
}

static void each_source_brings_its_options(void **state)
{
    json_t *json = load_json();
    const json_t *all = member(json, "allOf");

    (void)state;
    assert_int_equal(json_array_size(all), 1 + COUNT_OF(sources));
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        const json_t *rule = json_array_get(all, i + 1);

        assert_string_equal(
            json_string_value(
                member(rule, "if/properties/data/properties/source/const")),
            sources[i].name);
        member(member(rule, "then/properties/data/properties/options/"
                            "properties"),
               sources[i].options[0].name);
    }
    json_decref(json);
}

/* Both pages: every key with its help. */
static void assert_complete(const char *page, bool is_man)
{
    struct schema schema;
    struct m2_error err;

    assert_ok(schema_init(&schema, "mamba2", test_csv, &err), &err);
    for (size_t i = 0; i < schema.n_rows; i++) {
        const struct schema_row *row = &schema.rows[i];
        struct text wanted = {0};

        if (row->key->type != KEY_BLOCK)
            text_addf(&wanted, is_man ? "\n.B %s\n" : "\n| `%s` | `",
                      is_man ? row->path : row->key->name);
        else if (strcmp(row->path, "data.options") != 0)
            text_addf(&wanted, is_man ? "" : "\n## %s\n", row->path);
        if (strstr(page, text_string(&wanted)) == NULL)
            fail_msg("'%s' is missing", text_string(&wanted));
        text_free(&wanted);
    }
    schema_free(&schema);
}

static void the_pages_have_every_key(void **state)
{
    struct text page = {0};
    struct m2_error err;

    (void)state;
    assert_ok(reference_write_markdown(sources, COUNT_OF(sources), &page, &err),
              &err);
    assert_complete(text_string(&page), false);
    assert_non_null(strstr(text_string(&page),
                           "| `lr` | `0.001` | a number greater than 0 and at "
                           "most 100 | "));
    assert_non_null(strstr(text_string(&page), "of source `csv`"));
    text_clear(&page);
    assert_ok(reference_write_man(sources, COUNT_OF(sources), &page, &err),
              &err);
    assert_complete(text_string(&page), true);
    text_free(&page);
}

static void no_line_of_the_manual_is_a_request_by_accident(void **state)
{
    static const char *const requests[] = {".TH", ".SH", ".SS",  ".TP",
                                           ".B ", ".br", ".PP",  ".nf",
                                           ".fi", ".BR", ".\\\""};
    struct text page = {0};
    struct m2_error err;

    (void)state;
    assert_ok(reference_write_man(sources, COUNT_OF(sources), &page, &err),
              &err);
    for (const char *line = text_string(&page); line[0] != '\0';
         line = strchr(line, '\n') + 1) {
        size_t i = 0;

        assert_true(line[0] != '\'');
        while (line[0] == '.' && i < COUNT_OF(requests) &&
               strncmp(line, requests[i], strlen(requests[i])) != 0)
            i++;
        if (i == COUNT_OF(requests))
            fail_msg("%.40s", line);
    }
    text_free(&page);
}

static void every_key_has_help_and_a_default_in_range(void **state)
{
    struct schema schema;
    struct m2_error err;

    (void)state;
    /* schema_init reads every default as if it stood in a file */
    assert_ok(schema_init(&schema, "mamba2", test_synthetic, &err), &err);
    for (size_t i = 0; i < schema.n_rows; i++) {
        const struct key *key = schema.rows[i].key;
        size_t length = strlen(key->help);

        if (length == 0 || key->help[length - 1] != '.')
            fail_msg("%s", schema.rows[i].path);
        assert_int_equal(schema_find(&schema, schema.rows[i].path), i);
    }
    schema_free(&schema);
}

static void a_wrong_default_of_a_plugin_is_the_plugin_s_error(void **state)
{
    static const struct m2_option wrong[] = {
        {"n", M2_OPTION_INT, "many", 0, 0, NULL, "Number."}, {0}};
    struct schema schema;
    struct m2_error err;

    (void)state;
    assert_fails(schema_init(&schema, "mamba2", wrong, &err), M2_E_DEVICE,
                 "default of 'data.options.n'", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_schema_has_every_key_and_limit),
        cmocka_unit_test(every_reference_leads_somewhere),
        cmocka_unit_test(each_source_brings_its_options),
        cmocka_unit_test(the_pages_have_every_key),
        cmocka_unit_test(no_line_of_the_manual_is_a_request_by_accident),
        cmocka_unit_test(every_key_has_help_and_a_default_in_range),
        cmocka_unit_test(a_wrong_default_of_a_plugin_is_the_plugin_s_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
