/* Runs side by side: what differs, what is best, and that it fits. */
#include "cli/compare.h"

#include "tests/unit/unit.h"
#include "util/memory.h"
#include "util/terminal.h"

struct fixture {
    struct run_list list;
    struct comparison comparison;
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->list.entries = calloc(COMPARE_MAX_RUNS, sizeof *f->list.entries);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    comparison_free(&f->comparison);
    run_list_free(&f->list);
    free(f);
    return 0;
}

static void add_run(struct fixture *f, const char *record)
{
    struct run_entry *entry = &f->list.entries[f->list.n++];

    *entry = (struct run_entry){
        .path = memory_string("/nowhere", NULL),
        .experiment = memory_string("exp", NULL),
        .run = memory_string("run-0123456789ab", NULL),
        .record = json_loads(record, 0, NULL),
        .published = true,
        .state = "done",
    };
    assert_non_null(entry->record);
}

static void make(struct fixture *f, bool all)
{
    struct m2_error err;

    comparison_free(&f->comparison);
    assert_ok(comparison_make(&f->list, all, &f->comparison, &err), &err);
}

static const struct compare_row *row_of(const struct fixture *f,
                                        const char *key)
{
    for (size_t r = 0; r < f->comparison.n; r++)
        if (strcmp(f->comparison.rows[r].key, key) == 0)
            return &f->comparison.rows[r];
    return NULL;
}

static void what_is_equal_is_shown_on_request(void **state)
{
    struct fixture *f = *state;

    add_run(f, "{\"config\": {\"a\": \"1\", \"b\": \"2\"},"
               " \"build\": {\"version\": \"1\", \"dirty\": false}}");
    add_run(f, "{\"config\": {\"a\": \"1\", \"b\": \"3\"},"
               " \"build\": {\"version\": \"1\", \"dirty\": true}}");
    make(f, false);
    assert_null(row_of(f, "a"));
    assert_null(row_of(f, "build.version"));
    assert_string_equal(row_of(f, "b")->values[1], "3");
    assert_string_equal(row_of(f, "build.dirty")->values[1], "true");
    make(f, true);
    assert_false(row_of(f, "a")->differs);
    assert_non_null(row_of(f, "build.version"));
}

/* A run of an earlier version did not record it; but a variable that is not
 * set, and a file that is not there, are facts. */
static void a_fact_that_is_not_known_is_no_difference(void **state)
{
    struct fixture *f = *state;

    add_run(f, "{\"host\": {\"cpu\": \"EPYC\"}, \"libraries\": [{\"name\":"
               " \"libm.so.6\", \"build_id\": \"01\"}], \"environment\":"
               " {\"LD_PRELOAD\": \"x.so\"}, \"data\": {\"files\": [{\"name\":"
               " \"a.csv\", \"sha256\": \"ab\"}]}}");
    add_run(f, "{}");
    make(f, false);
    assert_null(row_of(f, "host.cpu"));
    assert_null(row_of(f, "library.libm.so.6"));
    assert_non_null(row_of(f, "environment.LD_PRELOAD"));
    assert_non_null(row_of(f, "data.file.a.csv"));
    assert_null(row_of(f, "data.file.a.csv")->values[1]);
}

static void the_best_is_marked_by_the_direction_of_the_metric(void **state)
{
    static const struct {
        const char *key;
        unsigned best;
    } cases[] = {
        {"val/mse", 1},      {"val/ic", 4},    {"val/hit_rate", 2 | 4},
        {"val/hit_n", 0},    {"val/mae", 0},   {"train/loss", 4},
        {"val/rmse_raw", 2}, {"val/skill", 1},
    };
    struct fixture *f = *state;

    add_run(f, "{\"best\": {\"val/mse\": 0.1, \"val/ic\": 0.1,"
               " \"val/hit_rate\": 0.4, \"val/hit_n\": 10, \"val/mae\": 1,"
               " \"val/skill\": -1}, \"final\": {\"train/loss\": 3}}");
    add_run(f, "{\"best\": {\"val/mse\": 0.2, \"val/ic\": -1,"
               " \"val/hit_rate\": 0.5, \"val/hit_n\": 12, \"val/mae\": 1,"
               " \"val/rmse_raw\": 2, \"val/skill\": -2},"
               " \"final\": {\"train/loss\": 2}}");
    add_run(f, "{\"best\": {\"val/mse\": null, \"val/ic\": 0.2,"
               " \"val/hit_rate\": 0.5, \"val/hit_n\": 11, \"val/mae\": 1,"
               " \"val/rmse_raw\": 3},"
               " \"final\": {\"train/loss\": 1}}");
    make(f, false);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (row_of(f, cases[i].key)->best != cases[i].best)
            fail_msg("%s: %u, expected %u", cases[i].key,
                     row_of(f, cases[i].key)->best, cases[i].best);
}

