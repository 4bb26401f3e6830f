/* Datasets: what is in a window, what is in a part, and no look-ahead. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "data/scaling.h"
#include "table_source.h"

static const char *const close_only[] = {"close", NULL};
static const char *const returns[] = {"log_return(close)", NULL};
static const char *const both[] = {"log_return(close)", "volume", NULL};

static struct dataset load(const struct table *table,
                           const struct config *config)
{
    struct dataset_request request = {.config = config};
    struct dataset dataset;
    struct m2_error err;

    if (dataset_load_with(table_source(table), &request, &dataset, &err) !=
        M2_OK)
        fail_msg("%s", err.text);
    return dataset;
}

static void assert_load_fails(const struct table *table,
                              const struct config *config, int code,
                              const char *text)
{
    struct dataset_request request = {.config = config};
    struct dataset dataset;
    struct m2_error err;

    assert_int_equal(
        dataset_load_with(table_source(table), &request, &dataset, &err), code);
    if (strstr(err.text, text) == NULL)
        fail_msg("'%s' does not hold '%s'", err.text, text);
}

static void assert_starts(const struct dataset_windows *windows, int64_t n,
                          const int32_t *starts)
{
    assert_int_equal(windows->n, n);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(windows->starts[i], starts[i]);
}

static void every_start_with_a_whole_window_is_taken(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 12);
    struct config config = test_config(returns, returns, 3, 2);
    struct dataset d = load(&table, &config);
    /* Row 0 has no return; the last window ends in row 11. */
    assert_starts(&d.parts[PART_TRAIN], 7,
                  (const int32_t[]){1, 2, 3, 4, 5, 6, 7});
    /* Look-back complete, two or one target beyond the end. */
    assert_starts(&d.live, 2, (const int32_t[]){8, 9});
    assert_true(isnan(d.features[0]));
    assert_true(d.features[1] == log(101.0 / 100.0));
    assert_true(d.levels[3] == 106.0);
    assert_int_equal(d.transforms[0], TARGET_LOG_RETURN);
    assert_true(d.target_is_return[0]);
    assert_string_equal(d.target_names[0], "log_return(close)");
    dataset_free(&d);
    test_config_free(&config);
}

static void stride_takes_every_nth_start_of_a_run(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 30);
    table.series[0].marks[14] = M2_MARK_BREAK;
    struct config config = test_config(close_only, close_only, 3, 1);
    config.data.stride = 4;
    config.data.split.train.fraction = 0.8;
    config.data.split.val.fraction = 0.2;
    struct dataset d = load(&table, &config);
    assert_starts(&d.parts[PART_TRAIN], 5, (const int32_t[]){0, 4, 8, 14, 18});
    assert_starts(&d.parts[PART_VAL], 6,
                  (const int32_t[]){21, 22, 23, 24, 25, 26});
    dataset_free(&d);
    test_config_free(&config);
}

static void no_window_or_return_spans_a_break_or_a_gap(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 20);
    table.series[0].marks[8] = M2_MARK_BREAK;
    for (size_t i = 13; i < 20; i++)
        table.series[0].times[i] += minutes(10);
    struct config config = test_config(returns, returns, 2, 1);
    struct dataset d = load(&table, &config);
    assert_true(isnan(d.features[8]));
    assert_true(isnan(d.features[13]));
    assert_starts(&d.parts[PART_TRAIN], 5 + 2 + 4,
                  (const int32_t[]){1, 2, 3, 4, 5, 9, 10, 14, 15, 16, 17});
    dataset_free(&d);
    /* Eleven steps are no gap when twelve are allowed, or gaps are ignored. */
    for (int i = 0; i < 2; i++) {
        config.data.max_gap = i == 0 ? 11 : 0;
        d = load(&table, &config);
        assert_true(d.features[13] == log(191.0 / 178.0));
        assert_int_equal(d.parts[PART_TRAIN].n, 5 + 9);
        dataset_free(&d);
    }
    test_config_free(&config);
}

