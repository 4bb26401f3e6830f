/* True values, prices, naive forecasts and scores, against hand values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "data/baseline.h"
#include "data/metrics.h"
#include "data/target.h"
#include "table_source.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const close_only[] = {"close", NULL};
static const char *const log_returns[] = {"log_return(close)", NULL};

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

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-12 * (1.0 + fabs(expected))))
        fail_msg("%.17g is not %.17g", actual, expected);
}

/* close: 100, 101, 103, 106, 110, 115, 121, ... */
static void true_values_follow_the_horizon_mode(void **state)
{
    static const struct {
        enum m2_horizon mode;
        int64_t width;
        double values[3];
    } cases[] = {
        {M2_HORIZON_PATH, 3, {103, 106, 110}},
        {M2_HORIZON_LAST, 1, {110}},
        {M2_HORIZON_SUM, 1, {319}},
    };
    struct table table;

    (void)state;
    table_of_bars(&table, 10);
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct config config = test_config(close_only, close_only, 2, 3);
        config.data.horizon_mode = cases[k].mode;
        config.data.scale = SCALE_ZSCORE;
        struct dataset d = load(&table, &config);
        double scaled[3], raw[3];
        assert_int_equal(target_width(&d, &config.data), cases[k].width);
        target_true(&d, &config.data, 0, scaled);
        target_true_raw(&d, &config.data, 0, raw);
        for (int64_t j = 0; j < cases[k].width; j++) {
            assert_true(raw[j] == cases[k].values[j]);
            assert_near(target_unscale(&d, &config.data, 0, j, scaled[j]),
                        cases[k].values[j]);
            assert_true(raw[j] != scaled[j]);
        }
        /* Rows 7, 8, 9 follow start 5; row 10 is not there. */
        assert_true(
            target_true_raw_at(&d, &config.data, 5, cases[k].width - 1) > 0);
        assert_true(
            isnan(target_true_raw_at(&d, &config.data, 6, cases[k].width - 1)));
        dataset_free(&d);
        test_config_free(&config);
    }
}

/* Five prices: the close of the last row seen is 101 (row 1). */
static void forecasts_become_prices(void **state)
{
    static const struct {
        const char *target;
        enum m2_horizon mode;
        int64_t horizon;
        double raw[3], levels[3];
    } cases[] = {
        {"log_return(close)",
         M2_HORIZON_PATH,
         3,
         {0.01, -0.02, 0.005},
         {102.01506687550096, 99.99503320866597, 100.49626039846092}},
        {"log_return(close)", M2_HORIZON_SUM, 3, {0.02}, {103.04033534270233}},
        {"log_return(close)", M2_HORIZON_LAST, 1, {0.01}, {102.01506687550096}},
        {"log_return(close)", M2_HORIZON_LAST, 3, {0.01}, {NAN}},
        {"diff(close)", M2_HORIZON_PATH, 3, {1, -3, 0.5}, {102, 99, 99.5}},
        {"diff(close)", M2_HORIZON_SUM, 3, {-1.5}, {99.5}},
        {"return(close)", M2_HORIZON_PATH, 2, {0.1, -0.5}, {111.1, 55.55}},
        {"return(close)", M2_HORIZON_SUM, 2, {0.1}, {NAN}},
        {"return(close)", M2_HORIZON_SUM, 1, {0.1}, {111.1}},
        {"close", M2_HORIZON_PATH, 2, {99, 98}, {99, 98}},
        {"close", M2_HORIZON_LAST, 3, {98}, {98}},
        {"close", M2_HORIZON_SUM, 3, {300}, {NAN}},
        {"sma(close,2)", M2_HORIZON_PATH, 1, {100}, {NAN}},
        {"log_return(close,2)", M2_HORIZON_PATH, 1, {0.1}, {NAN}},
    };
    struct table table;

    (void)state;
    table_of_bars(&table, 10);
    for (size_t k = 0; k < COUNT(cases); k++) {
        const char *const targets[] = {cases[k].target, NULL};
        struct config config =
            test_config(close_only, targets, 1, cases[k].horizon);
        config.data.horizon_mode = cases[k].mode;
        struct dataset d = load(&table, &config);
        double levels[3];
        target_levels(&d, &config.data, 1, cases[k].raw, levels);
        for (int64_t j = 0; j < target_width(&d, &config.data); j++) {
            if (isnan(cases[k].levels[j]))
                assert_true(isnan(levels[j]));
            else
                assert_near(levels[j], cases[k].levels[j]);
        }
        dataset_free(&d);
        test_config_free(&config);
    }
}

