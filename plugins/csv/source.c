/* The csv source: files to rows. */
#include "csv/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static const struct count_kind count_kinds[N_COUNTS] = {
    [COUNT_ROWS] = {"rows read", 0},
    [COUNT_OTHER_INSTRUMENTS] = {"rows of other instruments skipped", 0},
    [COUNT_MISSING] = {"missing cells", 1},
    [COUNT_INFINITE] = {"infinite cells, read as missing", 1},
    [COUNT_BLANK] = {"blank lines skipped", 0},
    [COUNT_COMMENTS] = {"comment lines skipped", 0},
    [COUNT_LINES_SKIPPED] = {"lines at the top of files skipped", 0},
    [COUNT_BOM] = {"byte order marks (UTF-8) skipped", 0},
    [COUNT_HEADERS] = {"repeated headers skipped", 1},
    [COUNT_TEXT_COLUMNS] = {"columns without numbers left out", 0},
    [COUNT_CONSTANT] = {"columns that hold one value only", 1},
    [COUNT_EMPTY_FILES] = {"files without rows", 1},
};

/* ---- open and close --------------------------------------------------- */

static int copy_inputs(struct csv_source *source,
                       const struct input_source *inputs, size_t n,
                       struct m2_error *err)
{
    source->files = memory_zeroed(n, sizeof *source->files, err);
    if (source->files == NULL)
        return M2_E_MEMORY;
    source->n_files = n;
    for (size_t i = 0; i < n; i++) {
        struct csv_file *file = &source->files[i];
        file->path = memory_string(inputs[i].path, strlen(inputs[i].path), err);
        if (file->path == NULL)
            return M2_E_MEMORY;
        file->source = inputs[i];
        file->source.path = file->path;
    }
    return M2_OK;
}

static int prepare(struct csv_source *source, const struct input_source *inputs,
                   size_t n_inputs, struct m2_error *err)
{
    int status = counts_init(&source->counts, count_kinds, N_COUNTS, err);

    source->times = source->settings.times;
    if (status == M2_OK)
        status = copy_inputs(source, inputs, n_inputs, err);
    if (status == M2_OK)
        status = survey_files(source, err);
    if (status == M2_OK)
        status = series_make(source, err);
    if (status != M2_OK)
        return status;
    const struct rows_setup setup = {
        .series = source->series,
        .n_series = source->n_series,
        .n_columns = source->n_columns,
        .duplicates = source->settings.duplicates,
        .sort = source->settings.sort,
        .counts = &source->counts,
        .place_text = row_place_show,
        .place_context = source,
    };
    return rows_init(&source->rows, &setup, err);
}

int csv_open(const struct input_source *inputs, size_t n_inputs,
             struct settings *settings, struct csv_source **out,
             struct m2_error *err)
{
    struct csv_source *source = memory_zeroed(1, sizeof *source, err);

    if (source == NULL) {
        settings_free(settings);
        return M2_E_MEMORY;
    }
    source->settings = *settings;
    *settings = (struct settings){0};
    int status = n_inputs > 0 ? prepare(source, inputs, n_inputs, err)
                              : m2_fail(err, M2_E_CONFIG,
                                        "data.path: the csv source needs a "
                                        "file");
    if (status != M2_OK) {
        csv_close(source);
        return status;
    }
    *out = source;
    return M2_OK;
}

void csv_close(struct csv_source *source)
{
    if (source == NULL)
        return;
    reader_close(&source->reader);
    rows_free(&source->rows);
    counts_free(&source->counts);
    series_free(source);
    instruments_free(&source->instruments);
    for (size_t i = 0; i < source->n_files; i++) {
        columns_free(&source->files[i].columns);
        free(source->files[i].path);
    }
    free(source->series);
    free(source->files);
    free(source->columns);
    free(source->values);
    free(source->changes);
    free(source->joined);
    settings_free(&source->settings);
    free(source);
}

/* ---- reading ---------------------------------------------------------- */

static void add_skipped(struct csv_source *source, enum csv_count count,
                        const struct skipped *skipped)
{
    source->counts.items[count].n += skipped->n;
    if (skipped->n > 0)
        counts_place(&source->counts, count, "%s:%" PRIu64,
                     source->files[source->file].path, skipped->first_line);
}

static void close_file(struct csv_source *source)
{
    const struct reader *reader = &source->reader;

    add_skipped(source, COUNT_BLANK, &reader->blank);
    add_skipped(source, COUNT_COMMENTS, &reader->comments);
    source->counts.items[COUNT_LINES_SKIPPED].n += reader->format.skip_lines;
    source->counts.items[COUNT_BOM].n += reader->has_bom;
    if (source->file_rows == 0 &&
        counts_hit(&source->counts, COUNT_EMPTY_FILES))
        counts_place(&source->counts, COUNT_EMPTY_FILES, "%s",
                     source->files[source->file].path);
    reader_close(&source->reader);
    source->is_open = false;
    source->file++;
}

static int open_file(struct csv_source *source, struct m2_error *err)
{
    if (source->files[source->file].is_empty) {
        source->file++;
        return M2_OK;
    }
    source->is_open = true;
    source->file_rows = 0;
    return source_open_file(source, source->file, err);
}

/* Times that repeat or step back may be those of several instruments. */
static int hint_instrument(const struct csv_source *source,
                           struct m2_error *err)
{
    const struct columns *columns = &source->files[source->file].columns;
    char text[sizeof err->text];

    for (size_t i = 0; i < columns->n; i++) {
        if (!columns->items[i].is_text || source->settings.instrument != NULL)
            continue;
        memcpy(text, err->text, sizeof text);
        return m2_fail(err, M2_E_DATA,
                       "%.1500s; if column '%.100s' tells instruments apart, "
                       "`instrument: %.100s` makes a series of each",
                       text, columns->items[i].name, columns->items[i].name);
    }
    return M2_E_DATA;
}

/* As rows_add: 1 when a block is full. */
static int take_record(struct csv_source *source, struct m2_error *err)
{
    struct row row = {0};
    size_t series;
    int status = row_take(source, &row, &series, err);

    if (status < 0)
        return status;
    source->file_rows++;
    if (status == 1)
        return M2_OK;
    source->counts.items[COUNT_ROWS].n++;
    status = rows_add(&source->rows, series, &row, err);
    return status == M2_E_DATA ? hint_instrument(source, err) : status;
}

static int finish(struct csv_source *source, struct m2_error *err)
{
    source->ended = true;
    if (source->counts.items[COUNT_ROWS].n == 0)
        return m2_fail(err, M2_E_DATA, "%s%s: no rows", source->files[0].path,
                       source->n_files > 1 ? " and others" : "");
    return facts_add(source, err);
}

static int read_on(struct csv_source *source, struct m2_error *err)
{
    if (source->file == source->n_files)
        return finish(source, err);
    if (!source->is_open)
        return open_file(source, err);
    int status = reader_next(&source->reader, err);
    if (status == 0)
        close_file(source);
    return status == 1 ? take_record(source, err) : status;
}

int csv_next(struct csv_source *source, struct m2_data_next *out,
             struct m2_error *err)
{
    while (!source->ended) {
        int status = read_on(source, err);
        if (status < 0)
            return status;
        if (status == 1) {
            rows_fetch(&source->rows, out);
            return M2_OK;
        }
    }
    return rows_drain(&source->rows, out, err);
}
