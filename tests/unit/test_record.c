/* The record of an invocation: written, read back run by run. */
#include "sweep/record.h"

#include <yaml.h>

#include "config/identity.h"
#include "tests/unit/option_tables.h"
#include "tests/unit/unit.h"
#include "util/file.h"
#include "util/memory.h"

/* Everything in it that could be taken for a part of the record. */
static const char hostile_source[] =
    "# base: |\n"
    "#   runs:\n"
    "name: \"it's\"\n"
    "\n"
    "# - {\"run\": \"x\"}\t \xc3\xa4\n"
    "data: {features: [close], target: [close]}   \n"
    "   \n"
    "train:\n"
    "    epochs: 3 # no end of line after this";

static const char plain_source[] =
    "name: its\n"
    "data: {features: [close], target: [close]}\n"
    "train: {epochs: 3}\n";

struct fixture {
    char *dir;
    struct experiment experiment;
    struct sweep_record record;
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const struct experiment_request request = {
        .path = "t.yaml",
        .text = plain_source,
        .size = sizeof plain_source - 1,
        .lookup = &test_lookup,
    };
    struct messages messages = {0};
    struct m2_error err;

    f->dir = unit_make_dir();
    if (experiment_load(&request, &f->experiment, &messages, &err) != 0)
        fail_msg("%s", messages.count > 0 ? messages.items[0].text : err.text);
    messages_free(&messages);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    sweep_record_free(&f->record);
    experiment_free(&f->experiment);
    unit_remove_dir(f->dir);
    free(f);
    return 0;
}

static void make_runs(struct fixture *f, size_t n)
{
    struct m2_error err;

    f->record.runs = calloc(n, sizeof *f->record.runs);
    f->record.n_runs = n;
    for (size_t i = 0; i < n; i++) {
        struct record_run *run = &f->record.runs[i];
        char text[100];

        snprintf(text, sizeof text, "lr-%zu_s0", i);
        run->label = memory_string(text, &err);
        snprintf(run->identity, sizeof run->identity, "%064zx", i);
        snprintf(text, sizeof text, "train.optimizer.lr=%zu", i);
        assert_ok(string_list_add(&run->set, text, &err), &err);
    }
}

static char *write_record(struct fixture *f, const char *const *overrides,
                          size_t n_overrides)
{
    struct text text = {0};
    struct m2_error err;
    char *path;

    assert_ok(sweep_record_text(&f->experiment, &f->record, overrides,
                                n_overrides, &text, &err),
              &err);
    assert_ok(sweep_record_write(f->dir, &text, &path, &err), &err);
    text_free(&text);
    return path;
}

static void check_run(struct fixture *f, const char *path, size_t index)
{
    const struct record_run *expected = &f->record.runs[index];
    struct text base = {0}, canonical = {0};
    struct record_run run;
    struct m2_error err;

    assert_ok(sweep_record_read(path, index, &base, &run, &err), &err);
    config_write(&f->experiment.schema, &f->experiment.config, &canonical);
    assert_string_equal(text_string(&base), text_string(&canonical));
    assert_string_equal(run.label, expected->label);
    assert_string_equal(run.identity, expected->identity);
    assert_int_equal(run.set.count, expected->set.count);
    for (size_t i = 0; i < run.set.count; i++)
        assert_string_equal(run.set.items[i], expected->set.items[i]);
    record_run_free(&run);
    text_free(&base);
    text_free(&canonical);
}

static void every_run_is_read_as_written(void **state)
{
    struct fixture *f = *state;
    char *path;

    make_runs(f, 1000);
    path = write_record(f, NULL, 0);
    for (size_t i = 0; i < 1000; i += i < 10 ? 1 : 90)
        check_run(f, path, i);
    check_run(f, path, 999);
    free(path);
}

static void settings_may_hold_any_text(void **state)
{
    static const char *const settings[] = {
        "data.path=[\"/a, b/c: #d\", '/it''s']",
        "a=\"\\\\ \\\"\"",
        "runs:\n- {\"run\": 1}",
        "base: |\n",
        "\t\r\x01 \xc3\xa4 \xf0\x9f\x98\x80",
        "",
    };
    struct fixture *f = *state;
    struct m2_error err;
    char *path;

    make_runs(f, 2);
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        assert_ok(string_list_add(&f->record.runs[0].set, settings[i], &err),
                  &err);
    path = write_record(f, settings, COUNT_OF(settings));
    check_run(f, path, 0);
    check_run(f, path, 1);
    free(path);
}

