/* Runs grouped by configuration, and ranked. */
#include "results/leaderboard.h"

#include <math.h>

#include "results/metric.h"
#include "results/settings.h"
#include "tests/unit/unit.h"
#include "util/memory.h"

enum { MAX_RUNS = 8 };

struct fixture {
    struct run_list list;
    struct leaderboard board;
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->list.entries = calloc(MAX_RUNS, sizeof *f->list.entries);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    leaderboard_free(&f->board);
    run_list_free(&f->list);
    free(f);
    return 0;
}

/* A run of the experiment "exp"; members are those of its run.json. */
static struct run_entry *add_run(struct fixture *f, const char *state,
                                 const char *members)
{
    struct run_entry *entry = &f->list.entries[f->list.n++];

    assert_true(f->list.n <= MAX_RUNS);
    *entry = (struct run_entry){
        .path = memory_string("/nowhere", NULL),
        .experiment = memory_string("exp", NULL),
        .run = memory_string("run", NULL),
        .record = json_loads(members, 0, NULL),
        .published = true,
    };
    assert_non_null(entry->record);
    snprintf(entry->state, sizeof entry->state, "%s", state);
    return entry;
}

static void make(struct fixture *f)
{
    struct m2_error err;

    assert_ok(leaderboard_make(&f->list, &f->board, &err), &err);
}

#define RUN(lr, seed, value)                                                   \
    "{\"metric\": \"val/loss\", \"config\": {\"train.lr\": \"" lr              \
    "\", \"seed\": \"" seed "\"}, \"best\": {\"value\": " value "}}"

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", actual, expected);
}

/* ---- grouping ----------------------------------------------------------- */

static void seeds_of_a_configuration_are_one_row(void **state)
{
    struct fixture *f = *state;

    add_run(f, "done", RUN("0.1", "0", "0.5"));
    add_run(f, "done", RUN("0.1", "1", "0.7"));
    add_run(f, "done", RUN("0.2", "0", "0.55"));
    make(f);
    assert_int_equal(f->board.n, 2);
    assert_int_equal(f->board.rows[1].n_done, 2);
    assert_near(statistic_mean(&f->board.rows[1].metric), 0.6);
    assert_near(statistic_std(&f->board.rows[1].metric), sqrt(0.02));
    assert_near(statistic_mean(&f->board.rows[0].metric), 0.55);
    assert_int_equal(f->board.keys.count, 1);
    assert_string_equal(f->board.keys.items[0], "train.lr");
    assert_string_equal(f->board.metric, "val/loss");
}

#define PLACED(threads, device, path, value)                                   \
    "{\"config\": {\"name\": \"exp\", \"threads\": \"" threads                 \
    "\", \"device\": \"" device "\", \"data.path\": \"" path                   \
    "\", \"checkpoint.every\": \"" threads                                     \
    "\"}, \"data\": {\"fingerprint\": \"x.csv 01\"},"                          \
    " \"best\": {\"value\": " value "}}"

static void what_changes_no_result_makes_no_row(void **state)
{
    struct fixture *f = *state;

    add_run(f, "done", PLACED("1", "cuda:0", "/a/x.csv", "1"));
    add_run(f, "done", PLACED("2", "cuda:1", "/b/x.csv", "2"));
    add_run(f, "done", PLACED("2", "cpu", "/b/x.csv", "3"));
    make(f);
    assert_int_equal(f->board.n, 2);
    assert_int_equal(f->board.rows[0].n_done, 2);
    assert_int_equal(f->board.keys.count, 1);
    assert_string_equal(f->board.keys.items[0], "device");
}

static void other_data_make_another_row(void **state)
{
    struct fixture *f = *state;

    add_run(f, "done",
            "{\"config\": {\"seed\": \"0\"}, \"data\":"
            " {\"fingerprint\": \"x.csv 01\"}, \"best\": {\"value\": 1}}");
    add_run(f, "done",
            "{\"config\": {\"seed\": \"1\"}, \"data\":"
            " {\"fingerprint\": \"x.csv 02\"}, \"best\": {\"value\": 2}}");
    make(f);
    assert_int_equal(f->board.n, 2);
}

static void runs_that_are_not_done_are_counted_beside(void **state)
{
    struct fixture *f = *state;

    add_run(f, "done", RUN("0.1", "0", "0.5"));
    add_run(f, "diverged", RUN("0.1", "1", "0.001"));
    add_run(f, "failed", RUN("0.2", "0", "0.001"));
    make(f);
    assert_int_equal(f->board.n, 2);
    assert_near(statistic_mean(&f->board.rows[0].metric), 0.5);
    assert_int_equal(f->board.rows[0].n_done, 1);
    assert_int_equal(f->board.rows[0].n_other, 1);
    assert_int_equal(f->board.rows[1].n_done, 0);
    assert_true(isnan(statistic_mean(&f->board.rows[1].metric)));
}

