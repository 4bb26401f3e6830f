/* The good CSV files of the shared data: rows, first and last values, and the
 * same bars as in DBN files. */
#include <math.h>

#include "data_plugin.h"
#include "unit.h"

/* Numbers by an independent reader: rows, first and last time (seconds since
 * 1970), first, last and sum of one column. */
struct file {
    const char *name, *options;
    size_t rows, columns;
    int64_t first_time, last_time;
    const char *column;
    double first, last, sum;
};

static const struct file files[] = {
    {"csv/ETTh1.csv", NULL, 17420, 7, 1467331200, 1530039600, "OT",
     30.5310001373291, 9.56700038909912, 232115.77909573913},
    {"csv/EURUSD_oanda_m1_20140501-20140509.csv", NULL, 9552, 5, 1398902400,
     1399669140, "close", 1.38686, 1.37574, 13256.05637},
    {"csv/6EH4_1min_20240101-20240116.csv", "bar_label: close; step: 1m", 14950,
     5, 1704150060, 1705449540, "volume", 205, 1, 2085757},
    {"csv/FOREX_EURUSD_1H_ASK.csv", "time_format: %d.%m.%Y %H:%M:%S.%f", 6225,
     5, 1483308000, 1514581200, "Volume", 143539993.3, 4885529785,
     54982158924666.1},
    {"csv/exchange_rate.txt",
     "columns: [a, b, c, d, e, f, g, h]; time: none; step: 1d; start: "
     "1990-01-01",
     7588, 8, 631152000, 1286668800, "h", 0.525486, 0.690942, 5081.480916},
    {"csv/gbpusd-m1-bid-2012.csv", NULL, 30117, 4, 1328054400, 1330560000,
     "close", 1.57576, 1.59208, 47587.70787},
    {"csv/usdjpy-m1-bid-2013.csv", NULL, 28761, 4, 1359676800, 1362096000,
     "close", 91.653, 92.539, 2677917.898},
    {"csv/ADABTC-1m-2021-11-27.csv",
     "columns: [time, o, h, l, c, v, close_time, q, n, tb, tq, -]", 10, 10,
     1637971200, 1637971740, "c", 2.854e-05, 2.865e-05, 0.00028589},
    {"csv/lean_20140507_eurusd_minute_quote.csv",
     "columns: [time, o, h, l, c, v, ao, ah, al, ac, av]; time_format: "
     "epoch_ms; start: 2014-05-07",
     1406, 10, 1399420800, 1399507140, "ac", 1.3929, 1.39113, 1957.50409},
    {"csv/lean_20180404_btcusd_minute_trade.csv",
     "columns: [time, o, h, l, c, v]; time_format: epoch_ms; start: "
     "2018-04-04",
     1007, 5, 1522800000, 1522860420, "v", 7.14319709, 0.0373333,
     9190.96476367},
};

#define SECOND INT64_C(1000000000)

static bool is_near(double value, double expected)
{
    return fabs(value - expected) <= 1e-11 * fabs(expected);
}

/* "" when the file holds what it should. */
static void check(const char *path, const struct file *file, char *problem,
                  size_t size)
{
    struct read_data data = {0};
    struct m2_error err;
    double sum = 0;

    problem[0] = '\0';
    if (data_read_file("csv", path, file->options, &data, &err) != 0) {
        snprintf(problem, size, "%s", err.text);
        return;
    }
    const struct read_series *s = &data.series[0];
    size_t column = data_column(&data, file->column), width = data.n_columns;
    for (size_t i = 0; i < s->n; i++)
        sum += s->values[i * width + column];
    if (s->n != file->rows || width != file->columns)
        snprintf(problem, size, "%zu rows of %zu columns", s->n, width);
    else if (s->times[0] != file->first_time * SECOND ||
             s->times[s->n - 1] != file->last_time * SECOND)
        snprintf(problem, size, "from %lld to %lld", (long long)s->times[0],
                 (long long)s->times[s->n - 1]);
    else if (!(s->values[column] == file->first) ||
             !(s->values[(s->n - 1) * width + column] == file->last) ||
             !is_near(sum, file->sum))
        snprintf(problem, size, "first %.17g, sum %.17g", s->values[column],
                 sum);
    data_free(&data);
}

