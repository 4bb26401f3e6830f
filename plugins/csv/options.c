/* Options of the csv source: the table, and from values to settings. */
#include "csv/settings.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum option {
    OPTION_DELIMITER,
    OPTION_HEADER,
    OPTION_COLUMNS,
    OPTION_SKIP_COLUMNS,
    OPTION_TIME,
    OPTION_TIME_FORMAT,
    OPTION_TIMEZONE,
    OPTION_START,
    OPTION_STEP,
    OPTION_BAR_LABEL,
    OPTION_DECIMAL,
    OPTION_THOUSANDS,
    OPTION_MISSING,
    OPTION_COMMENT,
    OPTION_SKIP_ROWS,
    OPTION_SKIP_REPEATED_HEADER,
    OPTION_DUPLICATES,
    OPTION_SORT,
    OPTION_SERIES,
    OPTION_INSTRUMENT,
    OPTION_INSTRUMENTS,
    N_OPTIONS
};

static const char *const headers[] = {"auto", "yes", "no", NULL};
static const char *const labels[] = {"open", "close", NULL};
static const char *const decimals[] = {".", ",", NULL};
static const char *const series[] = {"auto", "joined", "per_file", NULL};

const struct m2_option csv_options[] = {
    [OPTION_DELIMITER] =
        {"delimiter", M2_OPTION_STRING, "auto", 0, 0, NULL,
         "What divides cells: a character, tab, space (any run of blanks), or "
         "auto: tab, semicolon, bar, comma or space, whichever divides most "
         "rows into the same number of cells."},
    [OPTION_HEADER] =
        {"header", M2_OPTION_CHOICE, "auto", 0, 0, headers,
         "Whether the first row names the columns; auto: it does when it "
         "holds text above numbers."},
    [OPTION_COLUMNS] =
        {"columns", M2_OPTION_STRINGS, NULL, 0, 0, NULL,
         "Names of all columns from left to right, for files without a "
         "header, or in place of it; \"-\" leaves a column out."},
    [OPTION_SKIP_COLUMNS] = {"skip_columns", M2_OPTION_STRINGS, NULL, 0, 0,
                             NULL, "Columns that are not read."},
    [OPTION_TIME] =
        {"time", M2_OPTION_STRINGS, "auto", 0, 0, NULL,
         "The column that holds the time, a list of two (date and time of "
         "day), none (rows are `step` apart from `start` on), or auto: the "
         "column with a usual name as time, timestamp, date, ts_event."},
    [OPTION_TIME_FORMAT] =
        {"time_format", M2_OPTION_STRING, "auto", 0, 0, NULL,
         "How times are written: a pattern of %Y %y %m %d %b %H %I %p %M %S %f "
         "(decimals) %z %a %F %T, as \"%d.%m.%Y %H:%M\"; epoch_s, epoch_ms, "
         "epoch_us or epoch_ns (counted from `start`); or auto: the year "
         "first, as 2014-05-01T10:30:00Z, or a count since 1970 whose unit is "
         "told by its size."},
    [OPTION_TIMEZONE] =
        {"timezone", M2_OPTION_STRING, "UTC", 0, 0, NULL,
         "Zone of times that carry no offset: UTC, an offset as -05:00, or a "
         "name as America/New_York. A time that a change of the clocks skips "
         "or repeats is refused."},
    [OPTION_START] = {"start", M2_OPTION_STRING, NULL, 0, 0, NULL,
                      "With `time: none` the time of the first row, with "
                      "`time_format: epoch_...` what is counted from; by "
                      "default 1970-01-01T00:00:00Z."},
    [OPTION_STEP] = {"step", M2_OPTION_STRING, "auto", 0, 0, NULL,
                     "Distance of rows, as 1m, 1h, 1d; auto: the median."},
    [OPTION_BAR_LABEL] =
        {"bar_label", M2_OPTION_CHOICE, "open", 0, 0, labels,
         "Whether a row's time is the start of its bar or the end, when it "
         "became known."},
    [OPTION_DECIMAL] = {"decimal", M2_OPTION_CHOICE, ".", 0, 0, decimals,
                        "Decimal mark of numbers."},
    [OPTION_THOUSANDS] =
        {"thousands", M2_OPTION_STRING, NULL, 0, 0, NULL,
         "Character between groups of three digits; none by default."},
    [OPTION_MISSING] =
        {"missing", M2_OPTION_STRINGS, NULL, 0, 0, NULL,
         "Texts that mean a missing value, beside the empty cell, NA, N/A, "
         "#N/A, NaN, null, None and -."},
    [OPTION_COMMENT] = {"comment", M2_OPTION_STRING, "#", 0, 0, NULL,
                        "Lines that begin with this are skipped; \"\": none."},
    [OPTION_SKIP_ROWS] = {"skip_rows", M2_OPTION_INT, "0", 0, 1e9, NULL,
                          "Lines at the top of every file that are not read."},
    [OPTION_SKIP_REPEATED_HEADER] =
        {"skip_repeated_header", M2_OPTION_BOOL, "false", 0, 0, NULL,
         "Accept the header again inside a file, as in files joined by hand."},
    [OPTION_DUPLICATES] =
        {"duplicates", M2_OPTION_CHOICE, "error", 0, 0, duplicates_names,
         "Two rows of a series at one time: an error, or keep the first or "
         "the last one read. The latter hold the series in memory."},
    [OPTION_SORT] = {"sort", M2_OPTION_BOOL, "false", 0, 0, NULL,
                     "Accept rows out of order, also of files that overlap, "
                     "and sort them; holds the series in memory."},
    [OPTION_SERIES] =
        {"series", M2_OPTION_CHOICE, "auto", 0, 0, series,
         "Several files: parts of one series (joined), or a series each, named "
         "after the file (per_file); auto: joined when their names differ in "
         "digits only, else an error."},
    [OPTION_INSTRUMENT] =
        {"instrument", M2_OPTION_STRING, NULL, 0, 0, NULL,
         "The column that holds the instrument's symbol: every symbol becomes "
         "a series."},
    [OPTION_INSTRUMENTS] =
        {"instruments", M2_OPTION_STRINGS, NULL, 0, 0, NULL,
         "With `instrument`: read these only, by symbol or by patterns with * "
         "and ?."},
    [N_OPTIONS] = {0},
};