static void another_contract_is_a_break_even_if_not_marked(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 20);
    for (size_t i = 0; i < 20; i++)
        table.series[0].ids[i] = i < 10 ? "6EH4" : "6EM4";
    struct config config = test_config(returns, returns, 2, 1);
    struct dataset d = load(&table, &config);
    assert_true(isnan(d.features[10]) && d.starts[10]);
    assert_int_equal(d.parts[PART_TRAIN].n, 7 + 7);
    dataset_free(&d);
    test_config_free(&config);
}

/* A window is in the part of its targets; its look-back may lie before. */
static void a_window_belongs_to_the_part_of_its_targets(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 20);
    struct config config = test_config(close_only, close_only, 3, 2);
    config.data.split.train = (struct split_bound){BOUND_ROWS, 0, 10, 0};
    config.data.split.val = (struct split_bound){BOUND_ROWS, 0, 5, 0};
    config.data.split.test = (struct split_bound){BOUND_ROWS, 0, 5, 0};
    struct dataset d = load(&table, &config);
    assert_starts(&d.parts[PART_TRAIN], 6, (const int32_t[]){0, 1, 2, 3, 4, 5});
    /* Targets are rows 10 .. 14. */
    assert_starts(&d.parts[PART_VAL], 4, (const int32_t[]){7, 8, 9, 10});
    assert_starts(&d.parts[PART_TEST], 4, (const int32_t[]){12, 13, 14, 15});
    assert_true(d.part_first_ns[PART_VAL] == minutes(10));
    assert_true(d.part_last_ns[PART_VAL] == minutes(14));
    dataset_free(&d);

    config.data.split.context = false;
    d = load(&table, &config);
    assert_starts(&d.parts[PART_VAL], 1, (const int32_t[]){10});
    assert_starts(&d.parts[PART_TEST], 1, (const int32_t[]){15});
    dataset_free(&d);

    config.data.split.context = true;
    config.data.split.embargo = 2;
    d = load(&table, &config);
    assert_starts(&d.parts[PART_TRAIN], 6, (const int32_t[]){0, 1, 2, 3, 4, 5});
    assert_starts(&d.parts[PART_VAL], 2, (const int32_t[]){9, 10});
    assert_starts(&d.parts[PART_TEST], 2, (const int32_t[]){14, 15});
    dataset_free(&d);
    test_config_free(&config);
}

static void a_part_without_a_window_is_an_error_with_both_numbers(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 1);
    struct config config = test_config(close_only, close_only, 60, 1);
    assert_load_fails(&table, &config, M2_E_DATA,
                      "no window in the train part: data.window 60 and "
                      "data.horizon 1 need 61 rows without a gap, the longest "
                      "stretch there has 1");
    table_of_bars(&table, 100);
    config.data.split.train.fraction = 0.9;
    config.data.split.val.fraction = 0.1;
    config.data.split.context = false;
    assert_load_fails(&table, &config, M2_E_DATA, "no window in the val part");
    table.series[0].n = 0;
    assert_load_fails(&table, &config, M2_E_DATA, "no rows");
    test_config_free(&config);
}

/* Two series with other times: pooled by the calendar, ordered by the time of
 * the last row of the look-back, then by series. */
static void series_are_pooled_by_the_calendar(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 10);
    table.n_series = 2;
    table.series[1] = table.series[0];
    table.series[1].name = "B";
    for (size_t i = 0; i < 10; i++) {
        table.series[1].times[i] += minutes(5);
        table.series[1].values[i][0] = 7.0;
    }
    struct config config = test_config(close_only, close_only, 2, 1);
    config.data.split.train = (struct split_bound){BOUND_ROWS, 0, 9, 0};
    config.data.split.val = (struct split_bound){BOUND_ROWS, 0, 6, 0};
    config.data.scale = SCALE_ZSCORE;
    struct dataset d = load(&table, &config);
    /* A has minutes 0 .. 9 in rows 0 .. 9, B minutes 5 .. 14 in 10 .. 19. */
    assert_starts(&d.parts[PART_TRAIN], 9,
                  (const int32_t[]){0, 1, 2, 3, 4, 5, 10, 6, 11});
    assert_int_equal(dataset_series_of(&d, 9), 0);
    assert_int_equal(dataset_series_of(&d, 10), 1);
    assert_true(dataset_known_at(&d, 12) == minutes(8));
    /* B does not vary: it is scaled to 0, with a warning. */
    assert_true(d.features[15] == 0.0 && d.scaling.feature_spread[1] == 0.0);
    assert_true(d.scaling.feature_shift[1] == 7.0);
    bool warned = false;
    for (size_t i = 0; i < d.n_facts; i++)
        warned = warned || (d.facts[i].warning &&
                            strstr(d.facts[i].what, "does not vary") != NULL);
    assert_true(warned);
    dataset_free(&d);
    test_config_free(&config);
}