/* The level of the true values is the price that came. */
static void true_values_lead_to_the_true_price(void **state)
{
    struct table table;

    (void)state;
    table_of_bars(&table, 12);
    struct config config = test_config(log_returns, log_returns, 3, 4);
    struct dataset d = load(&table, &config);
    for (int64_t i = 0; i < d.parts[PART_TRAIN].n; i++) {
        int64_t start = d.parts[PART_TRAIN].starts[i];
        double raw[4], levels[4];
        target_true_raw(&d, &config.data, start, raw);
        target_levels(&d, &config.data, start, raw, levels);
        for (int64_t k = 0; k < 4; k++)
            assert_near(levels[k], d.levels[start + 3 + k]);
    }
    dataset_free(&d);
    test_config_free(&config);
}

/* close 100, 101, 103, 106 with L = 2, H = 1: windows at 0 and 1 with truth
 * 103 and 106; repeat-last says 101 and 103, the mean 100.5 and 102. */
static void baselines_score_what_they_score_by_hand(void **state)
{
    struct table table;
    struct baseline_scores scores;
    struct m2_error err;

    (void)state;
    table_of_bars(&table, 4);
    struct config config = test_config(close_only, close_only, 2, 1);
    struct dataset d = load(&table, &config);
    assert_int_equal(
        baseline_evaluate(&d, &config.data, PART_TRAIN, &scores, &err), M2_OK);
    assert_near(scores.mse[BASELINE_REPEAT_LAST], (4.0 + 9.0) / 2);
    assert_near(scores.mae[BASELINE_REPEAT_LAST], 2.5);
    assert_near(scores.mse[BASELINE_INPUT_MEAN], (6.25 + 16.0) / 2);
    assert_near(scores.rmse_raw[BASELINE_REPEAT_LAST], sqrt(6.5));
    assert_false(scores.valid[BASELINE_ZERO]);
    assert_near(scores.best_mse, 6.5);
    dataset_free(&d);
    test_config_free(&config);
}

/* diff(close) is 1, 2, 3, ... from row 1 on: zscore scaling shifts zero, and a
 * sum over the horizon shifts it as often as the horizon has steps. */
static void zero_is_zero_in_raw_units(void **state)
{
    static const char *const diffs[] = {"diff(close)", NULL};
    struct table table;
    struct baseline_scores scores;
    struct m2_error err;

    (void)state;
    table_of_bars(&table, 7);
    struct config config = test_config(diffs, diffs, 2, 2);
    config.data.horizon_mode = M2_HORIZON_SUM;
    config.data.scale = SCALE_ZSCORE;
    struct dataset d = load(&table, &config);
    /* Windows at rows 1, 2, 3 with truth 3+4, 4+5, 5+6. */
    assert_int_equal(d.parts[PART_TRAIN].n, 3);
    assert_int_equal(
        baseline_evaluate(&d, &config.data, PART_TRAIN, &scores, &err), M2_OK);
    assert_true(scores.valid[BASELINE_ZERO]);
    double spread = sqrt(35.0 / 12.0); /* of 1 .. 6 */
    assert_near(d.scaling.target_spread[0], spread);
    assert_near(scores.rmse_raw[BASELINE_ZERO],
                sqrt((49.0 + 81.0 + 121.0) / 3));
    assert_near(scores.mse[BASELINE_ZERO],
                (49.0 + 81.0 + 121.0) / 3 / spread / spread);
    /* Repeat-last: 2+2, 3+3, 4+4, always 3 too low. */
    assert_near(scores.rmse_raw[BASELINE_REPEAT_LAST], 3.0);
    assert_near(scores.rmse_raw[BASELINE_INPUT_MEAN], 4.0);
    dataset_free(&d);
    test_config_free(&config);
}

