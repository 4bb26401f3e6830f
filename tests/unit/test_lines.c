/* Predictions as text: quoting, missing values, lossless numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "predict/lines.h"

static char one[] = "log_return(close)", two[] = "spread(high,low)";
static char *const targets[] = {one, two};

/* Two steps of one target, the second not known yet. */
static const double pred[] = {0.1, -2.5e-300}, level[] = {101.0, 1.0 / 3.0};
static const double truth[] = {0.30000000000000004, NAN};
static const double truth_level[] = {99.0, NAN};
static const int64_t target_times[] = {120 * INT64_C(1000000000),
                                       INT64_C(180500000000)};

static struct forecast two_steps(void)
{
    return (struct forecast){.series = "6E \"front\", U4",
                             .time = 60 * INT64_C(1000000000),
                             .known_at = 120 * INT64_C(1000000000),
                             .n_steps = 2,
                             .first_step = 1,
                             .target_times = target_times,
                             .pred = pred,
                             .pred_level = level,
                             .truth = truth,
                             .truth_level = truth_level};
}

static void check(const struct lines_format *format,
                  const struct forecast *forecast, const char *expected)
{
    struct text text = {0};

    lines_header(format, &text);
    lines_add(format, forecast, &text);
    assert_string_equal(text_string(&text), expected);
    text_free(&text);
}

static void csv_quotes_what_must_be(void **state)
{
    const struct lines_format format = {false, true, targets, 1};
    struct forecast forecast = two_steps();

    (void)state;
    check(&format, &forecast,
          "time,known_at,target_time,instrument,step,pred,true,pred_level,"
          "true_level\n"
          "1970-01-01T00:01:00Z,1970-01-01T00:02:00Z,1970-01-01T00:02:00Z,"
          "\"6E \"\"front\"\", U4\",1,0.1,0.30000000000000004,101,99\n"
          "1970-01-01T00:01:00Z,1970-01-01T00:02:00Z,1970-01-01T00:03:00.5Z,"
          "\"6E \"\"front\"\", U4\",2,-2.5e-300,,0.3333333333333333,\n");
}

static void json_has_an_object_per_line(void **state)
{
    const struct lines_format format = {true, true, targets, 1};
    struct forecast forecast = two_steps();

    (void)state;
    forecast.n_steps = 1;
    forecast.truth = forecast.truth_level = truth + 1;
    check(&format, &forecast,
          "{\"time\": \"1970-01-01T00:01:00Z\", \"known_at\": "
          "\"1970-01-01T00:02:00Z\", \"target_time\": "
          "\"1970-01-01T00:02:00Z\", \"instrument\": "
          "\"6E \\\"front\\\", U4\", \"step\": 1, \"pred\": 0.1, \"true\": "
          "null, \"pred_level\": 101, \"true_level\": null}\n");
}

static void without_truth_there_are_predictions_only(void **state)
{
    const struct lines_format format = {false, false, targets, 2};
    struct forecast forecast = two_steps();

    (void)state;
    forecast.n_steps = 1;
    forecast.first_step = 5;
    forecast.truth = forecast.truth_level = NULL;
    forecast.series = "A";
    check(&format, &forecast,
          "time,known_at,target_time,instrument,step,"
          "pred_log_return(close),pred_level_log_return(close),"
          "\"pred_spread(high,low)\",\"pred_level_spread(high,low)\"\n"
          "1970-01-01T00:01:00Z,1970-01-01T00:02:00Z,1970-01-01T00:02:00Z,A,"
          "5,0.1,101,-2.5e-300,0.3333333333333333\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_quotes_what_must_be),
        cmocka_unit_test(json_has_an_object_per_line),
        cmocka_unit_test(without_truth_there_are_predictions_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
