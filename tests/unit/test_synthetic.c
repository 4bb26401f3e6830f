/* The synthetic source: known answers, and nothing but seed and options. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "m2_data.h"

enum { MAX_OPTIONS = 32 };

/* Defaults of the plugin's table, changed by name=value. */
struct options {
    struct m2_value values[MAX_OPTIONS];
    const char *texts[MAX_OPTIONS];
    size_t n;
};

static void set(struct options *options, size_t i, const char *text)
{
    options->texts[i] = text;
    options->values[i].texts = &options->texts[i];
    options->values[i].n_texts = 1;
    options->values[i].number = strtod(text, NULL);
    options->values[i].integer = (int64_t)options->values[i].number;
}

static void defaults(struct options *options)
{
    const struct m2_option *table = m2_plugin_query_v1(NULL)->options;

    for (options->n = 0; table[options->n].name != NULL; options->n++) {
        options->values[options->n].name = table[options->n].name;
        set(options, options->n, table[options->n].initial);
    }
}

static void change(struct options *options, const char *name, const char *text)
{
    size_t i = 0;

    while (strcmp(options->values[i].name, name) != 0)
        assert_true(++i < options->n);
    set(options, i, text);
}

static int call(void *handle, enum m2_data_slot slot, void *args,
                struct m2_error *err)
{
    return m2_plugin_query_v1(NULL)->slots[slot].fn(handle, args, err);
}

static void *open_source(const struct options *options, uint64_t seed)
{
    struct m2_error err;
    struct m2_data_open open = {
        .options = options->values, .n_options = options->n, .seed = seed};

    if (call(NULL, M2_DATA_OPEN, &open, &err) != M2_OK)
        fail_msg("%s", err.text);
    return open.handle_out;
}

/* All values of series `series`, which the caller frees; *n gets the rows. */
static double *read_series(const struct options *options, uint64_t seed,
                           size_t series, size_t columns, size_t *n)
{
    struct m2_error err;
    void *source = open_source(options, seed);
    double *all = NULL;
    int64_t last = INT64_MIN;

    *n = 0;
    for (;;) {
        struct m2_data_next next;
        if (call(source, M2_DATA_NEXT, &next, &err) != M2_OK)
            fail_msg("%s", err.text);
        if (next.n_rows_out == 0)
            break;
        if (next.series_out != series)
            continue;
        all = realloc(all, (*n + next.n_rows_out) * columns * sizeof *all);
        assert_non_null(all);
        memcpy(all + *n * columns, next.values_out,
               next.n_rows_out * columns * sizeof *all);
        for (size_t i = 0; i < next.n_rows_out; i++) {
            assert_true(next.times_out[i] > last);
            last = next.times_out[i];
        }
        *n += next.n_rows_out;
    }
    call(source, M2_DATA_CLOSE, NULL, NULL);
    return all;
}

static double log_return(const double *bars, size_t t)
{
    return log(bars[5 * t + 3] / bars[5 * t - 2]);
}

/* The sample correlation of r_t with the best forecast, ic * r_{t-lag}, is the
 * option's ic within four standard errors, and so is every other lag's 0. */
static void bars_have_the_coefficient_they_are_given(void **state)
{
    static const struct {
        const char *ic, *lag;
    } cases[] = {{"0", "1"}, {"0.1", "1"}, {"0.5", "1"}, {"0.3", "7"}};
    const double tolerance = 4.0 / sqrt(100000.0);

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct options options;
        size_t n;
        defaults(&options);
        change(&options, "rows", "100000");
        change(&options, "ic", cases[k].ic);
        change(&options, "lag", cases[k].lag);
        double *bars = read_series(&options, 11, 0, 5, &n);
        size_t lag = (size_t)atoi(cases[k].lag);
        double product = 0, square = 0, neighbour = 0;
        for (size_t t = lag + 2; t < n; t++) {
            double r = log_return(bars, t);
            product += r * log_return(bars, t - lag);
            neighbour += r * log_return(bars, t - lag - 1);
            square += r * r;
        }
        double ic = atof(cases[k].ic);
        assert_true(fabs(product / square - ic) < tolerance);
        double expected = lag == 1 ? ic * ic : 0.0;
        assert_true(fabs(neighbour / square - expected) < tolerance);
        assert_true(fabs(sqrt(square / (double)n) / 5e-4 - 1.0) < 0.02);
        free(bars);
    }
}

static void bars_are_bars(void **state)
{
    struct options options;
    size_t n;

    (void)state;
    defaults(&options);
    change(&options, "price", "1.25");
    double *bars = read_series(&options, 3, 0, 5, &n);
    assert_int_equal(n, 4000);
    assert_true(fabs(bars[0] - 1.25) < 1e-12);
    for (size_t t = 0; t < n; t++) {
        const double *bar = bars + 5 * t;
        assert_true(bar[1] >= bar[0] && bar[1] >= bar[3]);
        assert_true(bar[2] <= bar[0] && bar[2] <= bar[3] && bar[2] > 0);
        assert_true(bar[4] >= 1 && bar[4] == floor(bar[4]));
        if (t > 0)
            assert_true(bar[0] == bar[-2]);
    }
    free(bars);
}

