/* A stream of rows predicts what the batch over the same rows does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "predict/stream.h"
#include "predict_fixture.h"
#include "util/random.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { ROWS = 70, N_SERIES = 2, N_COLUMNS = 3 };

/* ---- rows -------------------------------------------------------------- */

static struct table table;

/* Two instruments with a missing bar, a long gap and a change of contract. */
static void make_table(bool with_missing)
{
    struct random_stream noise = random_stream(5, "bars");

    table = (struct table){.n_series = N_SERIES,
                           .n_columns = N_COLUMNS,
                           .columns = {"close", "volume", "open"}};
    for (int s = 0; s < N_SERIES; s++) {
        struct table_series *series = &table.series[s];
        int64_t minute = s;

        series->name = s == 0 ? "A" : "B";
        series->step_ns = minutes(1);
        series->stamp = M2_STAMP_OPEN;
        series->n = ROWS;
        for (int t = 0; t < ROWS; t++) {
            uint64_t at = (uint64_t)((s * ROWS + t) * N_COLUMNS);

            minute += t == 12 || t == 33 ? 3 : t == 20 ? 40 : 1;
            series->times[t] = minutes(minute);
            series->marks[t] = t == 50 ? M2_MARK_BREAK : 0;
            for (int c = 0; c < N_COLUMNS; c++)
                series->values[t][c] =
                    100.0 + 10.0 * s + random_normal(noise, at + (uint64_t)c);
        }
        if (with_missing) {
            series->values[7][0] = NAN;
            series->values[33][1] = NAN;
            series->values[50][0] = NAN; /* the break itself */
        }
    }
}

/* ---- cases ------------------------------------------------------------- */

struct stream_case {
    const char *name;
    const char *features[4], *targets[4]; /* end with NULL */
    int64_t horizon;
    enum m2_horizon mode;
    enum m2_window_norm norm;
    enum scale_kind scale;
    enum readout readout;
    enum channels channels;
    enum missing_policy missing;
    int64_t fill;
    double max_gap;
    bool with_missing;
    enum m2_dtype dtype; /* 0: f64 */
};

static const struct stream_case cases[] = {
    {.name = "plain",
     .features = {"log_return(close)", "volume", "ema(close,5)"},
     .targets = {"log_return(close)"},
     .horizon = 1,
     .max_gap = 10},
    {.name = "f32",
     .features = {"log_return(close)", "zscore(close,4)", "hour"},
     .targets = {"log_return(close)"},
     .horizon = 2,
     .scale = SCALE_MINMAX,
     .max_gap = 10,
     .dtype = M2_F32},
    {.name = "every gap breaks",
     .features = {"close"},
     .targets = {"close"},
     .horizon = 3,
     .max_gap = 1.5},
    {.name = "gaps do not matter, sum",
     .features = {"diff(close)"},
     .targets = {"diff(close)"},
     .horizon = 3,
     .mode = M2_HORIZON_SUM},
    {.name = "filled, last",
     .features = {"log_ratio(open,close)", "log1p(volume)"},
     .targets = {"close"},
     .horizon = 2,
     .mode = M2_HORIZON_LAST,
     .fill = 5,
     .max_gap = 10},
    {.name = "window_norm last",
     .features = {"close", "volume"},
     .targets = {"close", "volume"},
     .horizon = 2,
     .norm = M2_NORM_LAST,
     .max_gap = 10},
    {.name = "window_norm zscore, sum, mean",
     .features = {"close"},
     .targets = {"close"},
     .horizon = 2,
     .mode = M2_HORIZON_SUM,
     .norm = M2_NORM_ZSCORE,
     .readout = READOUT_MEAN,
     .max_gap = 10},
    {.name = "readout all",
     .features = {"log_return(close)", "open"},
     .targets = {"log_return(close)"},
     .horizon = 1,
     .readout = READOUT_ALL,
     .max_gap = 10},
    {.name = "independent channels",
     .features = {"close", "volume", "diff(open)"},
     .targets = {"close", "volume", "diff(open)"},
     .horizon = 2,
     .channels = CHANNELS_INDEPENDENT,
     .norm = M2_NORM_LAST,
     .max_gap = 10},
    {.name = "independent channels, readout all",
     .features = {"close", "volume"},
     .targets = {"close", "volume"},
     .horizon = 1,
     .channels = CHANNELS_INDEPENDENT,
     .readout = READOUT_ALL,
     .max_gap = 10},
    {.name = "missing left out",
     .features = {"log_return(close)", "volume"},
     .targets = {"log_return(close)"},
     .horizon = 1,
     .missing = MISSING_DROP,
     .with_missing = true,
     .max_gap = 10},
    {.name = "missing completed, gaps filled",
     .features = {"log_return(close)", "volume"},
     .targets = {"log_return(close)"},
     .horizon = 1,
     .missing = MISSING_FFILL,
     .with_missing = true,
     .fill = 2,
     .max_gap = 2},
};

