/* The report of m2run data: what was read is what is shown. */
#include <math.h>

#include <jansson.h>

#include "data/report.h"
#include "table_source.h"
#include "unit.h"

static const char *const close_only[] = {"close", NULL};

static void fill(struct table *table)
{
    table_of_bars(table, 40);
    table->series[0].values[4][1] = NAN;
    for (size_t i = 0; i < 40; i++)
        table->series[0].ids[i] = i < 20 ? "H4" : "M4";
    table->series[0].marks[20] = M2_MARK_BREAK;
    for (size_t i = 30; i < 40; i++)
        table->series[0].times[i] += minutes(60);
}

static void the_text_holds_series_gaps_rolls_columns_and_windows(void **state)
{
    static const char *const parts[] = {
        "source table, 0 files, 1 series\n",
        "A              40     1m00s   open      1  1970-01-01T00:00:00Z "
        "1970-01-01T01:39:00Z\n",
        "  steps between rows: 1 step: 38, 61 to 1440: 1\n",
        "  1970-01-01T00:20:00Z: H4 -> M4\n",
        "  volume                        1             40      20.897436 "
        "     11.417025         1\n",
        "  2 blank lines skipped (first: t.csv:3)\n",
        "  1 gaps beyond data.max_gap (first: A 1970-01-01T01:30:00Z)\n",
        "  1 breaks (changes of contract) (first: A 1970-01-01T00:20:00Z)\n",
        "40 rows in 3 pieces without a gap; windows of 5 rows and 1 ahead\n",
        "train          40         25  1970-01-01T00:00:00Z "
        "1970-01-01T01:39:00Z\n",
        "live            -          1  targets not known yet\n",
    };
    struct table table;
    struct report report;
    struct text text = {0};
    struct m2_error err;

    (void)state;
    fill(&table);
    struct config config = test_config(close_only, close_only, 5, 1);
    assert_ok(report_make_with(table_source(&table), &config, &report, &err),
              &err);
    assert_ok(report_print_text(&report, &text, &err), &err);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (strstr(text_string(&text), parts[i]) == NULL)
            fail_msg("\"%s\" is not in\n%s", parts[i], text_string(&text));
    text_free(&text);
    report_free(&report);
    test_config_free(&config);
}

static void the_json_holds_the_same(void **state)
{
    struct table table;
    struct report report;
    struct text text = {0};
    struct m2_error err;

    (void)state;
    fill(&table);
    struct config config = test_config(close_only, close_only, 5, 1);
    assert_ok(report_make_with(table_source(&table), &config, &report, &err),
              &err);
    assert_ok(report_print_json(&report, &text, &err), &err);
    json_t *root = json_loads(text_string(&text), 0, NULL);
    assert_non_null(root);
    json_t *series = json_array_get(json_object_get(root, "series"), 0);
    assert_int_equal(json_integer_value(json_object_get(series, "rows")), 40);
    json_t *roll = json_array_get(json_object_get(series, "rolls"), 0);
    assert_string_equal(json_string_value(json_object_get(roll, "to")), "M4");
    json_t *train = json_object_get(json_object_get(root, "parts"), "train");
    assert_int_equal(json_integer_value(json_object_get(train, "windows")), 25);
    assert_null(json_object_get(root, "problem"));
    json_decref(root);
    text_free(&text);
    report_free(&report);
    test_config_free(&config);
}

/* Too few rows to train on: the rows are shown, and why there is no more. */
static void a_report_without_a_dataset_says_why(void **state)
{
    struct table table;
    struct report report;
    struct text text = {0};
    struct m2_error err;

    (void)state;
    fill(&table);
    struct config config = test_config(close_only, close_only, 50, 1);
    assert_ok(report_make_with(table_source(&table), &config, &report, &err),
              &err);
    assert_int_equal(report.problem_code, M2_E_DATA);
    assert_non_null(strstr(report.problem.text, "no window in the train part"));
    assert_ok(report_print_text(&report, &text, &err), &err);
    assert_non_null(strstr(text_string(&text), "H4 -> M4"));
    assert_non_null(strstr(text_string(&text), "2 blank lines skipped"));
    text_free(&text);
    assert_ok(report_print_json(&report, &text, &err), &err);
    assert_non_null(
        strstr(text_string(&text), "\"problem\": \"data: no window"));
    text_free(&text);
    report_free(&report);
    test_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_holds_series_gaps_rolls_columns_and_windows),
        cmocka_unit_test(the_json_holds_the_same),
        cmocka_unit_test(a_report_without_a_dataset_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
