/* Every file of dbn-bad and csv-bad does what its table in the README of the
 * shared data says, and there is no file that the tables below leave out.
 *
 * What the runner decides is tested with the runner: missing values (an error
 * unless data.missing says otherwise), and files too short for a window. */
#include <dirent.h>

#include "data_plugin.h"
#include "unit.h"

#define ALL "instrument: *"

/* One way to read a file.  rows < 0: it is refused, with all these parts in
 * the message; else `text` names a counter that stands at n. */
struct reading {
    const char *file, *options;
    long rows;
    const char *text;
    const char *more; /* another part, or NULL */
    uint64_t n;
};

static const struct reading dbn[] = {
    {"bad-checksum.dbn.zst", ALL, -1, "damaged near byte 141", "checksum", 0},
    {"bytes-after-frame.dbn.zst", ALL, -1, "byte 5121 of the file",
     "(\"trailing\")", 0},
    {"deprecated-rtype-0x11.dbn", ALL, 50, NULL, NULL, 0},
    {"duplicate-key-other-value.dbn", ALL, -1, "byte 4232",
     "`duplicates: first`", 0},
    {"duplicate-key-other-value.dbn", ALL "; duplicates: first", 400,
     "rows with another row's time, but other values, dropped", NULL, 1},
    {"duplicate-key-other-value.dbn", ALL "; duplicates: last", 400,
     "rows with another row's time, but other values, dropped", NULL, 1},
    {"duplicate-rows.dbn", ALL, -1, "there before, at", "`duplicates: first`",
     0},
    {"duplicate-rows.dbn", ALL "; duplicates: last", 100,
     "rows equal to another row dropped", NULL, 10},
    {"empty-mapping-symbol.dbn", ALL, 400,
     "bars of an instrument id without a symbol", NULL, 400},
    {"empty-mapping-symbol.dbn", "instrument: 6EH4", -1,
     "the instrument 6EH4 is not in the file", "900101 351 bars", 0},
    {"empty.dbn", ALL, -1, "empty file (0 bytes)", NULL, 0},
    {"empty.dbn.zst", ALL, -1, "empty file (0 bytes)", NULL, 0},
    {"gzip-not-zstd.dbn.zst", ALL, -1, "gzip, not zstd", NULL, 0},
    {"header-only-8-bytes.dbn", ALL, -1, "truncated: ends at byte 8", NULL, 0},
    {"header-only-8-bytes.dbn", ALL "; allow_truncated: true", -1, "truncated",
     NULL, 0},
    {"high-below-low.dbn", ALL, 400, "bars with high below low", NULL, 1},
    {"mappings-count-huge.dbn", ALL, -1, "damaged metadata at byte 199", NULL,
     0},
    {"metadata-length-99.dbn", ALL, -1, "damaged metadata at byte 4",
     "length 99, expected 100", 0},
    {"metadata-length-huge.dbn", ALL, -1, "length 4294967280", NULL, 0},
    {"mixed-records.dbn", ALL, -1, "3 ohlcv-1s, 60 ohlcv-1m",
     "choose one with `schema`", 0},
    {"mixed-records.dbn", ALL "; schema: ohlcv-1m", 60,
     "ohlcv-1s records skipped", NULL, 3},
    {"mixed-records.dbn", ALL "; schema: ohlcv-1m", 60,
     "system records skipped", NULL, 1},
    {"no-mappings.dbn", ALL, 400, "bars of an instrument id without a symbol",
     NULL, 400},
    {"no-mappings.dbn", "instrument: 900101", 351, NULL, NULL, 0},
    {"no-mappings.dbn", "instrument: 6EH4", -1,
     "the instrument 6EH4 is not in the file", NULL, 0},
    {"no-records.dbn", NULL, -1, "no bars", NULL, 0},
    {"no-records.dbn", "instrument: 6EH4", -1, "no bars of 6EH4", NULL, 0},
    {"not-dbn.dbn", ALL, -1, "not DBN: starts with", "ts_event", 0},
    {"only-spreads.dbn", NULL, 14, NULL, NULL, 0},
    {"short-length-record.dbn", ALL, -1, "damaged record at byte 1376",
     "length 12", 0},
    {"truncated-metadata.dbn", ALL, -1, "truncated: ends at byte 776", NULL, 0},
    {"truncated-metadata.dbn", ALL "; allow_truncated: true", -1, "truncated",
     NULL, 0},
    {"truncated-record.dbn", ALL, -1, "truncated: the record at byte 23160",
     "`allow_truncated: true`", 0},
    {"truncated-record.dbn", ALL "; allow_truncated: true", 399,
     "files that end early, accepted", NULL, 1},
    {"truncated-zstd.dbn.zst", ALL, -1, "truncated: the file ends at byte 3414",
     "`allow_truncated: true`", 0},
    /* its one block of records is cut: nothing can be decompressed */
    {"truncated-zstd.dbn.zst", "instrument: 6EH4; allow_truncated: true", -1,
     "no bars of 6EH4", "before the point where a file is truncated", 0},
    {"truncated-zstd-at-frame-end.dbn.zst", ALL, 200, NULL, NULL, 0},
    {"ts-out.dbn", ALL, 50, NULL, NULL, 0},
    {"undef-close-only.dbn", ALL, 400,
     "bars with an undefined price, read as missing", NULL, 1},
    {"undef-prices.dbn", ALL, 400,
     "bars with an undefined price, read as missing", NULL, 5},
    {"unmapped-instrument.dbn", ALL, 401,
     "bars of an instrument id without a symbol", NULL, 1},
    {"unmapped-instrument.dbn", "instrument: 999999", 1, NULL, NULL, 0},
    {"unsorted.dbn", ALL, -1, "out of order", "`sort: true`", 0},
    {"unsorted.dbn", ALL "; sort: true", 400, "rows out of order sorted", NULL,
     214},
    {"version-0.dbn", ALL, -1, "DBN version 0, expected 1 to 3", NULL, 0},
    {"version-4.dbn", ALL, -1, "DBN version 4, expected 1 to 3", NULL, 0},
    {"wrong-length-ohlcv.dbn", ALL, -1, "damaged record at byte 1376",
     "a bar of 52 bytes, expected 56", 0},
    {"zero-length-record.dbn", ALL, -1, "damaged record at byte 1376",
     "length 0", 0},
    {"zero-volume.dbn", ALL, 400, "bars with volume 0", NULL, 1},
};

