/* Feature expressions: grammar, messages, values, causality. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/expression.h"
#include "util/timefmt.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const columns[] = {"open", "close", "volume", "T (degC)",
                                      "hour"};
static const struct expression_scope scope = {.key = "data.features[0]",
                                              .columns = columns,
                                              .n_columns = 5};

static struct expression *parse(const char *text)
{
    struct expression *e;
    struct m2_error err;

    if (expression_parse(text, &scope, &e, &err) != M2_OK)
        fail_msg("%s", err.text);
    return e;
}

static void text_becomes_canonical(void **state)
{
    static const char *const cases[][2] = {
        {"close", "close"},
        {" log_return( close ) ", "log_return(close)"},
        {"log_return(close, 1)", "log_return(close)"},
        {"log_return(close, 5)", "log_return(close,5)"},
        {"log_ratio(close,open)", "log_ratio(close,open)"},
        {"zscore( std(diff(close), 3),20 )", "zscore(std(diff(close),3),20)"},
        {"T (degC)", "T (degC)"},
        {"time_of_day", "time_of_day"},
        {"time_of_day()", "time_of_day"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct expression *e = parse(cases[i][0]);
        struct text text = {0};
        expression_print(e, &text);
        assert_string_equal(text_string(&text), cases[i][1]);
        text_free(&text);
        expression_free(e);
    }
}

static void what_is_wrong_is_said_with_what_there_is(void **state)
{
    static const char *const cases[][2] = {
        {"log_retrun(close)",
         "data.features[0]: 'log_retrun(close)': there is no function "
         "log_retrun; did you mean log_return? Functions: log_return, "},
        {"clsoe", "the data has no column clsoe; did you mean close? Columns: "
                  "open, close, volume, T (degC), hour"},
        {"xyzzy", "the data has no column xyzzy. Columns:"},
        {"log(clos)", "the data has no column clos; did you mean close?"},
        {"log_return", "log_return is a function: log_return(c, n=1)"},
        {"sma(close)", "expected sma(c, n): mean"},
        {"sma(close,0)", "the last argument of sma is a number of rows from 1 "
                         "to 1000000, not '0'"},
        {"std(close,1)", "a number of rows from 2 to"},
        {"sma(close,x)", "not 'x'"},
        {"sma(close,2.5)", "not '2.5'"},
        {"log(close,3)", "expected log(c)"},
        {"ratio(close)", "expected ratio(a, b)"},
        {"log(close", "expected log(c)"},
        {"log(close))", "nothing may follow before ')'"},
        {"close open", "the data has no column close open"},
        {"log()", "a name is missing before ')'"},
        {"", "a name is missing before 'the end'"},
        {"abs(abs(abs(abs(abs(abs(abs(abs(abs(close)))))))))",
         "functions nest more than 8 deep"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct expression *e;
        struct m2_error err;
        assert_int_equal(expression_parse(cases[i][0], &scope, &e, &err),
                         M2_E_CONFIG);
        if (strstr(err.text, cases[i][1]) == NULL)
            fail_msg("'%s' does not hold '%s'", err.text, cases[i][1]);
    }
}

static void syntax_alone_takes_any_column(void **state)
{
    static const struct expression_scope any = {.key = "data.target[0]"};
    struct expression *e;
    struct m2_error err;

    (void)state;
    assert_int_equal(expression_parse("log_return(whatever)", &any, &e, &err),
                     M2_OK);
    expression_free(e);
    assert_int_equal(expression_parse("lgo(whatever)", &any, &e, &err),
                     M2_E_CONFIG);
}

enum { N = 8 };
static const double open_values[N] = {1, 2, 3, 4, 5, 6, 7, 8};
static const double close_values[N] = {2, 4, 4, 8, 2, 2, 2, 5};
static const double volume_values[N] = {0, 1, 0, 3, -1, 5, 6, 7};
static const double *const all_values[] = {
    open_values, close_values, volume_values, volume_values, volume_values};

/* 1970-01-01 was a Thursday; rows are 18 h apart; row 5 begins a piece. */
static void evaluate(const char *text, double out[N],
                     struct expression_refused *refused)
{
    int64_t times[N];
    static const uint8_t starts[N] = {1, 0, 0, 0, 0, 1, 0, 0};
    struct expression *e = parse(text);
    struct m2_error err;
    struct expression_rows rows = {N, times, starts, all_values};

    for (int i = 0; i < N; i++)
        times[i] = (i - 2) * 18 * 3600 * M2_NS_PER_SECOND;
    assert_int_equal(expression_evaluate(e, &rows, out, refused, &err), M2_OK);
    expression_free(e);
}