static void naive_forecasts_stand_beside_and_never_win(void **state)
{
    struct fixture *f = *state;

    add_run(f, "{\"best\": {\"val/mse\": 1}, \"baselines\": {\"val\":"
               " {\"zero\": {\"mse\": 0.5, \"mae\": 0.5}}}}");
    add_run(f, "{\"best\": {\"val/mse\": 2}, \"baselines\": {\"val\":"
               " {\"zero\": {\"mse\": 0.4, \"mae\": 0.5}}}}");
    make(f, false);
    assert_int_equal(row_of(f, "val/mse")->best, 1);
    assert_int_equal(row_of(f, "val/mse zero")->best, 0);
    assert_true(row_of(f, "val/mse zero")->differs);
    assert_null(row_of(f, "val/mae zero"));
    make(f, true);
    assert_non_null(row_of(f, "val/mae zero"));
}

/* Whatever the width and however long keys and values are. */
static void every_line_fits_the_width(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < COMPARE_MAX_RUNS; i++) {
        char record[512];

        snprintf(record, sizeof record,
                 "{\"config\": {\"data.features\": \"[log_return(close),"
                 " log_ratio(high,low), \\u00e4\\u00f6\\u00fc, time_of_day]"
                 " %d\", \"a.very.long.key.that.takes.more.than.half.of.it\":"
                 " \"%d\", \"line\": \"a\\nb%d\"},"
                 " \"best\": {\"val/mse\": %d.5e-7}}",
                 i, i, i, i);
        add_run(f, record);
    }
    make(f, false);
    for (size_t width = 40; width < 260; width += 7) {
        struct text text = {0};
        struct m2_error err;

        assert_ok(compare_print(&f->comparison, width, &text, &err), &err);
        for (char *line = strtok(text.bytes, "\n"); line != NULL;
             line = strtok(NULL, "\n"))
            if (terminal_text_width(line) > width)
                fail_msg("%zu: %s", width, line);
        text_free(&text);
    }
}

static void each_run_has_a_column_in_some_block(void **state)
{
    struct fixture *f = *state;
    struct text text = {0};
    struct m2_error err;

    for (int i = 0; i < COMPARE_MAX_RUNS; i++)
        add_run(f, "{\"best\": {\"val/mse\": 0.123456789}}");
    make(f, false);
    assert_ok(compare_print(&f->comparison, 50, &text, &err), &err);
    for (int i = 0; i < COMPARE_MAX_RUNS; i++) {
        char head[24];
        const char *first;

        snprintf(head, sizeof head, "[%d]", i + 1);
        first = strstr(text_string(&text), head);
        assert_non_null(first);
        assert_non_null(strstr(first + 1, head));
        assert_null(strstr(strstr(first + 1, head) + 1, head));
    }
    text_free(&text);
}

static void json_has_numbers_and_nothing_as_what_they_are(void **state)
{
    struct fixture *f = *state;
    json_t *root, *values;

    add_run(f, "{\"config\": {\"train.steps\": \"null\"}}");
    add_run(f, "{\"config\": {\"train.steps\": \"100\"}}");
    make(f, false);
    root = compare_json(&f->comparison);
    assert_int_equal(json_array_size(json_object_get(root, "runs")), 2);
    values = NULL;
    for (size_t r = 0; r < f->comparison.n; r++)
        if (strcmp(f->comparison.rows[r].key, "train.steps") == 0)
            values = json_object_get(
                json_array_get(json_object_get(root, "rows"), r), "values");
    assert_true(json_is_null(json_array_get(values, 0)));
    assert_int_equal(json_integer_value(json_array_get(values, 1)), 100);
    json_decref(root);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_equal_is_shown_on_request),
        TEST(a_fact_that_is_not_known_is_no_difference),
        TEST(the_best_is_marked_by_the_direction_of_the_metric),
        TEST(naive_forecasts_stand_beside_and_never_win),
        TEST(every_line_fits_the_width),
        TEST(each_run_has_a_column_in_some_block),
        TEST(json_has_numbers_and_nothing_as_what_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