static struct config config_of(const struct stream_case *c)
{
    struct config config = test_config(c->features, c->targets, 6, c->horizon);

    fixture_model(&config);
    config.dtype = c->dtype != 0 ? c->dtype : M2_F64;
    config.data.horizon_mode = c->mode;
    config.data.window_norm = c->norm;
    config.data.scale = c->scale;
    config.data.channels = c->channels;
    config.data.missing = c->missing;
    config.data.fill = c->fill;
    config.data.max_gap = c->max_gap;
    config.model.readout = c->readout;
    return config;
}

/* ---- streaming --------------------------------------------------------- */

static struct stream_instruments instruments_of(void)
{
    static char names[N_SERIES][2] = {"A", "B"};
    static struct stream_instrument items[N_SERIES];

    for (int s = 0; s < N_SERIES; s++)
        items[s] =
            (struct stream_instrument){names[s], minutes(1), M2_STAMP_OPEN};
    return (struct stream_instruments){items, N_SERIES};
}

static struct stream *open_stream(const struct fixture *fixture,
                                  const struct stream_instruments *instruments,
                                  bool unbounded)
{
    const struct stream_request request = {
        .config = &fixture->config,
        .checkpoint = &fixture->checkpoint,
        .instruments = instruments,
        .columns = table.columns,
        .n_columns = N_COLUMNS,
        .unbounded = unbounded,
        .threads = 1,
    };
    struct stream *stream;
    struct m2_error err;

    if (stream_open(&request, &stream, &err) != 0)
        fail_msg("%s", err.text);
    return stream;
}

/* Pushes all rows, the instruments in turn, and returns the lines. */
static struct text stream_all(struct stream *stream, size_t n_rows)
{
    struct lines_format format = stream_format(stream, false);
    struct text text = {0};
    struct stream_answer answer;
    struct m2_error err;

    lines_header(&format, &text);
    for (size_t t = 0; t < n_rows; t++)
        for (int s = 0; s < N_SERIES; s++) {
            const struct table_series *series = &table.series[s];
            const struct stream_row row = {
                .time = series->times[t],
                .instrument = series->name,
                .contract = t < 50 ? "old" : "new",
                .values = series->values[t],
            };

            if (stream_push(stream, &row, &answer, &err) != 0)
                fail_msg("%s", err.text);
            for (size_t i = 0; i < answer.n; i++)
                lines_add(&format, &answer.forecasts[i], &text);
        }
    return text;
}

/* ---- comparing --------------------------------------------------------- */

/* A line cut into cells, in place. */
struct cells {
    char *items[32];
    size_t n;
};

static struct cells cut(char *line)
{
    struct cells cells = {.n = 0};

    while (line != NULL && cells.n < COUNT(cells.items)) {
        char *comma = strchr(line, ',');

        cells.items[cells.n++] = line;
        if (comma != NULL)
            *comma++ = '\0';
        line = comma;
    }
    return cells;
}

static struct cells *cut_all(struct text *text, size_t *n)
{
    struct cells *lines = calloc(4096, sizeof *lines);
    char *at = strchr(text->bytes, '\n') + 1;