/* What libyaml finds: the value of a key of the record's mapping. */
static void find_scalar(const char *text, const char *key, struct text *out)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool found = false, end = false;

    assert_true(yaml_parser_initialize(&parser));
    yaml_parser_set_input_string(&parser, (const unsigned char *)text,
                                 strlen(text));
    while (!end) {
        if (!yaml_parser_parse(&parser, &event))
            fail_msg("line %zu: %s", parser.problem_mark.line + 1,
                     parser.problem);
        if (event.type == YAML_SCALAR_EVENT) {
            const char *value = (const char *)event.data.scalar.value;

            if (found)
                text_add(out, value);
            found = !found && out->length == 0 && strcmp(value, key) == 0;
        }
        end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

static void a_record_is_yaml_with_the_source_in_it(void **state)
{
    struct fixture *f = *state;
    const char *file = unit_path(f->dir, "hostile.yaml");
    const struct experiment_request request = {.path = file,
                                               .lookup = &test_lookup};
    struct text text = {0}, source = {0};
    struct messages messages = {0};
    struct experiment experiment;
    struct m2_error err;

    unit_write(file, hostile_source);
    experiment_load(&request, &experiment, &messages, &err);
    make_runs(f, 3);
    assert_ok(sweep_record_text(&experiment, &f->record, NULL, 0, &text, &err),
              &err);
    find_scalar(text_string(&text), "source", &source);
    if (strstr(text_string(&source), hostile_source) == NULL)
        fail_msg("%s", text_string(&source));
    text_free(&source);
    text_free(&text);
    messages_free(&messages);
    experiment_free(&experiment);
}

static void the_same_invocation_writes_the_same_record(void **state)
{
    static const char *const overrides[] = {"lr=1"};
    struct fixture *f = *state;
    char *first, *again, *other;

    make_runs(f, 2);
    first = write_record(f, NULL, 0);
    again = write_record(f, NULL, 0);
    other = write_record(f, overrides, 1);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    assert_int_equal(strlen(strstr(first, "/sweep-")),
                     strlen("/sweep-01234567.yaml"));
    free(first);
    free(again);
    free(other);
}

static void another_content_under_the_name_is_refused(void **state)
{
    struct fixture *f = *state;
    struct text text = {0};
    struct m2_error err;
    char *path;

    make_runs(f, 2);
    path = write_record(f, NULL, 0);
    unit_write(path, "format: 1\n");
    assert_ok(
        sweep_record_text(&f->experiment, &f->record, NULL, 0, &text, &err),
        &err);
    free(path);
    assert_fails(sweep_record_write(f->dir, &text, &path, &err), M2_E_RESULTS,
                 "is not the record that its name says", &err);
    assert_null(path);
    text_free(&text);
}

static void a_run_that_is_not_there_is_an_error(void **state)
{
    static const char *const damaged[] = {
        "",
        "base: |\n",
        "base: |\n  a: 1\nruns:\n",
        "base: |\n  a: 1\nruns:\n- {\"run\": \"x\", \"identity\": \"ab\"}\n",
        "base: |\n  a: 1\nruns:\n- {\"run\": \"x\"\n",
        "base: |\n  a: 1\nruns:\n- {}"};
    struct fixture *f = *state;
    struct text base = {0};
    struct record_run run;
    struct m2_error err;
    char *path;

    make_runs(f, 2);
    path = write_record(f, NULL, 0);
    assert_fails(sweep_record_read(path, 2, &base, &run, &err), M2_E_RESULTS,
                 "has no run number 2", &err);
    for (size_t i = 0; i < COUNT_OF(damaged); i++) {
        unit_write(path, damaged[i]);
        assert_fails(sweep_record_read(path, 0, &base, &run, &err),
                     M2_E_RESULTS, path, &err);
    }
    assert_fails(sweep_record_read("/nowhere.yaml", 0, &base, &run, &err),
                 M2_E_RESULTS, "/nowhere.yaml: No such file", &err);
    text_free(&base);
    free(path);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_run_is_read_as_written),
        TEST(settings_may_hold_any_text),
        TEST(a_record_is_yaml_with_the_source_in_it),
        TEST(the_same_invocation_writes_the_same_record),
        TEST(another_content_under_the_name_is_refused),
        TEST(a_run_that_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