static void functions_have_the_values_they_have_by_hand(void **state)
{
    static const double x = NAN;
    const struct {
        const char *text;
        double values[N];
    } cases[] = {
        {"close", {2, 4, 4, 8, 2, 2, 2, 5}},
        {"log_return(close)",
         {x, log(2), 0, log(2), log(0.25), x, 0, log(2.5)}},
        {"log_return(close,2)",
         {x, x, log(2), log(2), log(0.5), x, x, log(2.5)}},
        {"return(close)", {x, 1, 0, 1, -0.75, x, 0, 1.5}},
        {"diff(close)", {x, 2, 0, 4, -6, x, 0, 3}},
        {"lag(close,2)", {x, x, 2, 4, 4, x, x, 2}},
        {"log(open)",
         {0, log(2), log(3), log(4), log(5), log(6), log(7), log(8)}},
        {"abs(diff(close))", {x, 2, 0, 4, 6, x, 0, 3}},
        {"sign(volume)", {0, 1, 0, 1, -1, 1, 1, 1}},
        {"log_ratio(close,open)",
         {log(2), log(2), log(4.0 / 3), log(2), log(2.0 / 5), log(2.0 / 6),
          log(2.0 / 7), log(5.0 / 8)}},
        {"ratio(volume,close)", {0, 0.25, 0, 0.375, -0.5, 2.5, 3, 1.4}},
        {"spread(close,open)", {1, 2, 1, 4, -3, -4, -5, -3}},
        {"sma(close,3)", {x, x, 10.0 / 3, 16.0 / 3, 14.0 / 3, x, x, 3}},
        {"std(close,2)", {x, 1, 0, 2, 3, x, 0, 1.5}},
        {"zscore(close,2)", {x, 1, 0, 1, -1, x, 0, 1}},
        {"sma(diff(close),2)", {x, x, 1, 2, -1, x, x, 1.5}},
        {"ema(close,3)", {2, 3, 3.5, 5.75, 3.875, 2, 2, 3.5}},
        {"ema(diff(close),3)", {x, 2, 1, 2.5, -1.75, x, 0, 1.5}},
        {"hour", {0, 1, 0, 3, -1, 5, 6, 7}}, /* the column, not the function */
        {"time_of_day", {0.5, 0.25, 0, 0.75, 0.5, 0.25, 0, 0.75}},
        {"time_of_day_sin", {0, 1, 0, -1, 0, 1, 0, -1}},
        {"time_of_day_cos", {-1, 0, 1, 0, -1, 0, 1, 0}},
        {"day_of_week", {1, 2, 3, 3, 4, 5, 6, 6}},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        double out[N];
        struct expression_refused refused;
        evaluate(cases[k].text, out, &refused);
        assert_int_equal(refused.n, 0);
        for (int i = 0; i < N; i++) {
            double expected = cases[k].values[i];
            if (isnan(expected) != isnan(out[i]) ||
                fabs(expected - out[i]) > 1e-14)
                fail_msg("%s row %d: %.17g, not %.17g", cases[k].text, i,
                         out[i], expected);
        }
    }
}

static void an_undefined_value_is_counted_with_its_cause(void **state)
{
    static const struct {
        const char *text;
        uint64_t n;
        size_t row;
        const char *cause;
    } cases[] = {
        {"log(volume)", 3, 0, "log(volume): volume is 0"},
        {"log1p(volume)", 1, 4, "log1p(volume): volume is -1"},
        {"return(volume)", 2, 1, "return(volume): volume is 1 after 0"},
        {"log_return(volume)", 4, 1, "volume is 1 after 0"},
        {"ratio(close,volume)", 2, 0,
         "ratio(close,volume): close is 2, volume is 0"},
        {"sma(log(volume),2)", 3, 0, "log(volume): volume is 0"},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        double out[N];
        struct expression_refused refused;
        evaluate(cases[k].text, out, &refused);
        assert_int_equal(refused.n, cases[k].n);
        assert_int_equal(refused.row, cases[k].row);
        assert_non_null(strstr(refused.text, cases[k].cause));
        assert_true(isnan(out[refused.row]));
    }
}

static void history_is_how_far_back_a_value_reaches(void **state)
{
    static const struct {
        const char *text;
        int64_t rows;
    } cases[] = {
        {"close", 0},
        {"log_return(close)", 1},
        {"diff(close,7)", 7},
        {"sma(close,5)", 4},
        {"ema(close,5)", -1},
        {"zscore(log_return(close),20)", 20},
        {"log(ema(open,2))", -1},
        {"time_of_day", 0},
        {"spread(lag(close,3),sma(open,9))", 8},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct expression *e = parse(cases[k].text);
        assert_int_equal(expression_history(e), cases[k].rows);
        expression_free(e);
    }
}

static void a_target_knows_its_way_back(void **state)
{
    static const struct {
        const char *text;
        enum target_transform transform;
        size_t column;
        bool is_return;
    } cases[] = {
        {"close", TARGET_VALUE, 1, false},
        {"log_return(close)", TARGET_LOG_RETURN, 1, true},
        {"return(open)", TARGET_RETURN, 0, true},
        {"diff(open)", TARGET_DIFF, 0, true},
        {"diff(open,2)", TARGET_OTHER, SIZE_MAX, true},
        {"log_ratio(close,open)", TARGET_OTHER, SIZE_MAX, true},
        {"diff(log(close))", TARGET_OTHER, SIZE_MAX, true},
        {"sma(close,2)", TARGET_OTHER, SIZE_MAX, false},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct expression *e = parse(cases[k].text);
        size_t column;
        assert_int_equal(expression_transform(e, &column), cases[k].transform);
        assert_true(column == cases[k].column);
        assert_int_equal(expression_is_return(e), cases[k].is_return);
        expression_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_becomes_canonical),
        cmocka_unit_test(what_is_wrong_is_said_with_what_there_is),
        cmocka_unit_test(syntax_alone_takes_any_column),
        cmocka_unit_test(functions_have_the_values_they_have_by_hand),
        cmocka_unit_test(an_undefined_value_is_counted_with_its_cause),
        cmocka_unit_test(history_is_how_far_back_a_value_reaches),
        cmocka_unit_test(a_target_knows_its_way_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