static void scores_are_what_they_are_by_hand(void **state)
{
    static const char *const diffs[] = {"diff(close)", NULL};
    static const double closes[] = {10, 11, 11, 9, 12, 13, 12};
    struct table table;
    struct metrics m;
    struct m2_error err;

    (void)state;
    table_of_bars(&table, COUNT(closes));
    for (size_t i = 0; i < COUNT(closes); i++)
        table.series[0].values[i][0] = closes[i];
    struct config config = test_config(diffs, diffs, 1, 1);
    config.data.scale = SCALE_MINMAX;
    struct dataset d = load(&table, &config);
    /* diffs from row 1: 1 0 -2 3 1 -1; min -2, spread 5; windows at rows
     * 1 .. 5 with truth 0 -2 3 1 -1. */
    assert_int_equal(d.parts[PART_TRAIN].n, 5);
    static const double raw_pred[] = {1, -1, 2, 2, 1};
    double pred[5];
    for (int i = 0; i < 5; i++)
        pred[i] = (raw_pred[i] + 2) / 5;
    struct metrics_input input = {&d, &config.data, PART_TRAIN, pred, 0.5};
    assert_int_equal(metrics_evaluate(&input, &m, &err), M2_OK);
    /* errors 1 1 -1 1 2: squares 8 */
    assert_near(m.mse, 8.0 / 5 / 25);
    assert_near(m.mae, 6.0 / 5 / 5);
    assert_near(m.rmse_raw, sqrt(8.0 / 5));
    assert_near(m.skill, 1 - 8.0 / 125 / 0.5);
    assert_int_equal(m.n_windows, 5);
    assert_int_equal(m.n_signed, 4);
    assert_near(m.hit_rate, 0.75);
    /* pred 1 -1 2 2 1 (mean 1), truth 0 -2 3 1 -1 (mean 0.2):
     * products 0*-.2 + -2*-2.2 + 1*2.8 + 1*.8 + 0 = 8; 6 and 14.8 */
    assert_near(m.ic, 8 / sqrt(6 * 14.8));
    /* ranks 2.5 1 4.5 4.5 2.5 and 3 1 5 4 2 about 3:
     * 0 + 4 + 3 + 1.5 + .5 = 9; .25+4+2.25+2.25+.25 = 9; 10 */
    assert_near(m.rank_ic, 9 / sqrt(9 * 10.0));
    pred[2] = NAN;
    assert_int_equal(metrics_evaluate(&input, &m, &err), M2_OK);
    assert_true(isnan(m.mse) && isnan(m.ic) && isnan(m.rank_ic));
    dataset_free(&d);
    test_config_free(&config);
}

static void a_correlation_with_a_constant_is_zero(void **state)
{
    static const double constant[] = {0.1, 0.1, 0.1}, other[] = {1, 2, 4};
    double out;
    struct m2_error err;

    (void)state;
    assert_true(metrics_pearson(constant, other, 3) == 0.0);
    assert_true(metrics_pearson(other, constant, 3) == 0.0);
    assert_int_equal(metrics_spearman(other, constant, 3, &out, &err), M2_OK);
    assert_true(out == 0.0);
    assert_near(metrics_pearson(other, other, 3), 1.0);
}

static void levels_alone_have_no_hit_rate(void **state)
{
    struct table table;
    struct metrics m;
    struct m2_error err;
    double pred[8] = {0};

    (void)state;
    table_of_bars(&table, 10);
    struct config config = test_config(close_only, close_only, 2, 1);
    struct dataset d = load(&table, &config);
    struct metrics_input input = {&d, &config.data, PART_TRAIN, pred, INFINITY};
    assert_int_equal(metrics_evaluate(&input, &m, &err), M2_OK);
    assert_false(m.has_returns);
    assert_true(isnan(m.hit_rate) && m.mse > 0);
    dataset_free(&d);
    test_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_values_follow_the_horizon_mode),
        cmocka_unit_test(forecasts_become_prices),
        cmocka_unit_test(true_values_lead_to_the_true_price),
        cmocka_unit_test(baselines_score_what_they_score_by_hand),
        cmocka_unit_test(zero_is_zero_in_raw_units),
        cmocka_unit_test(scores_are_what_they_are_by_hand),
        cmocka_unit_test(a_correlation_with_a_constant_is_zero),
        cmocka_unit_test(levels_alone_have_no_hit_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
