/* Predicted prices, worked out by hand.
 *
 * The closes are 100, 101, 103, 106, 110, 115, 121, 128, a minute apart; the
 * newest window ends in the last one, 128, and the model is made to predict a
 * constant. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "predict_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { ROWS = 8, L = 3 };

struct price_case {
    const char *target;
    enum scale_kind scale;
    enum m2_window_norm norm;
    int64_t horizon;
    enum m2_horizon mode;
    double predicted; /* by the model, scaled */
    double value, price;
    int64_t step; /* of the line that is looked at */
};

static const struct price_case cases[] = {
    /* ln of the ratio: 128 * e^0.01 = 128 * 1.01005016708416806 */
    {"log_return(close)", SCALE_NONE, M2_NORM_NONE, 1, M2_HORIZON_PATH, 0.01,
     0.01, 129.286421386773511, 1},
    /* 128 * (1 - 0.02) */
    {"return(close)", SCALE_NONE, M2_NORM_NONE, 1, M2_HORIZON_PATH, -0.02,
     -0.02, 125.44, 1},
    /* The differences are 1, 2, ..., 7: mean 4, deviation sqrt(28 / 7) = 2;
     * 4 + 2 * 0.5 = 5; 128 + 5 */
    {"diff(close)", SCALE_ZSCORE, M2_NORM_NONE, 1, M2_HORIZON_PATH, 0.5, 5.0,
     133.0, 1},
    /* From 100 to 128: 100 + 28 * 1.25 = 135, a price already */
    {"close", SCALE_MINMAX, M2_NORM_NONE, 1, M2_HORIZON_PATH, 1.25, 135.0,
     135.0, 1},
    /* 0.01 per minute, two of them: 128 * e^0.02 = 128 * 1.02020134002675581 */
    {"log_return(close)", SCALE_NONE, M2_NORM_NONE, 2, M2_HORIZON_PATH, 0.01,
     0.01, 130.585771523424744, 2},
    /* The sum of two differences, each 4 + 2 x: 8 + 2 * 0.5 = 9; 128 + 9 */
    {"diff(close)", SCALE_ZSCORE, M2_NORM_NONE, 2, M2_HORIZON_SUM, 0.5, 9.0,
     137.0, 2},
    /* Measured from the last close of the window: 128 + 0.5 */
    {"close", SCALE_NONE, M2_NORM_LAST, 1, M2_HORIZON_PATH, 0.5, 128.5, 128.5,
     1},
};

/* Cell number `index` of a line. */
static const char *cell(const char *line, int index)
{
    while (index-- > 0)
        line = strchr(line, ',') + 1;
    return line;
}

/* The line of the newest window with this step. */
static const char *newest(const char *text, int64_t step)
{
    const char *found = NULL;

    for (const char *line = strchr(text, '\n') + 1; *line != '\0';
         line = strchr(line, '\n') + 1)
        if (strtoll(cell(line, 4), NULL, 10) == step)
            found = line;
    assert_non_null(found);
    return found;
}

static void check_case(const struct price_case *c)
{
    const char *const features[] = {"close", NULL};
    const char *const targets[] = {c->target, NULL};
    static const char times[] = "1970-01-01T00:07:00Z,1970-01-01T00:08:00Z,";
    struct table table;
    struct fixture fixture;
    struct config config = test_config(features, targets, L, c->horizon);

    table_of_bars(&table, ROWS);
    fixture_model(&config);
    config.data.scale = c->scale;
    config.data.window_norm = c->norm;
    config.data.horizon_mode = c->mode;
    fixture_open(&fixture, &table, &config);
    fixture_constant(&fixture, c->predicted);
    struct text text = fixture_predict(&fixture, WINDOWS_LIVE);
    const char *line = newest(text_string(&text), c->step);
    assert_memory_equal(line, times, sizeof times - 1);
    assert_memory_equal(cell(line, 2),
                        c->step == 1 ? "1970-01-01T00:08:00Z,A,1,"
                                     : "1970-01-01T00:09:00Z,A,2,",
                        25);
    assert_true(fabs(strtod(cell(line, 5), NULL) - c->value) < 1e-12);
    assert_memory_equal(cell(line, 6), ",", 1); /* not known yet */
    assert_true(fabs(strtod(cell(line, 7), NULL) - c->price) < 1e-10);
    text_free(&text);
    fixture_close(&fixture);
    test_config_free(&config);
}

static void a_prediction_becomes_the_price_worked_out_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        check_case(&cases[i]);
}

static void what_happened_stands_beside_it(void **state)
{
    const char *const features[] = {"close", NULL};
    const char *const targets[] = {"log_return(close)", NULL};
    struct table table;
    struct fixture fixture;
    struct config config = test_config(features, targets, L, 1);

    (void)state;
    table_of_bars(&table, ROWS);
    fixture_model(&config);
    fixture_open(&fixture, &table, &config);
    struct text text = fixture_predict(&fixture, WINDOWS_TRAIN);
    const char *line = newest(text_string(&text), 1);
    /* The last window whose target is known: 121 -> 128. */
    assert_true(strtod(cell(line, 6), NULL) == log(128.0 / 121.0));
    assert_true(fabs(strtod(cell(line, 8), NULL) - 128.0) < 1e-12);
    text_free(&text);
    fixture_close(&fixture);
    test_config_free(&config);
}

static void several_targets_have_columns_of_their_own(void **state)
{
    const char *const features[] = {"close", NULL};
    const char *const targets[] = {"log_return(close,2)", "volume", NULL};
    static const char header[] =
        "time,known_at,target_time,instrument,step,"
        "\"pred_log_return(close,2)\",\"true_log_return(close,2)\","
        "\"pred_level_log_return(close,2)\","
        "\"true_level_log_return(close,2)\",pred_volume,true_volume,"
        "pred_level_volume,true_level_volume\n";
    struct table table;
    struct fixture fixture;
    struct config config = test_config(features, targets, L, 1);

    (void)state;
    table_of_bars(&table, ROWS);
    fixture_model(&config);
    fixture_open(&fixture, &table, &config);
    fixture_constant(&fixture, 0.25);
    struct text text = fixture_predict(&fixture, WINDOWS_LIVE);
    const char *line = newest(text_string(&text), 1);
    assert_memory_equal(text_string(&text), header, sizeof header - 1);
    /* A return over two bars gives no price one bar ahead. */
    assert_string_equal(cell(line, 5), "0.25,,,,0.25,,0.25,\n");
    text_free(&text);
    fixture_close(&fixture);
    test_config_free(&config);
}

static void a_choice_without_windows_is_an_error(void **state)
{
    const char *const features[] = {"close", NULL};
    struct table table;
    struct fixture fixture;
    struct config config = test_config(features, features, L, 1);
    struct m2_error err;

    (void)state;
    table_of_bars(&table, ROWS);
    fixture_model(&config);
    fixture_open(&fixture, &table, &config);
    const struct batch_predict_request request = {.session = &fixture.session,
                                                  .windows = WINDOWS_TEST};
    assert_int_equal(batch_predict(&request, &err), M2_E_DATA);
    assert_string_equal(err.text, "predict: no window in the test part: one "
                                  "needs 4 rows without a gap");
    assert_int_equal(windows_default(&fixture.session.dataset), WINDOWS_TRAIN);
    fixture_close(&fixture);
    test_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prediction_becomes_the_price_worked_out_by_hand),
        cmocka_unit_test(what_happened_stands_beside_it),
        cmocka_unit_test(several_targets_have_columns_of_their_own),
        cmocka_unit_test(a_choice_without_windows_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