static void scaling_is_fitted_on_training_rows_alone(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 20);
    struct config config = test_config(both, returns, 2, 1);
    config.data.split.train = (struct split_bound){BOUND_ROWS, 0, 5, 0};
    config.data.split.val = (struct split_bound){BOUND_ROWS, 0, 15, 0};
    config.data.scale = SCALE_ZSCORE;
    struct dataset d = load(&table, &config);
    /* volume 1 .. 5: mean 3, population variance 2 */
    assert_true(d.scaling.feature_shift[1] == 3.0);
    assert_true(d.scaling.feature_spread[1] == sqrt(2.0));
    assert_true(d.features[2 * 19 + 1] == 17.0 / sqrt(2.0));
    dataset_free(&d);
    for (size_t i = 5; i < 20; i++)
        table.series[0].values[i][1] = 1e6;
    d = load(&table, &config);
    assert_true(d.scaling.feature_shift[1] == 3.0);
    dataset_free(&d);
    config.data.scale = SCALE_MINMAX;
    d = load(&table, &config);
    assert_true(d.features[2 * 0 + 1] == 0.0 && d.features[2 * 4 + 1] == 1.0);
    dataset_free(&d);
    test_config_free(&config);
}

/* Any row after t changed: nothing up to t changes, and no training window
 * does when t is in the training part's last row or later. */
static void rows_after_t_change_nothing_up_to_t(void **state)
{
    static const char *const features[] = {
        "log_return(close)", "sma(volume,3)",       "ema(close,4)",
        "zscore(close,5)",   "lag(volume,2)",       "std(diff(close),3)",
        "time_of_day",       "ratio(close,volume)", NULL};
    struct table table;
    struct dataset_scaling_table fixed = {0};

    (void)state;
    table_of_bars(&table, 40);
    struct config config = test_config(features, returns, 4, 2);
    config.data.split.train = (struct split_bound){BOUND_ROWS, 0, 24, 0};
    config.data.split.val = (struct split_bound){BOUND_ROWS, 0, 16, 0};
    config.data.scale = SCALE_ZSCORE;
    struct dataset before = load(&table, &config);
    struct m2_error err;
    assert_int_equal(scaling_table_copy(before.scaling_table, &fixed, &err),
                     M2_OK);
    for (size_t t = 10; t < 39; t++) {
        struct table changed = table;
        for (size_t i = t + 1; i < 40; i++) {
            changed.series[0].values[i][0] *= 3.0;
            changed.series[0].values[i][1] += 17.0;
        }
        struct dataset_request request = {.config = &config, .scaling = &fixed};
        struct dataset after;
        assert_int_equal(
            dataset_load_with(table_source(&changed), &request, &after, &err),
            M2_OK);
        assert_memory_equal(before.features, after.features,
                            (t + 1) * 8 * sizeof(double));
        assert_memory_equal(before.targets, after.targets,
                            (t + 1) * sizeof(double));
        assert_true(memcmp(before.features, after.features,
                           40 * 8 * sizeof(double)) != 0);
        assert_int_equal(before.parts[0].n, after.parts[0].n);
        dataset_free(&after);
        if (t < 23)
            continue;
        /* With fitted scaling, too: validation rows are not looked at. */
        after = load(&changed, &config);
        assert_memory_equal(before.features, after.features,
                            24 * 8 * sizeof(double));
        dataset_free(&after);
    }
    scaling_table_free(&fixed);
    dataset_free(&before);
    test_config_free(&config);
}