static void what_diverged_is_counted_and_enters_no_mean(void **state)
{
    struct fixture *f = *state;

    add_run(f, "done", RUN("0.1", "0", "0.5"));
    add_run(f, "diverged", RUN("0.1", "1", "-9"));
    add_run(f, "done", RUN("0.1", "2", "null"));
    add_run(f, "diverged", RUN("0.2", "0", "-9"));
    make(f);
    assert_int_equal(f->board.rows[0].metric.n, 1);
    assert_near(statistic_mean(&f->board.rows[0].metric), 0.5);
    assert_int_equal(f->board.rows[0].n_diverged, 1);
    assert_int_equal(f->board.rows[1].rank, 0);
}

static void as_many_values_are_expected_as_any_configuration_has(void **state)
{
    struct fixture *f = *state;
    struct run_entry *other;

    add_run(f, "done", RUN("0.1", "0", "0.5"));
    add_run(f, "failed", RUN("0.1", "1", "null"));
    add_run(f, "done", RUN("0.2", "0", "0.6"));
    other = add_run(f, "done", RUN("0.1", "0", "0.5"));
    free(other->experiment);
    other->experiment = memory_string("zoo", NULL);
    make(f);
    assert_int_equal(f->board.rows[0].n_expected, 2);
    assert_int_equal(f->board.rows[1].n_expected, 2);
    assert_int_equal(f->board.rows[2].n_expected, 1);
}

static void the_test_score_is_that_of_the_metric(void **state)
{
    struct fixture *f = *state;

    add_run(f, "done",
            "{\"metric\": \"val/ic\", \"config\": {\"seed\": \"0\"},"
            " \"best\": {\"value\": 0.5}, \"test\": {\"test/ic\": 0.25,"
            " \"test/mse\": 2}}");
    make(f);
    assert_near(statistic_mean(&f->board.rows[0].test), 0.25);
    assert_near(statistic_mean(&f->board.rows[0].test_mse), 2);
}

static void a_run_without_a_record_is_left_out(void **state)
{
    struct fixture *f = *state;

    json_decref(add_run(f, "damaged", "{}")->record);
    f->list.entries[0].record = NULL;
    make(f);
    assert_int_equal(f->board.n, 0);
}

static void scores_stand_beside_the_naive_forecast_and_the_test(void **state)
{
    struct fixture *f = *state;
    const struct leaderboard_row *row;

    add_run(f, "done",
            "{\"config\": {}, \"best\": {\"value\": 0.5, \"val/mse\": 0.25,"
            " \"val/skill\": 0.75, \"val/hit_rate\": 0.5},"
            " \"baselines\": {\"val\": {\"zero\": {\"mse\": 2},"
            " \"repeat_last\": {\"mse\": 1}, \"input_mean\": {\"mse\": null}}},"
            " \"test\": {\"test/mse\": 0.125}}");
    make(f);
    row = &f->board.rows[0];
    assert_near(statistic_mean(&row->val_mse), 0.25);
    assert_near(statistic_mean(&row->naive), 1);
    assert_near(statistic_mean(&row->skill), 0.75);
    assert_near(statistic_mean(&row->hit_rate), 0.5);
    assert_near(statistic_mean(&row->test_mse), 0.125);
}

/* ---- ranking ------------------------------------------------------------ */

#define VALUE(metric, key, value)                                              \
    "{\"metric\": \"" metric "\", \"config\": {\"k\": \"" key                  \
    "\"}, \"best\": {\"value\": " value "}}"