    for (*n = 0; *at != '\0'; ++*n) {
        char *end = strchr(at, '\n');

        *end = '\0';
        lines[*n] = cut(at);
        at = end + 1;
    }
    return lines;
}

static bool same_place(const struct cells *a, const struct cells *b)
{
    return strcmp(a->items[0], b->items[0]) == 0 &&
           strcmp(a->items[3], b->items[3]) == 0 &&
           strcmp(a->items[4], b->items[4]) == 0;
}

static const struct cells *find(const struct cells *lines, size_t n,
                                const struct cells *wanted)
{
    for (size_t i = 0; i < n; i++)
        if (same_place(&lines[i], wanted))
            return &lines[i];
    return NULL;
}

/* Every line of the batch whose last row was streamed is there, with the same
 * text of known_at, pred and pred_level of every target. */
static void assert_same(const char *name, struct text *batch,
                        struct text *stream, size_t n_targets)
{
    size_t n_batch, n_stream, n_compared = 0;
    struct cells *a = cut_all(batch, &n_batch);
    struct cells *b = cut_all(stream, &n_stream);

    for (size_t i = 0; i < n_batch; i++) {
        const struct cells *line = find(b, n_stream, &a[i]);

        if (line == NULL)
            continue; /* ends in a bar that was filled in */
        n_compared++;
        assert_string_equal(a[i].items[1], line->items[1]);
        for (size_t o = 0; o < n_targets; o++)
            for (size_t k = 0; k < 2; k++) {
                const char *expected = a[i].items[5 + 4 * o + 2 * k];
                const char *found = line->items[5 + 2 * o + k];

                if (strcmp(expected, found) != 0)
                    fail_msg("%s, %s %s: '%s', expected '%s'", name,
                             a[i].items[0], a[i].items[3], found, expected);
            }
    }
    assert_true(n_compared > 30);
    free(a);
    free(b);
}

static void a_stream_has_the_bits_of_the_batch(void **state)
{
    struct stream_instruments instruments = instruments_of();

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct config config = config_of(&cases[i]);
        struct fixture fixture;

        make_table(cases[i].with_missing);
        fixture_open(&fixture, &table, &config);
        struct stream *stream = open_stream(&fixture, &instruments, false);
        struct text batch = fixture_predict(&fixture, WINDOWS_ALL);
        struct text lines = stream_all(stream, ROWS);
        assert_same(cases[i].name, &batch, &lines,
                    (size_t)fixture.session.dataset.O);
        text_free(&batch);
        text_free(&lines);
        stream_close(stream);
        fixture_close(&fixture);
        test_config_free(&config);
    }
}

/* One answer per row: empty until six rows with all features have been seen
 * in the piece. */
static void every_row_is_answered(void **state)
{
    struct stream_instruments instruments = instruments_of();
    struct config config = config_of(&cases[0]);
    struct fixture fixture;
    size_t n;

    (void)state;
    make_table(false);
    fixture_open(&fixture, &table, &config);
    struct stream *stream = open_stream(&fixture, &instruments, false);
    struct text text = stream_all(stream, 10);
    struct cells *lines = cut_all(&text, &n);
    assert_int_equal(n, 10 * N_SERIES);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(lines[i].n, 7);
        /* Row 0 has no return: rows 1 to 6 are the first window. */
        assert_int_equal(lines[i].items[5][0] != '\0', i / N_SERIES >= 6);
        assert_int_equal(lines[i].items[6][0] != '\0', i / N_SERIES >= 6);
    }
    free(lines);
    text_free(&text);
    stream_close(stream);
    fixture_close(&fixture);
    test_config_free(&config);
}

/* As long as the piece is not longer than the window, the recurrent state
 * holds what the window does. */