static void independent_channels_are_series_of_their_own(void **state)
{
    static const char *const channels[] = {"close", "volume", NULL};
    struct table table;

    (void)state;
    table_of_bars(&table, 10);
    struct config config = test_config(channels, channels, 3, 1);
    config.data.channels = CHANNELS_INDEPENDENT;
    config.data.scale = SCALE_ZSCORE;
    struct dataset d = load(&table, &config);
    assert_int_equal(d.n_series, 2);
    assert_int_equal(d.F, 1);
    assert_int_equal(d.O, 1);
    assert_int_equal(d.S, 20);
    assert_string_equal(d.series[1].name, "A/volume");
    assert_string_equal(d.series[1].instrument, "A");
    assert_int_equal(d.series[1].channel, 1);
    assert_true(d.targets_raw[10] == 1.0 && d.targets_raw[19] == 10.0);
    assert_true(d.scaling.target_shift[1] == 5.5);
    assert_starts(
        &d.parts[PART_TRAIN], 14,
        (const int32_t[]){0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16});
    dataset_free(&d);
    config.data.n_targets = 1;
    assert_load_fails(&table, &config, M2_E_CONFIG, "2 features and 1 targets");
    config.data.n_targets = 2;
    test_config_free(&config);
}

static void missing_values_follow_the_policy(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 10);
    table.series[0].values[4][0] = NAN;
    table.series[0].values[6][0] = INFINITY;
    struct config config = test_config(close_only, close_only, 2, 1);
    assert_load_fails(&table, &config, M2_E_DATA,
                      "series 'A': 2 missing values in 2 rows, the first in "
                      "column close at 1970-01-01T00:04:00Z");
    config.data.missing = MISSING_DROP;
    struct dataset d = load(&table, &config);
    assert_int_equal(d.S, 8);
    assert_true(d.features[4] == 115.0 && d.times[4] == minutes(5));
    dataset_free(&d);
    config.data.missing = MISSING_FFILL;
    d = load(&table, &config);
    assert_int_equal(d.S, 10);
    assert_true(d.features[4] == 106.0 && d.features[6] == 115.0);
    dataset_free(&d);
    /* The value of another contract completes nothing: the row goes, and the
     * break is the next row's. */
    table.series[0].marks[6] = M2_MARK_BREAK;
    d = load(&table, &config);
    assert_int_equal(d.S, 9);
    assert_true(d.times[6] == minutes(7) && d.starts[6]);
    dataset_free(&d);
    /* A column that nothing reads may miss what it likes. */
    static const char *const volume[] = {"volume", NULL};
    struct config other = test_config(volume, volume, 2, 1);
    d = load(&table, &other);
    assert_int_equal(d.S, 10);
    dataset_free(&d);
    test_config_free(&config);
    test_config_free(&other);
}

static void short_gaps_are_filled_with_bars_without_trades(void **state)
{
    struct table table;
    static const char *const features[] = {"close", "volume", NULL};

    (void)state;
    table_of_bars(&table, 10);
    for (size_t i = 4; i < 10; i++)
        table.series[0].times[i] += minutes(2);
    for (size_t i = 8; i < 10; i++)
        table.series[0].times[i] += minutes(5);
    struct config config = test_config(features, close_only, 2, 1);
    config.data.fill = 3;
    config.data.max_gap = 2;
    struct dataset d = load(&table, &config);
    assert_int_equal(d.S, 12);
    assert_true(d.times[4] == minutes(4) && d.times[5] == minutes(5));
    assert_true(d.features[2 * 5] == 106.0 && d.features[2 * 5 + 1] == 0.0);
    assert_true(d.features[2 * 6] == 110.0);
    assert_true(d.starts[10] && !d.starts[4] && !d.starts[6]);
    bool counted = false;
    for (size_t i = 0; i < d.n_facts; i++)
        counted = counted ||
                  (strcmp(d.facts[i].what, "missing bars filled in") == 0 &&
                   d.facts[i].n == 2);
    assert_true(counted);
    dataset_free(&d);
    test_config_free(&config);
}