static void check_order(struct fixture *f, const char *const *keys, size_t n)
{
    make(f);
    assert_int_equal(f->board.n, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(json_string_value(run_value(
                                f->board.rows[i].example, "config", "k")),
                            keys[i]);
}

static void the_lowest_loss_is_first_and_no_value_last(void **state)
{
    const char *const keys[] = {"c", "a", "d", "b"};
    struct fixture *f = *state;

    add_run(f, "done", VALUE("val/loss", "a", "0.5"));
    add_run(f, "done", VALUE("val/loss", "b", "null"));
    add_run(f, "done", VALUE("val/loss", "c", "-1"));
    add_run(f, "done", VALUE("val/loss", "d", "7"));
    check_order(f, keys, COUNT_OF(keys));
}

static void the_highest_rate_is_first_and_no_value_last(void **state)
{
    const char *const keys[] = {"d", "a", "c", "b"};
    struct fixture *f = *state;

    add_run(f, "done", VALUE("val/hit_rate", "a", "0.5"));
    add_run(f, "done", VALUE("val/hit_rate", "b", "null"));
    add_run(f, "done", VALUE("val/hit_rate", "c", "0.25"));
    add_run(f, "done", VALUE("val/hit_rate", "d", "0.75"));
    check_order(f, keys, COUNT_OF(keys));
}

static void equal_values_stand_in_the_order_of_their_settings(void **state)
{
    const char *const keys[] = {"a", "b", "c"};
    struct fixture *f = *state;

    add_run(f, "done", VALUE("val/loss", "c", "1"));
    add_run(f, "done", VALUE("val/loss", "a", "1"));
    add_run(f, "done", VALUE("val/loss", "b", "1"));
    check_order(f, keys, COUNT_OF(keys));
}

static void experiments_and_metrics_are_ranked_apart(void **state)
{
    const char *const keys[] = {"z", "a", "b", "c", "d"};
    const size_t ranks[] = {1, 1, 2, 1, 0};
    struct fixture *f = *state;
    struct run_entry *other;

    add_run(f, "done", VALUE("val/loss", "c", "1"));
    add_run(f, "done", VALUE("val/loss", "d", "null"));
    add_run(f, "done", VALUE("val/ic", "a", "0.2"));
    add_run(f, "done", VALUE("val/ic", "b", "0.1"));
    other = add_run(f, "done", VALUE("val/loss", "z", "9"));
    free(other->experiment);
    other->experiment = memory_string("another", NULL);
    check_order(f, keys, COUNT_OF(keys));
    assert_string_equal(f->board.metric, "metric");
    for (size_t i = 0; i < COUNT_OF(ranks); i++)
        assert_int_equal(f->board.rows[i].rank, ranks[i]);
}

/* ---- differing keys ----------------------------------------------------- */

static void keys_that_only_some_runs_have_differ_too(void **state)
{
    struct fixture *f = *state;
    struct string_list keys;
    struct m2_error err;

    add_run(f, "done", "{\"config\": {\"a\": \"1\", \"b\": \"2\"}}");
    add_run(f, "done", "{\"config\": {\"a\": \"1\", \"c\": \"2\"}}");
    add_run(f, "done", "{\"config\": {\"a\": \"1\", \"seed\": \"1\"}}");
    assert_ok(run_list_differing_keys(&f->list, false, &keys, &err), &err);
    assert_int_equal(keys.count, 2);
    assert_string_equal(keys.items[0], "b");
    assert_string_equal(keys.items[1], "c");
    string_list_free(&keys);
    assert_ok(run_list_differing_keys(&f->list, true, &keys, &err), &err);
    assert_int_equal(keys.count, 3);
    assert_string_equal(keys.items[2], "seed");
    string_list_free(&keys);
}

static void options_of_one_source_differ_among_its_runs_only(void **state)
{
    struct fixture *f = *state;
    struct string_list keys;
    struct m2_error err;

    add_run(
        f, "done",
        "{\"config\": {\"data.source\": \"csv\", "
        "\"data.options.header\": \"auto\", \"data.options.sort\": \"1\"}}");
    add_run(
        f, "done",
        "{\"config\": {\"data.source\": \"csv\", "
        "\"data.options.header\": \"auto\", \"data.options.sort\": \"2\"}}");
    add_run(f, "done", "{\"config\": {\"data.source\": \"dbn\"}}");
    assert_ok(run_list_differing_keys(&f->list, false, &keys, &err), &err);
    assert_int_equal(keys.count, 2);
    assert_string_equal(keys.items[0], "data.source");
    assert_string_equal(keys.items[1], "data.options.sort");
    string_list_free(&keys);
}

static void metrics_know_their_direction(void **state)
{
    (void)state;
    assert_true(metric_is_higher_better("val/ic"));
    assert_true(metric_is_higher_better("test/rank_ic"));
    assert_true(metric_is_higher_better("val/hit_rate"));
    assert_true(metric_is_higher_better("val/skill"));
    assert_false(metric_is_higher_better("val/loss"));
    assert_false(metric_is_higher_better("val/rmse_raw"));
    assert_false(metric_is_higher_better("train/loss"));
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_know_their_direction),
        TEST(seeds_of_a_configuration_are_one_row),
        TEST(what_changes_no_result_makes_no_row),
        TEST(other_data_make_another_row),
        TEST(runs_that_are_not_done_are_counted_beside),
        TEST(what_diverged_is_counted_and_enters_no_mean),
        TEST(as_many_values_are_expected_as_any_configuration_has),
        TEST(the_test_score_is_that_of_the_metric),
        TEST(a_run_without_a_record_is_left_out),
        TEST(scores_stand_beside_the_naive_forecast_and_the_test),
        TEST(the_lowest_loss_is_first_and_no_value_last),
        TEST(the_highest_rate_is_first_and_no_value_last),
        TEST(equal_values_stand_in_the_order_of_their_settings),
        TEST(experiments_and_metrics_are_ranked_apart),
        TEST(keys_that_only_some_runs_have_differ_too),
        TEST(options_of_one_source_differ_among_its_runs_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