static const char *need_shared(void)
{
    const char *shared = shared_data();

    if (shared == NULL) {
        print_message("# the shared test data is not there\n");
        skip();
    }
    return shared;
}

static void files_hold_what_an_independent_reader_found(void **state)
{
    const char *shared = need_shared();
    size_t wrong = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char path[4096], problem[2200];
        snprintf(path, sizeof path, "%s/%s", shared, files[i].name);
        check(path, &files[i], problem, sizeof problem);
        if (problem[0] == '\0')
            continue;
        print_message("# %s: %s\n", files[i].name, problem);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void read_shared(const char *plugin, const char *name,
                        const char *options, struct read_data *out)
{
    struct m2_error err;
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", need_shared(), name);
    assert_ok(data_read_file(plugin, path, options, out, &err), &err);
}

static const char *const bar[] = {"open", "high", "low", "close", "volume"};

/* The same bits. */
static void assert_same_bar(const struct read_data *a, const double *row_a,
                            const struct read_data *b, const double *row_b)
{
    for (size_t i = 0; i < COUNT_OF(bar); i++)
        assert_true(row_a[data_column(a, bar[i])] ==
                    row_b[data_column(b, bar[i])]);
}

static void bars_are_those_of_the_same_dbn_file(void **state)
{
    struct read_data csv, dbn;

    (void)state;
    need_shared();
    read_shared("csv", "dbn-6e/variants/20240103.ohlcv-1m.csv",
                "instrument: symbol; step: 1m", &csv);
    read_shared("dbn", "dbn-6e/variants/20240103.v3.dbn", "instrument: *",
                &dbn);
    assert_int_equal(csv.n_series, dbn.n_series);
    assert_int_equal(data_rows(&csv), 1704);
    for (size_t k = 0; k < csv.n_series; k++) {
        const struct read_series *a = &csv.series[k];
        const struct read_series *b = data_series(&dbn, a->name);
        assert_int_equal(a->n, b->n);
        assert_int_equal(a->step_ns, b->step_ns);
        assert_int_equal(a->stamp, b->stamp);
        for (size_t i = 0; i < a->n; i++) {
            assert_int_equal(a->times[i], b->times[i]);
            assert_same_bar(&csv, a->values + i * csv.n_columns, &dbn,
                            b->values + i * dbn.n_columns);
        }
    }
    data_free(&csv);
    data_free(&dbn);
}

/* The source of these bars stamps the close, DBN the open, a minute before. */
static void close_stamps_are_open_stamps_a_bar_later(void **state)
{
    struct read_data csv, dbn;
    size_t k = 0;

    (void)state;
    need_shared();
    read_shared("csv", "csv/6EH4_1min_20240101-20240116.csv",
                "bar_label: close; step: 1m", &csv);
    read_shared("dbn", "dbn-6e/glbx-mdp3-20240103.ohlcv-1m.dbn.zst",
                "instrument: 6EH4", &dbn);
    const struct read_series *close = &csv.series[0], *open = &dbn.series[0];
    assert_int_equal(close->stamp, M2_STAMP_CLOSE);
    assert_int_equal(open->n, 1362);
    for (size_t i = 0; i < open->n; i++) {
        while (k < close->n && close->times[k] < open->times[i] + 60 * SECOND)
            k++;
        assert_true(k < close->n);
        assert_int_equal(close->times[k], open->times[i] + 60 * SECOND);
        assert_same_bar(&csv, close->values + k * csv.n_columns, &dbn,
                        open->values + i * dbn.n_columns);
    }
    data_free(&csv);
    data_free(&dbn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_hold_what_an_independent_reader_found),
        cmocka_unit_test(bars_are_those_of_the_same_dbn_file),
        cmocka_unit_test(close_stamps_are_open_stamps_a_bar_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