#define SIX "columns: [time, open, high, low, close, ask_close]"

static const struct reading csv[] = {
    {"blank-lines.csv", NULL, 300, "blank lines skipped", NULL, 5},
    {"bom.csv", NULL, 300, "byte order marks (UTF-8) skipped", NULL, 1},
    {"comments.csv", NULL, 300, "comment lines skipped", NULL, 2},
    {"constant-column.csv", NULL, 300, "columns that hold one value only", NULL,
     1},
    {"cr-only.csv", NULL, 300, NULL, NULL, 0},
    {"crlf.csv", NULL, 300, NULL, NULL, 0},
    {"decimal-comma-semicolon.csv", NULL, -1,
     "decimal-comma-semicolon.csv:2:22: column 'open': '1,38676' is not a "
     "number",
     "`decimal: \",\"`", 0},
    {"decimal-comma-semicolon.csv", "decimal: \",\"", 300,
     "rows divided at ';', as found in the file", NULL, 300},
    {"descending.csv", NULL, -1, "descending.csv:3: out of order",
     "`sort: true`", 0},
    {"descending.csv", "sort: true", 300, "rows out of order sorted", NULL,
     299},
    {"duplicate-column-names.csv", NULL, -1, "columns 5 and 6", "'close'", 0},
    {"duplicate-timestamps.csv", NULL, -1, "duplicate-timestamps.csv:152:",
     "duplicate-timestamps.csv:142; `duplicates: first`", 0},
    {"duplicate-timestamps.csv", "duplicates: first", 300,
     "rows equal to another row dropped", NULL, 10},
    {"duplicate-timestamps.csv", "duplicates: last", 300,
     "rows equal to another row dropped", NULL, 10},
    {"empty.csv", NULL, -1, "no rows", NULL, 0},
    {"epoch-millis.csv", NULL, 300,
     "times read as milliseconds since 1970, as their size tells", NULL, 300},
    {"epoch-nanos.csv", NULL, 300,
     "times read as nanoseconds since 1970, as their size tells", NULL, 300},
    {"epoch-seconds.csv", NULL, 300,
     "times read as seconds since 1970, as their size tells", NULL, 300},
    {"epoch-nanos.csv", "time_format: epoch_us", -1,
     "epoch-nanos.csv:2:1:", "outside the years 1900 to 2200", 0},
    {"exponents.csv", NULL, 300, NULL, NULL, 0},
    {"histdata-style.csv", NULL, -1, "histdata-style.csv:1:1: no header",
     "`columns:", 0},
    {"histdata-style.csv", SIX, -1,
     "histdata-style.csv:1:1: column 'time': '20140501 000000'",
     "`time_format: \"%Y%m%d %H%M%S\"`", 0},
    {"histdata-style.csv", SIX "; time_format: %Y%m%d %H%M%S", 300,
     "rows divided at ';', as found in the file", NULL, 300},
    {"histdata-style.csv",
     "columns: [time, open, high, low, close, volume]; "
     "time_format: \"%Y%m%d %H%M%S\"",
     300, NULL, NULL, 0},
    {"leading-dot-plus.csv", NULL, 300, NULL, NULL, 0},
    {"long-line.csv", NULL, -1, "long-line.csv:12:1: 1 cell where",
     "the header has 6", 0},
    {"missing-cells.csv", NULL, 300, "missing cells", NULL, 8},
    {"missing-cells.csv", NULL, 300, "infinite cells, read as missing", NULL,
     1},
    {"no-final-newline.csv", NULL, 300, NULL, NULL, 0},
    {"no-header.csv", NULL, -1, "no-header.csv:1:1: no header", "`columns:", 0},
    {"no-header.csv", SIX, 300, NULL, NULL, 0},
    {"nul-bytes.csv", NULL, -1, "nul-bytes.csv:52:1: a NUL byte (byte 3090",
     NULL, 0},
    {"offset-times.csv", NULL, 300, NULL, NULL, 0},
    {"one-row.csv", NULL, 1, NULL, NULL, 0},
    {"only-header.csv", NULL, -1, "no rows below the header", NULL, 0},
    {"plain.csv", NULL, 300, "rows read", NULL, 300},
    {"quoted-newline.csv", NULL, 300, "columns without numbers left out", NULL,
     1},
    {"quoted.csv", NULL, 300, NULL, NULL, 0},
    {"ragged-long.csv", NULL, -1, "ragged-long.csv:102:62: 8 cells",
     "the header has 6", 0},
    {"ragged-short.csv", NULL, -1, "ragged-short.csv:102:38: 4 cells",
     "the header has 6", 0},
    {"repeated-header.csv", NULL, -1,
     "repeated-header.csv:152:1: the header again",
     "`skip_repeated_header: true`", 0},
    {"repeated-header.csv", "skip_repeated_header: true", 300,
     "repeated headers skipped", NULL, 1},
    {"semicolon.csv", NULL, 300, "rows divided at ';', as found in the file",
     NULL, 300},
    {"spaces.csv", NULL, 300, NULL, NULL, 0},
    {"tab.csv", NULL, 300, "rows divided at tab, as found in the file", NULL,
     300},
    {"text-in-number.csv", NULL, -1,
     "text-in-number.csv:102:22: column 'open': '1.38x57' is not a number",
     "`skip_columns: open`", 0},
    {"thousands-quoted.csv", NULL, -1,
     "thousands-quoted.csv:2:30: column 'volume': '1,000,000'",
     "`thousands: \",\"`", 0},
    {"thousands-quoted.csv", "thousands: \",\"", 300, NULL, NULL, 0},
    {"thousands-unquoted.csv", NULL, -1,
     "thousands-unquoted.csv:2:32: 5 cells where the header has 3",
     "must be in quotes", 0},
    {"two-time-columns.csv", NULL, -1, "'date' and 'time'",
     "`time: [date, time]`", 0},
    {"two-time-columns.csv", "time: [date, time]", 300, NULL, NULL, 0},
    {"unsorted.csv", NULL, -1, "unsorted.csv:152: out of order",
     "unsorted.csv:151; `sort: true`", 0},
    {"unsorted.csv", "sort: true", 300, "rows out of order sorted", NULL, 150},
    {"utf16.csv", NULL, -1, "utf16.csv: this is UTF-16 text",
     "iconv -f UTF-16 -t UTF-8", 0},
};