static void more_rows_or_instruments_change_none_there_were(void **state)
{
    static const struct {
        const char *kind;
        size_t columns;
    } cases[] = {{"bars", 5}, {"mackey_glass", 1}, {"sine_mix", 1}};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct options options;
        size_t few, many, columns = cases[k].columns;
        defaults(&options);
        change(&options, "kind", cases[k].kind);
        change(&options, "rows", "100");
        change(&options, "noise", "0.1");
        double *first = read_series(&options, 5, 0, columns, &few);
        change(&options, "rows", "5000");
        change(&options, "instruments", "2");
        double *again = read_series(&options, 5, 0, columns, &many);
        double *second = read_series(&options, 5, 1, columns, &many);
        double *other = read_series(&options, 6, 0, columns, &many);
        assert_int_equal(many, 5000);
        assert_memory_equal(first, again, 100 * columns * sizeof(double));
        assert_true(memcmp(again, second, many * sizeof(double)) != 0);
        assert_true(memcmp(again, other, many * sizeof(double)) != 0);
        free(first);
        free(again);
        free(second);
        free(other);
    }
}

/* The equation itself, by central differences at the sampling distance: loose,
 * but far below what a wrong delay or rate would give. */
static void mackey_glass_obeys_its_equation(void **state)
{
    struct options options;
    size_t n;
    double error = 0, size = 0;

    (void)state;
    defaults(&options);
    change(&options, "kind", "mackey_glass");
    double *x = read_series(&options, 1, 0, 1, &n);
    for (size_t t = 19; t + 2 < n; t++) {
        double slope = (x[t - 2] - 8 * x[t - 1] + 8 * x[t + 1] - x[t + 2]) / 12;
        double delayed = x[t - 17];
        double right = 0.2 * delayed / (1 + pow(delayed, 10)) - 0.1 * x[t];
        error += (slope - right) * (slope - right);
        size += slope * slope;
        assert_true(x[t] > 0.2 && x[t] < 1.6);
    }
    assert_true(sqrt(error / size) < 0.02);
    free(x);
}

/* One sine of period p: x[t+1] = 2 cos(2 pi / p) x[t] - x[t-1]. */
static void a_single_sine_is_continued_by_two_values(void **state)
{
    struct options options;
    size_t n;
    double square = 0;

    (void)state;
    defaults(&options);
    change(&options, "kind", "sine_mix");
    change(&options, "waves", "1");
    double *x = read_series(&options, 1, 0, 1, &n);
    double factor = (x[102] + x[100]) / x[101];
    for (size_t t = 1; t + 1 < n; t++) {
        assert_true(fabs(x[t + 1] + x[t - 1] - factor * x[t]) < 1e-9);
        square += x[t] * x[t];
    }
    assert_true(fabs(square / (double)n - 1.0) < 0.05);
    free(x);
}

static void an_option_that_is_no_time_is_refused(void **state)
{
    static const struct {
        const char *name, *text, *start;
    } cases[] = {
        {"step", "1w", "data.options.step: '1w' is no distance"},
        {"step", "0m", "data.options.step: '0m'"},
        {"step", "5", "data.options.step: '5'"},
        {"step", "99999999999d", "data.options.step: '99999999999d'"},
        {"step", "100000d", "data.options: 4000 rows of this step end after"},
        {"start", "2024-13-01", "data.options.start: '2024-13-01' is no time"},
        {"start", "2024-01-01T25:00:00", "data.options.start: "},
        {"start", "2024-01-01x", "data.options.start: "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct m2_error err;
        struct options options;
        defaults(&options);
        change(&options, cases[i].name, cases[i].text);
        struct m2_data_open open = {.options = options.values,
                                    .n_options = options.n};
        assert_int_equal(call(NULL, M2_DATA_OPEN, &open, &err), M2_E_CONFIG);
        assert_memory_equal(err.text, cases[i].start, strlen(cases[i].start));
    }
}

static void more_rows_than_fit_anywhere_are_refused(void **state)
{
    static const char start[] =
        "data.options: 10000 instruments of 100001 rows";
    struct options options;
    struct m2_error err;

    (void)state;
    defaults(&options);
    change(&options, "rows", "100001");
    change(&options, "instruments", "10000");
    struct m2_data_open open = {.options = options.values,
                                .n_options = options.n};
    assert_int_equal(call(NULL, M2_DATA_OPEN, &open, &err), M2_E_CONFIG);
    assert_memory_equal(err.text, start, strlen(start));
}

static void times_start_where_they_should(void **state)
{
    struct options options;
    struct m2_data_next next;
    struct m2_error err;

    (void)state;
    defaults(&options);
    change(&options, "start", "2024-02-29T12:00:01");
    change(&options, "step", "90s");
    void *source = open_source(&options, 0);
    assert_int_equal(call(source, M2_DATA_NEXT, &next, &err), M2_OK);
    assert_true(next.times_out[0] == INT64_C(1709208001000000000));
    assert_true(next.times_out[1] == INT64_C(1709208091000000000));
    call(source, M2_DATA_CLOSE, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_have_the_coefficient_they_are_given),
        cmocka_unit_test(bars_are_bars),
        cmocka_unit_test(more_rows_or_instruments_change_none_there_were),
        cmocka_unit_test(mackey_glass_obeys_its_equation),
        cmocka_unit_test(a_single_sine_is_continued_by_two_values),
        cmocka_unit_test(an_option_that_is_no_time_is_refused),
        cmocka_unit_test(more_rows_than_fit_anywhere_are_refused),
        cmocka_unit_test(times_start_where_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
