/* The csv plugin as the runner sees it: options, series, counters, messages. */
#include <math.h>

#include "data_plugin.h"
#include "unit.h"

struct fixture {
    char *dir;
    struct read_data data;
    struct m2_error err;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->dir = unit_make_dir();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    unit_remove_dir(f->dir);
    data_free(&f->data);
    free(f);
    return 0;
}

/* Reads the text as a file a.csv. */
static int read_text(struct fixture *f, const char *text, const char *options)
{
    const char *path = unit_path(f->dir, "a.csv");

    unit_write(path, text);
    data_free(&f->data);
    return data_read_file("csv", path, options, &f->data, &f->err);
}

/* Names of the columns with commas between them. */
static const char *columns(const struct fixture *f)
{
    static char names[512];
    size_t used = 0;

    names[0] = '\0';
    for (size_t i = 0; i < f->data.n_columns; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i > 0 ? "," : "", f->data.columns[i]);
    return names;
}

#define MINUTE INT64_C(60000000000)
#define T0     INT64_C(1398902400000000000) /* 2014-05-01 */

/* ---- columns ---------------------------------------------------------- */

static void columns_are_told_from_names_and_cells(void **state)
{
    static const struct {
        const char *text, *options, *columns;
    } cases[] = {
        {"time,a,b\n2014-05-01,1,2\n", NULL, "a,b"},
        {"a,Time,b\n1,2014-05-01,2\n", NULL, "a,b"},
        {"<DATE>\t<OPEN>\n2014.05.01\t2\n", NULL, "<OPEN>"},
        {"Gmt time,Open\n2014-05-01,2\n", NULL, "Open"},
        /* the time has no usual name, but it is the only one */
        {",open\n2014-05-01,1\n2014-05-02,2\n", NULL, "open"},
        {"when,open\n2014-05-01,1\n2014-05-02,2\n", NULL, "open"},
        /* numbers as names are names above times */
        {"date,0,1,OT\n2014-05-01,3,4,5\n", NULL, "0,1,OT"},
        {"time,a,\n2014-05-01,1,2\n", NULL, "a,column_3"},
        {"2014-05-01,1,2\n", "columns: [t, x, y]; time: t", "x,y"},
        {"2014-05-01,1,2\n", "columns: [time, -, y]", "y"},
        {"2014-05-01,1,2\n2014-05-02,1,2\n", "columns: [time, -, -, -]", NULL},
        {"time,a,b\n2014-05-01,1,2\n", "columns: [time, x, y]", "x,y"},
        {"time,a,b\n2014-05-01,1,2\n", "skip_columns: a", "b"},
        {"time,a,note\n2014-05-01,1,x\n2014-05-02,1,\n", NULL, "a"},
        /* nothing in it yet: it may hold numbers */
        {"time,a,b\n2014-05-01,1,\n", NULL, "a,b"},
        {"a b\n1 2\n", "time: none; step: 1m", "a,b"},
        {"a|b\n1|2\n", "time: none; step: 1m", "a,b"},
        {"a\n1\n", "time: none; step: 1m", "a"},
        {"x;y\n1,5;2\n", "time: none; step: 1m; decimal: \",\"", "x,y"},
        {"a,b\n1,2\n", "time: none; step: 1m; header: no; columns: [x, y]",
         NULL},
        {"1,2\n3,4\n", "time: none; step: 1m; header: yes", "1,2"},
        {"# v1\nx\ty\n1\t2\n", "time: none; step: 1m", "x,y"},
        {"% v1\nx,y\n1,2\n", "time: none; step: 1m; comment: %", "x,y"},
        {"title, of\n\nx,y\n1,2\n", "time: none; step: 1m; skip_rows: 1",
         "x,y"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int status = read_text(f, cases[i].text, cases[i].options);
        if (cases[i].columns == NULL)
            assert_int_equal(status, M2_E_DATA);
        else if (status != 0)
            fail_msg("%s: %s", cases[i].text, f->err.text);
        else
            assert_string_equal(columns(f), cases[i].columns);
    }
}

static void refusals_name_place_cause_and_option(void **state)
{
    static const struct {
        const char *text, *options;
        int code;
        const char *part, *more;
    } cases[] = {
        {"time,a\n2014-05-01,1\n2014-05-02,x\n", NULL, M2_E_DATA,
         "a.csv:3:12: column 'a': 'x' is not a number",
         "`skip_columns: a` leaves the column out"},
        {"time,a\n2014-05-01,1\n2014-05-02,\"b\nc\"\n", NULL, M2_E_DATA,
         "a.csv:3:12: column 'a': 'b?c'", NULL},
        {"time,n,a\n2014-05-01,\"b\nc\",1\n2014-05-02,\"b\nc\",x\n", NULL,
         M2_E_DATA, "a.csv:5:4: column 'a': 'x'", NULL},
        {"time,a\n2014-05-01,1e999\n", NULL, M2_E_DATA,
         "a.csv:2:12: column 'a': '1e999' is too large", NULL},
        {"time,a\n2014-05-01,1\n,2\n", NULL, M2_E_DATA,
         "a.csv:3:1: column 'time': the time is missing", NULL},
        {"time,a\n2014-05-01,1\n2014-05-32,2\n", NULL, M2_E_DATA,
         "a.csv:3:1: column 'time': '2014-05-32': no such date", NULL},
        {"time,a\n01/05/2014,1\n", NULL, M2_E_DATA,
         "a.csv:2:1: column 'time': '01/05/2014'",
         "`time_format: \"%d/%m/%Y\"` or `time_format: \"%m/%d/%Y\"`"},
        {"a,b\n1,2\n", NULL, M2_E_DATA, "a.csv: no column of time among a, b",
         "`time: none` with `step`"},
        {"a,b\n1,2\n", "time: t", M2_E_DATA,
         "a.csv: `time` names column 't', but there are only a, b", NULL},
        {"time,b\n1,2\n", "skip_columns: [c]", M2_E_DATA,
         "`skip_columns` names column 'c'", NULL},
        {"time,b\n1,2\n", "time: time; skip_columns: [time]", M2_E_CONFIG,
         "data.options.skip_columns: column 'time' has a role already", NULL},
        {"time,b\n2014-05-01,x\n", NULL, M2_E_DATA,
         "a.csv: no column of numbers", NULL},
        {"time,a,b\n2014-05-01,1,2\n2014-05-02,1\n", NULL, M2_E_DATA,
         "a.csv:3:12: 2 cells where the header has 3", NULL},
        {"2014-05-01,1,2\n2014-05-02,1,2,3\n", "columns: [time, a, b]",
         M2_E_DATA, "a.csv:2:16: 4 cells where the first row has 3", NULL},
        {"2014-05-01,1,2\n", "columns: [time, a]", M2_E_DATA,
         "a.csv:1:1: 3 cells, but `columns` names 2", NULL},
        {"time,a\n2014-05-01,1\n2014-05-01,2\n", NULL, M2_E_DATA,
         "a.csv:3: the time 2014-05-01T00:00:00Z", "a.csv:2;"},
        {"time,a,s\n2014-05-01,1,x\n2014-05-01,2,y\n", NULL, M2_E_DATA,
         "a.csv:3:", "`instrument: s` makes a series of each"},
        {"time,gr\xfc\xdf\n2014-05-01,1\n", NULL, M2_E_DATA,
         "a.csv:1:1: the name of column 2 is no text in UTF-8", "iconv"},
        {"time,a\n2014-05-01,1\n2014-05-02,\"1\n", NULL, M2_E_DATA,
         "a.csv:3:12: a quoted cell begins here", NULL},
        {"from https://example.org\ntime,a\n2014-05-01,1\n", NULL, M2_E_DATA,
         "a.csv:1:1: 1 cell, but 2 in the row below",
         "`skip_rows: 1` passes over lines above the header"},
        {"a,a\n1,2\n", "time: none; step: 1m; columns: [b, b]", M2_E_DATA,
         "a.csv:1:1: columns 1 and 2 are both called 'b'", NULL},
        {"a\n1\n2\n", "time: none; step: 1d; start: 2200-12-31", M2_E_DATA,
         "a.csv:3:1: with this `step` the rows reach beyond the year 2200",
         NULL},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_fails(read_text(f, cases[i].text, cases[i].options),
                     cases[i].code, cases[i].part, &f->err);
        if (cases[i].more != NULL && !strstr(f->err.text, cases[i].more))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].more, f->err.text);
    }
}

