/* Rows one by one give the bits that all rows at once give. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/rolling.h"
#include "util/random.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { ROWS = 400 };

static const char *const columns[] = {"open", "close", "volume"};
static const struct expression_scope scope = {.key = "data.features[0]",
                                              .columns = columns,
                                              .n_columns = 3};

static double column_values[3][ROWS];
static int64_t times[ROWS];
static uint8_t starts[ROWS];

static int make_rows(void **state)
{
    struct random_stream noise = random_stream(1, "rows");

    (void)state;
    for (int t = 0; t < ROWS; t++) {
        times[t] = t * INT64_C(3600000000000);
        starts[t] = t == 0 || t == 37 || t == 40 || t == 300;
        for (int c = 0; c < 3; c++)
            column_values[c][t] =
                100.0 + random_normal(noise, (uint64_t)(3 * t + c));
        if (t % 5 == 0)
            column_values[2][t] = 7.0; /* some equal ones */
    }
    return 0;
}

static struct expression *parse(const char *text)
{
    struct expression *e;
    struct m2_error err;

    if (expression_parse(text, &scope, &e, &err) != M2_OK)
        fail_msg("%s", err.text);
    return e;
}

static void all_at_once(const struct expression *e, double *out)
{
    const double *values[] = {column_values[0], column_values[1],
                              column_values[2]};
    struct expression_rows rows = {ROWS, times, starts, values};
    struct expression_refused refused;
    struct m2_error err;

    assert_int_equal(expression_evaluate(e, &rows, out, &refused, &err), M2_OK);
}

static const char *const texts[] = {
    "close",
    "log_return(close)",
    "log_return(close,3)",
    "return(open,2)",
    "diff(diff(close))",
    "lag(close,17)",
    "log(volume)",
    "log1p(volume)",
    "abs(diff(open))",
    "sign(diff(open))",
    "log_ratio(close,open)",
    "ratio(close,sma(close,10))",
    "spread(close,lag(open,2))",
    "std(close,20)",
    "zscore(volume,2)",
    "zscore(std(log_return(close),3),20)",
    "ema(close,12)",
    "ema(ema(diff(close),3),5)",
    "hour",
    "time_of_day_sin",
    "time_of_day_cos",
    "day_of_week",
};

static void values_are_the_same_bits_for_every_function(void **state)
{
    static double expected[COUNT(texts)][ROWS];
    const struct expression *list[COUNT(texts)];
    struct expression *owned[COUNT(texts)];
    double out[COUNT(texts)];
    struct rolling *rolling;
    struct m2_error err;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        list[i] = owned[i] = parse(texts[i]);
        all_at_once(list[i], expected[i]);
    }
    assert_int_equal(rolling_create(list, COUNT(texts), &rolling, &err), 0);
    for (int t = 0; t < ROWS; t++) {
        const double row[] = {column_values[0][t], column_values[1][t],
                              column_values[2][t]};

        assert_null(rolling_push(rolling, starts[t], times[t], row, out));
        for (size_t i = 0; i < COUNT(texts); i++)
            if (memcmp(&out[i], &expected[i][t], sizeof out[i]) != 0)
                fail_msg("%s, row %d: %.17g, expected %.17g", texts[i], t,
                         out[i], expected[i][t]);
    }
    rolling_free(rolling);
    for (size_t i = 0; i < COUNT(texts); i++)
        expression_free(owned[i]);
}

static void a_refused_value_is_named_and_has_no_value(void **state)
{
    const struct expression *list[2];
    struct expression *volume = parse("volume"), *e = parse("diff(log(open))");
    const double good[] = {1, 1, 1}, bad[] = {0, 1, 1};
    struct rolling *rolling;
    struct m2_error err;
    double out[2];

    (void)state;
    list[0] = volume;
    list[1] = e;
    assert_int_equal(rolling_create(list, 2, &rolling, &err), 0);
    assert_null(rolling_push(rolling, true, 0, good, out));
    assert_ptr_equal(rolling_push(rolling, false, 1, bad, out), e);
    assert_true(out[0] == 1.0);
    assert_true(isnan(out[1]));
    assert_null(rolling_push(rolling, false, 2, good, out));
    assert_true(isnan(out[1])); /* the row before has no value */
    assert_null(rolling_push(rolling, false, 3, good, out));
    assert_true(out[1] == 0.0);
    rolling_free(rolling);
    expression_free(volume);
    expression_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_same_bits_for_every_function),
        cmocka_unit_test(a_refused_value_is_named_and_has_no_value),
    };

    return cmocka_run_group_tests(tests, make_rows, NULL);
}