static void a_logarithm_of_nothing_is_refused_or_left_out(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 12);
    table.series[0].values[5][0] = -0.25;
    struct config config = test_config(returns, returns, 2, 1);
    assert_load_fails(&table, &config, M2_E_DATA,
                      "no value for 2 rows of series 'A', first at "
                      "1970-01-01T00:05:00Z: log_return(close): close is "
                      "-0.25 after 110");
    config.data.missing = MISSING_DROP;
    struct dataset d = load(&table, &config);
    assert_int_equal(d.S, 12);
    assert_true(isnan(d.features[5]) && isnan(d.features[6]));
    assert_starts(&d.parts[PART_TRAIN], 5, (const int32_t[]){1, 2, 7, 8, 9});
    dataset_free(&d);
    test_config_free(&config);
}

/* For predict: known scaling, other data, however short. */
static void all_windows_come_out_on_request(void **state)
{
    struct table table;
    struct dataset first, d;
    struct m2_error err;

    (void)state;
    table_of_bars(&table, 30);
    struct config config = test_config(close_only, close_only, 3, 1);
    config.data.split.train = (struct split_bound){BOUND_ROWS, 0, 12, 0};
    config.data.split.val = (struct split_bound){BOUND_ROWS, 0, 6, 0};
    config.data.scale = SCALE_ZSCORE;
    config.data.stride = 5;
    first = load(&table, &config);
    assert_int_equal(first.parts[PART_TRAIN].n, 2);
    table.series[0].n = 8;
    table.series[0].name = "elsewhere";
    struct dataset_request request = {
        .config = &config, .scaling = first.scaling_table, .all_windows = true};
    assert_int_equal(
        dataset_load_with(table_source(&table), &request, &d, &err), M2_OK);
    assert_starts(&d.parts[PART_TRAIN], 5, (const int32_t[]){0, 1, 2, 3, 4});
    assert_starts(&d.all, 5, (const int32_t[]){0, 1, 2, 3, 4});
    assert_starts(&d.live, 1, (const int32_t[]){5});
    assert_true(d.scaling.feature_shift[0] == first.scaling.feature_shift[0]);
    dataset_free(&d);
    dataset_free(&first);
    test_config_free(&config);
}

static void counts_of_the_source_are_facts(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 10);
    struct config config = test_config(close_only, close_only, 3, 1);
    struct dataset d = load(&table, &config);
    assert_int_equal(d.n_facts, 1);
    assert_string_equal(d.facts[0].what, "blank lines skipped");
    assert_string_equal(d.facts[0].where, "t.csv:3");
    assert_int_equal(d.facts[0].n, 2);
    dataset_free(&d);
    test_config_free(&config);
}

static void a_source_that_goes_back_in_time_is_refused(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 10);
    table.series[0].times[7] = minutes(6); /* in another block than row 6 */
    struct config config = test_config(close_only, close_only, 3, 1);
    assert_load_fails(&table, &config, M2_E_DATA,
                      "series 'A' goes back in time at 1970-01-01T00:06:00Z");
    test_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_start_with_a_whole_window_is_taken),
        cmocka_unit_test(stride_takes_every_nth_start_of_a_run),
        cmocka_unit_test(no_window_or_return_spans_a_break_or_a_gap),
        cmocka_unit_test(another_contract_is_a_break_even_if_not_marked),
        cmocka_unit_test(a_window_belongs_to_the_part_of_its_targets),
        cmocka_unit_test(a_part_without_a_window_is_an_error_with_both_numbers),
        cmocka_unit_test(series_are_pooled_by_the_calendar),
        cmocka_unit_test(scaling_is_fitted_on_training_rows_alone),
        cmocka_unit_test(rows_after_t_change_nothing_up_to_t),
        cmocka_unit_test(independent_channels_are_series_of_their_own),
        cmocka_unit_test(missing_values_follow_the_policy),
        cmocka_unit_test(short_gaps_are_filled_with_bars_without_trades),
        cmocka_unit_test(a_logarithm_of_nothing_is_refused_or_left_out),
        cmocka_unit_test(all_windows_come_out_on_request),
        cmocka_unit_test(counts_of_the_source_are_facts),
        cmocka_unit_test(a_source_that_goes_back_in_time_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