static void wrong_options_are_refused(void **state)
{
    static const struct {
        const char *options, *part;
    } cases[] = {
        {"delimiter: ab", "data.options.delimiter: 'ab' is not one character"},
        {"delimiter: \"\"", "data.options.delimiter: '' is not"},
        {"time: none", "data.options.time: 'none' needs `step`"},
        {"time: [a, b, c]", "data.options.time: 3 columns"},
        {"step: 1x", "data.options.step: '1x' is not a duration"},
        {"step: 0s", "data.options.step"},
        {"time_format: epoch_m", "data.options.time_format: 'epoch_m' is not"},
        {"time_format: %d.%m", "data.options.time_format: '%d.%m' is no"},
        {"timezone: Nowhere/Land", "data.options.timezone: there is no zone"},
        {"start: 2014-05-01", "data.options.start: '2014-05-01' is not needed"},
        {"time: none; step: 1m; start: soon", "data.options.start: 'soon'"},
        {"thousands: \"..\"", "data.options.thousands: '..' is not one"},
        {"thousands: .", "data.options.thousands: '.' is not"},
        {"instruments: [a]", "data.options.instruments: 'a' is not needed"},
        {"instrument: a; series: per_file", "data.options.series"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_fails(read_text(f, "time,a\n2014-05-01,1\n", cases[i].options),
                     M2_E_CONFIG, cases[i].part, &f->err);
}

/* ---- values and times ------------------------------------------------- */

static void missing_cells_are_nan_and_counted(void **state)
{
    struct fixture *f = *state;
    const double *v;

    assert_ok(read_text(f,
                        "time,a,b\n2014-05-01,,1\n2014-05-02,2,NA\n"
                        "2014-05-03,-999,inf\n",
                        "missing: [-999, x]"),
              &f->err);
    v = f->data.series[0].values;
    assert_true(isnan(v[0]) && v[1] == 1 && v[2] == 2 && isnan(v[3]) &&
                isnan(v[4]) && isnan(v[5]));
    assert_int_equal(data_count(&f->data, "missing cells"), 3);
    assert_non_null(
        strstr(data_where(&f->data, "missing cells"), "a.csv:2:12"));
    assert_int_equal(data_count(&f->data, "infinite cells, read as missing"),
                     1);
    assert_non_null(strstr(
        data_where(&f->data, "infinite cells, read as missing"), "a.csv:4:17"));
}

static void a_column_of_one_value_is_a_warning(void **state)
{
    static const char what[] = "columns that hold one value only";
    struct fixture *f = *state;

    assert_ok(read_text(f,
                        "time,a,b,c\n2014-05-01,1,,7\n2014-05-02,2,5,7\n"
                        "2014-05-03,1,5,7\n",
                        NULL),
              &f->err);
    assert_int_equal(data_count(&f->data, what), 2);
    assert_string_equal(data_where(&f->data, what), "column 'b'");
    assert_ok(read_text(f, "time,a\n2014-05-01,1\n", NULL), &f->err);
    assert_int_equal(data_count(&f->data, what), 0);
}

static void what_was_guessed_is_told(void **state)
{
    static const struct {
        const char *text, *fact;
    } cases[] = {
        {"when,a\n2014-05-01T00:00Z,1\n2014-05-02T00:00Z,2\n",
         "times found in column 'when', the only one of times"},
        {"time,a\n2014-05-01,1\n2014-05-02,2\n",
         "times without an offset read as UTC (`timezone`)"},
        {"time,a\n1398902400,1\n1398902401,2\n",
         "times read as seconds since 1970, as their size tells"},
        {"time|a\n2014-05-01T00:00Z|1\n2014-05-02T00:00Z|2\n",
         "rows divided at '|', as found in the file"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_ok(read_text(f, cases[i].text, NULL), &f->err);
        assert_int_equal(data_count(&f->data, cases[i].fact), 2);
        assert_int_equal(f->data.n_counts, 2); /* and the rows */
    }
}

static void times_stamps_and_steps_are_as_told(void **state)
{
    static const struct {
        const char *text, *options;
        int64_t first, second, step;
        enum m2_stamp stamp;
    } cases[] = {
        {"time,a\n2014-05-01 00:00,1\n2014-05-01 00:01,2\n", NULL, T0,
         T0 + MINUTE, 0, M2_STAMP_OPEN},
        {"time,a\n2014-05-01 00:00,1\n2014-05-01 00:01,2\n",
         "bar_label: close; step: 1m", T0, T0 + MINUTE, MINUTE, M2_STAMP_CLOSE},
        {"time,a\n2014-05-01 00:00,1\n2014-05-01 00:01,2\n",
         "timezone: \"-05:00\"", T0 + 300 * MINUTE, T0 + 301 * MINUTE, 0,
         M2_STAMP_OPEN},
        {"time,a\n2014-05-01T00:00:00+01:00,1\n2014-05-01T00:00:00Z,2\n",
         "timezone: \"-05:00\"", T0 - 60 * MINUTE, T0, 0, M2_STAMP_OPEN},
        {"d,t,a\n2014-05-01,00:00,1\n2014-05-01,00:01,2\n", "time: [d, t]", T0,
         T0 + MINUTE, 0, M2_STAMP_OPEN},
        {"t,d,a\n00:00,20140501,1\n00:01,20140501,2\n",
         "time: [d, t]; time_format: %Y%m%d %H:%M", T0, T0 + MINUTE, 0,
         M2_STAMP_OPEN},
        {"ms,a\n0,1\n60000,2\n",
         "time: ms; time_format: epoch_ms; start: 2014-05-01", T0, T0 + MINUTE,
         0, M2_STAMP_OPEN},
        {"a\n1\n2\n", "time: none; step: 1m; start: 2014-05-01", T0,
         T0 + MINUTE, MINUTE, M2_STAMP_OPEN},
        {"a\n1\n2\n", "time: none; step: 1m", 0, MINUTE, MINUTE, M2_STAMP_OPEN},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct read_series *s;
        assert_ok(read_text(f, cases[i].text, cases[i].options), &f->err);
        s = &f->data.series[0];
        assert_int_equal(s->n, 2);
        assert_int_equal(s->times[0], cases[i].first);
        assert_int_equal(s->times[1], cases[i].second);
        assert_int_equal(s->step_ns, cases[i].step);
        assert_int_equal(s->stamp, cases[i].stamp);
    }
}

/* ---- several series --------------------------------------------------- */

static const char symbols[] = "time,s,a\n2014-05-01,B,1\n2014-05-01,A,2\n"
                              "2014-05-02,B,3\n2014-05-02,A2,4\n";

static void an_instrument_column_makes_series(void **state)
{
    static const char skipped[] = "rows of other instruments skipped";
    struct fixture *f = *state;

    assert_ok(read_text(f, symbols, "instrument: s"), &f->err);
    assert_int_equal(f->data.n_series, 3);
    assert_string_equal(f->data.series[0].name, "A");
    assert_string_equal(f->data.series[1].name, "A2");
    assert_string_equal(f->data.series[2].name, "B");
    assert_string_equal(columns(f), "a");
    assert_int_equal(f->data.series[2].n, 2);
    assert_true(f->data.series[2].values[1] == 3);
    assert_ok(read_text(f, symbols, "instrument: s; instruments: [A*]"),
              &f->err);
    assert_int_equal(f->data.n_series, 2);
    assert_int_equal(data_count(&f->data, skipped), 2);
    assert_non_null(strstr(data_where(&f->data, skipped), "a.csv:2:12"));
    assert_fails(read_text(f, symbols, "instrument: s; instruments: [A, C]"),
                 M2_E_DATA, "a.csv: no instrument 'C' among A, A2, B", &f->err);
    assert_fails(read_text(f, "time,s,a\n2014-05-01,,1\n", "instrument: s"),
                 M2_E_DATA, "a.csv: column 's' is empty", &f->err);
    assert_fails(read_text(f, "time,s,a\n2014-05-01,x,1\n2014-05-02,,1\n",
                           "instrument: s"),
                 M2_E_DATA, "a.csv:3:12: column 's': the instrument is missing",
                 &f->err);
    assert_fails(read_text(f, symbols, "instrument: x"), M2_E_DATA,
                 "`instrument` names column 'x'", &f->err);
}

static int read_two(struct fixture *f, const char *name_a, const char *text_a,
                    const char *name_b, const char *text_b, const char *options)
{
    char paths[2][4096];
    const char *list[2] = {paths[0], paths[1]};

    snprintf(paths[0], sizeof paths[0], "%s/%s", f->dir, name_a);
    snprintf(paths[1], sizeof paths[1], "%s/%s", f->dir, name_b);
    unit_write(paths[0], text_a);
    unit_write(paths[1], text_b);
    data_free(&f->data);
    return data_read("csv", list, 2, options, &f->data, &f->err);
}

#define MAY1 "time,a,b\n2014-05-01,1,2\n"
#define MAY2 "b;time;a\n4;2014-05-02;3\n"

static void files_are_joined_in_order_of_time(void **state)
{
    struct fixture *f = *state;
    const struct read_series *s;

    assert_ok(read_two(f, "eu_1.csv", MAY2, "eu_2.csv", MAY1, NULL), &f->err);
    assert_int_equal(f->data.n_series, 1);
    s = &f->data.series[0];
    assert_string_equal(s->name, "eu");
    assert_int_equal(s->n, 2);
    assert_string_equal(columns(f), "b,a");
    /* columns go by name */
    assert_true(s->values[0] == 2 && s->values[1] == 1 && s->values[2] == 4 &&
                s->values[3] == 3);
    assert_ok(
        read_two(f, "eu_1.csv", MAY2, "eu_2.csv", MAY1, "series: per_file"),
        &f->err);
    assert_int_equal(f->data.n_series, 2);
    assert_string_equal(f->data.series[1].name, "eu_2");
}

static void files_of_other_names_are_not_joined_unasked(void **state)
{
    struct fixture *f = *state;

    assert_fails(read_two(f, "eu.csv", MAY1, "us.csv", MAY2, NULL), M2_E_DATA,
                 "`series: joined` or `series: per_file` decides", &f->err);
    assert_ok(read_two(f, "eu.csv", MAY1, "us.csv", MAY2, "series: joined"),
              &f->err);
    assert_int_equal(f->data.n_series, 1);
    assert_fails(read_two(f, "eu_1.csv", MAY1, "eu_2.csv", MAY1, NULL),
                 M2_E_DATA, "eu_2.csv:2: the time 2014-05-01T00:00:00Z",
                 &f->err);
}

static void a_series_is_called_by_a_file_name_in_utf8(void **state)
{
    struct fixture *f = *state;

    assert_ok(read_two(f, "\xc3\xa9_1.csv", MAY1, "\xc3\xa9_2.csv", MAY2,
                       "series: per_file"),
              &f->err);
    assert_fails(
        read_two(f, "\xe9_1.csv", MAY1, "\xe9_2.csv", MAY2, "series: per_file"),
        M2_E_DATA, "must be text in UTF-8", &f->err);
}

static void files_of_other_columns_are_refused(void **state)
{
    struct fixture *f = *state;

    assert_fails(read_two(f, "a1.csv", MAY1, "a2.csv",
                          "time,a,c\n2014-05-02,1,2\n", NULL),
                 M2_E_DATA,
                 "a2.csv: columns time, a, c, unlike the first file's time, a, "
                 "b",
                 &f->err);
    assert_fails(
        read_two(f, "a1.csv", MAY1, "a2.csv", "time,a\n2014-05-02,1\n", NULL),
        M2_E_DATA, "unlike the first file's", &f->err);
}

static void files_without_rows_are_counted_among_others(void **state)
{
    struct fixture *f = *state;

    assert_ok(read_two(f, "a1.csv", "time,a,b\n", "a2.csv", MAY1, NULL),
              &f->err);
    assert_int_equal(data_rows(&f->data), 1);
    assert_string_equal(f->data.series[0].name, "a2");
    assert_int_equal(data_count(&f->data, "files without rows"), 1);
    assert_ok(read_two(f, "a1.csv", MAY1, "a2.csv", "", "series: per_file"),
              &f->err);
    assert_int_equal(f->data.n_series, 1);
    assert_fails(read_two(f, "a1.csv", "time,a\n", "a2.csv", "", NULL),
                 M2_E_DATA, "a1.csv and others: no rows below the header",
                 &f->err);
}

static void folders_tell_files_of_one_name_apart(void **state)
{
    struct fixture *f = *state;
    char command[4200];

    snprintf(command, sizeof command, "mkdir '%s/x' '%s/y'", f->dir, f->dir);
    assert_int_equal(system(command), 0);
    assert_ok(
        read_two(f, "x/eu.csv", MAY1, "y/eu.csv", MAY1, "series: per_file"),
        &f->err);
    assert_string_equal(f->data.series[0].name, "x/eu");
    assert_string_equal(f->data.series[1].name, "y/eu");
}

/* ---- long files ------------------------------------------------------- */

/* The first 64 KiB decide what a column is; errors after them come in time. */
static void the_whole_file_is_checked(void **state)
{
    enum { ROWS = 20000 };
    struct fixture *f = *state;
    const char *path = unit_path(f->dir, "long.csv");
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "time,a,b\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "%d,%d,%s\n", 1398902400 + 60 * i, i,
                i < ROWS - 1 ? "" : "x");
    fclose(file);
    assert_fails(data_read_file("csv", path, NULL, &f->data, &f->err),
                 M2_E_DATA, "long.csv:20001:18: column 'b': 'x'", &f->err);
    assert_ok(data_read_file("csv", path, "skip_columns: b", &f->data, &f->err),
              &f->err);
    assert_int_equal(data_rows(&f->data), ROWS);
    assert_true(f->data.series[0].values[ROWS - 1] == ROWS - 1);
    assert_int_equal(f->data.series[0].times[ROWS - 1],
                     T0 + (ROWS - 1) * MINUTE);
}

/* A header longer than the first look at the file, of more names than can be
 * compared each with each. */
static void a_wide_file_is_read(void **state)
{
    enum { WIDTH = 100000 };
    struct fixture *f = *state;
    const char *path = unit_path(f->dir, "wide.csv");
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "time");
    for (int i = 0; i < WIDTH; i++)
        fprintf(file, ",column%d", i);
    for (int row = 1; row <= 3; row++) {
        fprintf(file, "\n2014-05-0%d", row);
        for (int i = 0; i < WIDTH; i++)
            fprintf(file, ",%d", i + row);
    }
    fclose(file);
    assert_ok(data_read_file("csv", path, NULL, &f->data, &f->err), &f->err);
    assert_int_equal(f->data.n_columns, WIDTH);
    assert_int_equal(data_rows(&f->data), 3);
    assert_true(f->data.series[0].values[3 * WIDTH - 1] == WIDTH + 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(columns_are_told_from_names_and_cells),
        TEST(refusals_name_place_cause_and_option),
        TEST(wrong_options_are_refused),
        TEST(missing_cells_are_nan_and_counted),
        TEST(a_column_of_one_value_is_a_warning),
        TEST(what_was_guessed_is_told),
        TEST(times_stamps_and_steps_are_as_told),
        TEST(an_instrument_column_makes_series),
        TEST(files_are_joined_in_order_of_time),
        TEST(files_of_other_names_are_not_joined_unasked),
        TEST(a_series_is_called_by_a_file_name_in_utf8),
        TEST(files_of_other_columns_are_refused),
        TEST(files_without_rows_are_counted_among_others),
        TEST(folders_tell_files_of_one_name_apart),
        TEST(the_whole_file_is_checked),
        TEST(a_wide_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