/* "" when the file does what it should, else what it did. */
static void check(const char *plugin, const char *path, const struct reading *r,
                  char *problem, size_t size)
{
    struct read_data data = {0};
    struct m2_error err;
    int status = data_read_file(plugin, path, r->options, &data, &err);

    problem[0] = '\0';
    if (status != 0 && r->rows >= 0)
        snprintf(problem, size, "refused: %s", err.text);
    else if (status == 0 && r->rows < 0)
        snprintf(problem, size, "accepted: %zu rows", data_rows(&data));
    else if (r->rows >= 0 && data_rows(&data) != (size_t)r->rows)
        snprintf(problem, size, "%zu rows", data_rows(&data));
    else if (r->rows >= 0 && r->text != NULL &&
             data_count(&data, r->text) != r->n)
        snprintf(problem, size, "\"%s\" is %lu", r->text,
                 (unsigned long)data_count(&data, r->text));
    else if (r->rows < 0 &&
             (status != M2_E_DATA || strstr(err.text, path) == NULL ||
              strstr(err.text, r->text) == NULL ||
              (r->more != NULL && strstr(err.text, r->more) == NULL)))
        snprintf(problem, size, "code %d: %s", status, err.text);
    data_free(&data);
}

static void check_folder(const char *plugin, const char *folder,
                         const struct reading *readings, size_t n)
{
    const char *shared = shared_data();
    size_t wrong = 0;

    if (shared == NULL) {
        print_message("# the shared test data is not there\n");
        skip();
    }
    for (size_t i = 0; i < n; i++) {
        char path[4096], problem[2400];
        snprintf(path, sizeof path, "%s/%s/%s", shared, folder,
                 readings[i].file);
        check(plugin, path, &readings[i], problem, sizeof problem);
        if (problem[0] == '\0')
            continue;
        print_message("# %s (%s): %s\n", readings[i].file,
                      readings[i].options != NULL ? readings[i].options : "",
                      problem);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* Every file of the folder is in the table. */
static void check_complete(const char *folder, const struct reading *readings,
                           size_t n)
{
    char path[4096];
    size_t files = 0;
    const struct dirent *entry;

    snprintf(path, sizeof path, "%s/%s", shared_data(), folder);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        size_t i = 0;
        if (entry->d_name[0] == '.')
            continue;
        while (i < n && strcmp(readings[i].file, entry->d_name) != 0)
            i++;
        if (i == n)
            fail_msg("%s is in no table", entry->d_name);
        files++;
    }
    closedir(dir);
    assert_true(files > 0);
    print_message("# %s: %zu files, %zu readings\n", folder, files, n);
}

static void damaged_dbn_files_do_what_the_table_says(void **state)
{
    (void)state;
    check_folder("dbn", "dbn-bad", dbn, COUNT_OF(dbn));
    check_complete("dbn-bad", dbn, COUNT_OF(dbn));
}

static void odd_csv_files_do_what_the_table_says(void **state)
{
    (void)state;
    check_folder("csv", "csv-bad", csv, COUNT_OF(csv));
    check_complete("csv-bad", csv, COUNT_OF(csv));
}

/* Closes are those of plain.csv, and so are times, but for the files whose
 * times were made up; one file lacks the 1 before the point. */
static void compare(const char *file, const struct read_data *plain,
                    const struct read_data *data)
{
    const struct read_series *a = &plain->series[0], *b = &data->series[0];
    size_t close_a = data_column(plain, "close");
    size_t close_b = data_column(data, "close");
    bool own_times = strncmp(file, "epoch-", 6) == 0 ||
                     strcmp(file, "offset-times.csv") == 0;
    bool no_whole = strcmp(file, "leading-dot-plus.csv") == 0;

    print_message("# %s\n", file);
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        double x = a->values[i * plain->n_columns + close_a];
        double y = b->values[i * data->n_columns + close_b];
        if (!own_times)
            assert_int_equal(a->times[i], b->times[i]);
        if (no_whole)
            assert_true(x - y - 1 < 1e-14 && x - y - 1 > -1e-14);
        else if (y == y) /* missing cells are NaN */
            assert_true(x == y);
    }
}

static void accepted_csv_files_hold_the_same_bars(void **state)
{
    const char *shared = shared_data();
    struct read_data plain = {0}, data = {0};
    struct m2_error err;
    char path[4096];

    (void)state;
    if (shared == NULL)
        skip();
    snprintf(path, sizeof path, "%s/csv-bad/plain.csv", shared);
    assert_ok(data_read_file("csv", path, NULL, &plain, &err), &err);
    for (size_t i = 0; i < COUNT_OF(csv); i++) {
        if (csv[i].rows != 300)
            continue;
        snprintf(path, sizeof path, "%s/csv-bad/%s", shared, csv[i].file);
        assert_ok(data_read_file("csv", path, csv[i].options, &data, &err),
                  &err);
        compare(csv[i].file, &plain, &data);
        data_free(&data);
    }
    data_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_dbn_files_do_what_the_table_says),
        cmocka_unit_test(odd_csv_files_do_what_the_table_says),
        cmocka_unit_test(accepted_csv_files_hold_the_same_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