static const char *text_of(const struct m2_value *value)
{
    return value->n_texts > 0 ? value->texts[0] : NULL;
}

static int fail_option(enum option option, const char *text,
                       const char *expected, struct m2_error *err)
{
    return m2_fail(err, M2_E_CONFIG, "data.options.%s: '%s' is not %s",
                   csv_options[option].name, text, expected);
}

static int copy_texts(const struct m2_value *value, struct texts *out,
                      struct m2_error *err)
{
    out->items = memory_zeroed(value->n_texts, sizeof *out->items, err);
    if (out->items == NULL)
        return M2_E_MEMORY;
    for (; out->n < value->n_texts; out->n++) {
        const char *text = value->texts[out->n];
        out->items[out->n] = memory_string(text, strlen(text), err);
        if (out->items[out->n] == NULL)
            return M2_E_MEMORY;
    }
    return M2_OK;
}

static void free_texts(struct texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct texts){0};
}

static int read_delimiter(const char *text, char *out, struct m2_error *err)
{
    if (strcmp(text, "auto") == 0)
        *out = '\0';
    else if (strcmp(text, "tab") == 0)
        *out = '\t';
    else if (strcmp(text, "space") == 0)
        *out = ' ';
    else if (strlen(text) == 1 && strchr("\"\r\n", text[0]) == NULL)
        *out = text[0];
    else
        return fail_option(OPTION_DELIMITER, text,
                           "one character, tab, space or auto", err);
    return M2_OK;
}

static int read_time_columns(const struct m2_value *value, struct settings *out,
                             struct m2_error *err)
{
    const char *first = text_of(value);