static void unbounded_state_agrees_with_the_first_window(void **state)
{
    struct stream_instruments instruments = instruments_of();
    struct config config = config_of(&cases[0]);
    struct fixture fixture;
    size_t n, n_windowed;

    (void)state;
    make_table(false);
    fixture_open(&fixture, &table, &config);
    struct stream *stream = open_stream(&fixture, &instruments, true);
    struct stream *windowed = open_stream(&fixture, &instruments, false);
    struct text text = stream_all(stream, 9);
    struct text expected = stream_all(windowed, 9);
    struct cells *lines = cut_all(&text, &n);
    struct cells *others = cut_all(&expected, &n_windowed);
    assert_int_equal(n, n_windowed);
    for (size_t i = 0; i < n; i++) {
        double pred = strtod(lines[i].items[5], NULL);
        double other = strtod(others[i].items[5], NULL);
        size_t row = i / N_SERIES;

        assert_int_equal(lines[i].items[5][0] != '\0', row >= 6);
        if (row == 6) /* the first whole window of the piece */
            assert_true(fabs(pred - other) < 1e-12);
        if (row > 6) /* it remembers more than the window holds */
            assert_true(pred != other);
    }
    free(lines);
    free(others);
    text_free(&text);
    text_free(&expected);
    stream_close(stream);
    stream_close(windowed);
    fixture_close(&fixture);
    test_config_free(&config);
}

static void assert_refused(const struct stream_case *c, bool unbounded,
                           const char *const *columns, size_t n_columns,
                           const char *message)
{
    struct stream_instruments instruments = instruments_of();
    struct config config = config_of(c);
    struct fixture fixture;
    struct stream *stream;
    struct m2_error err;

    make_table(false);
    fixture_open(&fixture, &table, &config);
    const struct stream_request request = {
        .config = &fixture.config,
        .checkpoint = &fixture.checkpoint,
        .instruments = &instruments,
        .columns = columns,
        .n_columns = n_columns,
        .unbounded = unbounded,
        .threads = 1,
    };
    assert_int_equal(stream_open(&request, &stream, &err), M2_E_CONFIG);
    if (strstr(err.text, message) == NULL)
        fail_msg("'%s' does not hold '%s'", err.text, message);
    fixture_close(&fixture);
    test_config_free(&config);
}

static void what_cannot_be_streamed_is_refused(void **state)
{
    static const char *const too_few[] = {"volume", "open"};

    (void)state;
    assert_refused(&cases[5], true, (const char *const[]){"close", "volume"}, 2,
                   "data.window_norm normalises each one");
    assert_refused(&cases[0], false, too_few, 2, "close");
}

static void bad_rows_are_errors(void **state)
{
    static const struct {
        int64_t time;
        double close;
        const char *message;
    } rows[] = {
        {1, 1.0,
         "series 'A': 1970-01-01T00:01:00Z does not come after "
         "1970-01-01T00:02:00Z"},
        {2, 1.0, "does not come after"},
        {3, NAN, "series 'A': column close has no value; data.missing"},
        {4, -1.0,
         "series 'A' at 1970-01-01T00:04:00Z: log_return(close) is "
         "not defined"},
    };
    struct stream_instruments instruments = instruments_of();
    struct config config = config_of(&cases[0]);
    struct fixture fixture;
    double values[N_COLUMNS] = {1, 1, 1};
    struct stream_row row = {.time = minutes(2), .values = values};
    struct stream_answer answer;
    struct m2_error err;

    (void)state;
    make_table(false);
    fixture_open(&fixture, &table, &config);
    struct stream *stream = open_stream(&fixture, &instruments, false);
    assert_int_equal(stream_push(stream, &row, &answer, &err), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        row.time = minutes(rows[i].time);
        values[0] = rows[i].close;
        assert_int_equal(stream_push(stream, &row, &answer, &err), M2_E_DATA);
        if (strstr(err.text, rows[i].message) == NULL)
            fail_msg("'%s' does not hold '%s'", err.text, rows[i].message);
    }
    stream_close(stream);
    fixture_close(&fixture);
    test_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_has_the_bits_of_the_batch),
        cmocka_unit_test(every_row_is_answered),
        cmocka_unit_test(unbounded_state_agrees_with_the_first_window),
        cmocka_unit_test(what_cannot_be_streamed_is_refused),
        cmocka_unit_test(bad_rows_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