    if (value->n_texts == 0 || value->n_texts > 2)
        return m2_fail(err, M2_E_CONFIG,
                       "data.options.time: %zu columns; one holds the time, "
                       "or two hold date and time of day",
                       value->n_texts);
    out->time_source = TIME_COLUMNS;
    if (value->n_texts == 1 && strcmp(first, "auto") == 0)
        out->time_source = TIME_BY_NAME;
    if (value->n_texts == 1 && strcmp(first, "none") == 0)
        out->time_source = TIME_NONE;
    return out->time_source == TIME_COLUMNS
               ? copy_texts(value, &out->time_columns, err)
               : M2_OK;
}

static int read_time_format(const char *text, struct settings *out,
                            struct m2_error *err)
{
    struct times *times = &out->times;

    if (strcmp(text, "auto") == 0)
        return M2_OK;
    if (strncmp(text, "epoch_", 6) == 0) {
        times->kind = TIME_EPOCH;
        times->unit_ns = times_unit(text + 6);
        return times->unit_ns != 0
                   ? M2_OK
                   : fail_option(OPTION_TIME_FORMAT, text,
                                 "epoch_s, epoch_ms, epoch_us or epoch_ns",
                                 err);
    }
    times->kind = TIME_PATTERN;
    out->pattern = memory_string(text, strlen(text), err);
    times->pattern = out->pattern;
    return out->pattern != NULL ? pattern_check(text, err) : M2_E_MEMORY;
}

static int read_start(const char *text, struct settings *out,
                      struct m2_error *err)
{
    struct times times = {.kind = TIME_CALENDAR, .zone = out->times.zone};
    struct m2_error reason;

    if (text == NULL)
        return M2_OK;
    if (out->time_source != TIME_NONE && out->times.kind != TIME_EPOCH)
        return fail_option(OPTION_START, text,
                           "needed: it goes with `time: none` or with "
                           "`time_format: epoch_...`",
                           err);
    if (times_read(&times, text, strlen(text), &out->start, &reason) != M2_OK)
        return m2_fail(err, M2_E_CONFIG, "data.options.start: '%s': %s", text,
                       reason.text);
    out->times.start = out->start;
    return M2_OK;
}

static int read_times(const struct m2_value *v, struct settings *out,
                      struct m2_error *err)
{
    const char *step = text_of(&v[OPTION_STEP]);
    int status = read_time_columns(&v[OPTION_TIME], out, err);

    if (status == M2_OK)
        status = read_time_format(text_of(&v[OPTION_TIME_FORMAT]), out, err);
    if (status == M2_OK)
        status = zone_open(text_of(&v[OPTION_TIMEZONE]), &out->times.zone, err);
    if (status == M2_OK)
        status = read_start(text_of(&v[OPTION_START]), out, err);
    if (status != M2_OK)
        return status;
    if (strcmp(step, "auto") != 0 && !civil_duration(step, &out->step_ns))
        return fail_option(OPTION_STEP, step,
                           "a duration as 1m, 1h, 1d, or auto", err);
    if (out->time_source == TIME_NONE && out->step_ns == 0)
        return m2_fail(err, M2_E_CONFIG,
                       "data.options.time: 'none' needs `step`: the distance "
                       "of rows, as 1d");
    return M2_OK;
}

static int read_numbers(const struct m2_value *v, struct settings *out,
                        struct m2_error *err)
{
    const char *thousands = text_of(&v[OPTION_THOUSANDS]);
    int status = copy_texts(&v[OPTION_MISSING], &out->missing, err);

    if (status != M2_OK)
        return status;
    out->numbers.decimal = text_of(&v[OPTION_DECIMAL])[0];
    if (thousands != NULL) {
        if (strlen(thousands) != 1 || strchr("0123456789+-eE", *thousands) ||
            *thousands == out->numbers.decimal)
            return fail_option(OPTION_THOUSANDS, thousands,
                               "one character, another than the decimal mark",
                               err);
        out->numbers.thousands = *thousands;
    }
    out->numbers.missing = (const char *const *)out->missing.items;
    out->numbers.n_missing = out->missing.n;
    out->numbers.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (out->numbers.c_locale == (locale_t)0)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    return M2_OK;
}

static int read_layout(const struct m2_value *v, struct settings *out,
                       struct m2_error *err)
{
    const char *header = text_of(&v[OPTION_HEADER]);
    const char *comment = text_of(&v[OPTION_COMMENT]);
    int status =
        read_delimiter(text_of(&v[OPTION_DELIMITER]), &out->delimiter, err);

    out->header = HEADER_AUTO;
    if (strcmp(header, "auto") != 0)
        out->header = strcmp(header, "yes") == 0 ? HEADER_YES : HEADER_NO;
    out->skip_repeated_header = v[OPTION_SKIP_REPEATED_HEADER].integer != 0;
    out->skip_rows = (uint64_t)v[OPTION_SKIP_ROWS].integer;
    if (status == M2_OK)
        status = copy_texts(&v[OPTION_COLUMNS], &out->columns, err);
    if (status == M2_OK)
        status = copy_texts(&v[OPTION_SKIP_COLUMNS], &out->skip_columns, err);
    if (status != M2_OK)
        return status;
    out->comment = memory_string(comment, strlen(comment), err);
    return out->comment != NULL ? M2_OK : M2_E_MEMORY;
}

static int read_series(const struct m2_value *v, struct settings *out,
                       struct m2_error *err)
{
    const char *instrument = text_of(&v[OPTION_INSTRUMENT]);
    const char *files = text_of(&v[OPTION_SERIES]);
    int status = copy_texts(&v[OPTION_INSTRUMENTS], &out->instruments, err);

    out->stamp = strcmp(text_of(&v[OPTION_BAR_LABEL]), "close") == 0
                     ? M2_STAMP_CLOSE
                     : M2_STAMP_OPEN;
    out->duplicates = duplicates_from(text_of(&v[OPTION_DUPLICATES]));
    out->sort = v[OPTION_SORT].integer != 0;
    if (strcmp(files, "auto") != 0)
        out->file_series =
            strcmp(files, "joined") == 0 ? FILES_JOINED : FILES_APART;
    if (status != M2_OK)
        return status;
    if (instrument == NULL)
        return out->instruments.n == 0
                   ? M2_OK
                   : fail_option(OPTION_INSTRUMENTS, out->instruments.items[0],
                                 "needed without `instrument`, the column of "
                                 "symbols",
                                 err);
    if (out->file_series == FILES_APART)
        return fail_option(OPTION_SERIES, "per_file",
                           "possible together with `instrument`", err);
    out->instrument = memory_string(instrument, strlen(instrument), err);
    return out->instrument != NULL ? M2_OK : M2_E_MEMORY;
}

int settings_read(const struct m2_value *options, size_t n,
                  struct settings *out, struct m2_error *err)
{
    const struct m2_value *v = options;

    *out = (struct settings){0};
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (i >= n || strcmp(v[i].name, csv_options[i].name) != 0)
            return m2_fail(err, M2_E_INTERNAL, "csv: option %s is missing",
                           csv_options[i].name);
    int status = read_layout(v, out, err);
    if (status == M2_OK)
        status = read_times(v, out, err);
    if (status == M2_OK)
        status = read_numbers(v, out, err);
    return status == M2_OK ? read_series(v, out, err) : status;
}

void settings_free(struct settings *settings)
{
    free(settings->comment);
    free(settings->pattern);
    free(settings->instrument);
    free_texts(&settings->columns);
    free_texts(&settings->skip_columns);
    free_texts(&settings->time_columns);
    free_texts(&settings->missing);
    free_texts(&settings->instruments);
    zone_free(settings->times.zone);
    if (settings->numbers.c_locale != (locale_t)0)
        freelocale(settings->numbers.c_locale);
    *settings = (struct settings){0};
}
