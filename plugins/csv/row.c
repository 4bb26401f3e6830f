/* One record to one row: its series, its time and its values. */
#include "csv/csv.h"

#include <inttypes.h>
#include <string.h>

#include "common/memory.h"

const char *row_place_show(const void *context, struct row_place place,
                           char out[ROW_PLACE_TEXT])
{
    const struct csv_source *source = context;

    snprintf(out, ROW_PLACE_TEXT, "%s:%" PRIu64, source->files[place.file].path,
             place.at);
    return out;
}

static void count_cell(struct csv_source *source, enum csv_count count,
                       const struct cell *cell)
{
    const struct reader *reader = &source->reader;

    if (counts_hit(&source->counts, count))
        counts_place(&source->counts, count, "%s:%" PRIu64 ":%" PRIu32,
                     reader->input.source.path,
                     reader->record_line + cell->line, cell->column);
}

/* ---- the time --------------------------------------------------------- */

static int fail_time(const struct csv_source *source,
                     const struct column *column, const struct cell *cell,
                     const struct m2_error *reason, struct m2_error *err)
{
    char shown[CELL_SHOWN];

    if (cell->n == 0)
        return reader_fail(&source->reader, cell, err,
                           "column '%.100s': the time is missing",
                           column->name);
    return reader_fail(&source->reader, cell, err,
                       "column '%.100s': '%s': %.600s", column->name,
                       cell_show(cell, shown), reason->text);
}

/* Two cells as one text, with a blank between them. */
static int join_cells(struct csv_source *source, const struct cell *clock,
                      struct cell *date, struct m2_error *err)
{
    size_t n = (size_t)date->n + 1 + clock->n;
    char *joined =
        memory_grow(source->joined, &source->joined_capacity, n, 1, err);

    if (joined == NULL)
        return M2_E_MEMORY;
    source->joined = joined;
    memcpy(joined, date->text, date->n);
    joined[date->n] = ' ';
    memcpy(joined + date->n + 1, clock->text, clock->n);
    date->text = joined;
    date->n = (uint32_t)n;
    return M2_OK;
}

int row_time(struct csv_source *source, const struct csv_file *file,
             int64_t *out, struct m2_error *err)
{
    const size_t *at = file->columns.time;
    struct cell cell = source->reader.cells[at[0]];
    struct m2_error reason;

    if (at[1] != NO_COLUMN) {
        int status =
            join_cells(source, &source->reader.cells[at[1]], &cell, err);
        if (status != M2_OK)
            return status;
    }
    if (times_read(&source->times, cell.text, cell.n, out, &reason) == M2_OK)
        return M2_OK;
    return fail_time(source, &file->columns.items[at[0]], &cell, &reason, err);
}

/* Rows without a time are `step` apart. */
static int number_time(const struct csv_source *source, size_t series,
                       int64_t *out, struct m2_error *err)
{
    int64_t row = (int64_t)rows_added(&source->rows, series), distance;

    if (__builtin_mul_overflow(source->settings.step_ns, row, &distance) ||
        __builtin_add_overflow(source->settings.start, distance, out) ||
        *out >= civil_days(CIVIL_LAST_YEAR + 1, 1, 1) * NS_PER_DAY)
        return reader_fail(&source->reader, &source->reader.cells[0], err,
                           "with this `step` the rows reach beyond the year "
                           "%d",
                           CIVIL_LAST_YEAR);
    return M2_OK;
}

/* ---- values ----------------------------------------------------------- */

static int fail_number(const struct csv_source *source,
                       const struct column *column, const struct cell *cell,
                       struct m2_error *err)
{
    const char *hint =
        number_hint(&source->settings.numbers, cell->text, cell->n);
    char shown[CELL_SHOWN];

    cell_show(cell, shown);
    if (hint != NULL)
        return reader_fail(&source->reader, cell, err,
                           "column '%.100s': '%s' is not a number; %s reads it",
                           column->name, shown, hint);
    return reader_fail(&source->reader, cell, err,
                       "column '%.100s': '%s' is not a number; `missing: "
                       "\"%s\"` takes it for a missing value, `skip_columns: "
                       "%.100s` leaves the column out",
                       column->name, shown, shown, column->name);
}

static void note_value(struct column_values *values, double value)
{
    if (!values->has_first) {
        values->first = value;
        values->has_first = true;
    }
    values->changes |= value < values->first || value > values->first;
}

static int take_value(struct csv_source *source, const struct column *column,
                      const struct cell *cell, struct m2_error *err)
{
    char shown[CELL_SHOWN];
    double *value = &source->values[column->index];

    switch (
        number_read(&source->settings.numbers, cell->text, cell->n, value)) {
    case NUMBER_VALUE:
        note_value(&source->changes[column->index], *value);
        return M2_OK;
    case NUMBER_MISSING:
        count_cell(source, COUNT_MISSING, cell);
        return M2_OK;
    case NUMBER_INFINITE:
        count_cell(source, COUNT_INFINITE, cell);
        return M2_OK;
    case NUMBER_TOO_LARGE:
        return reader_fail(&source->reader, cell, err,
                           "column '%.100s': '%s' is too large for a double",
                           column->name, cell_show(cell, shown));
    default:
        return fail_number(source, column, cell, err);
    }
}

/* ---- the series ------------------------------------------------------- */

/* 1 when the row's instrument is not read. */
static int find_series(struct csv_source *source, const struct csv_file *file,
                       size_t *out, struct m2_error *err)
{
    size_t at = file->columns.instrument;
    uint32_t found;

    *out = file->series;
    if (at == NO_COLUMN)
        return M2_OK;
    const struct cell *cell = &source->reader.cells[at];
    if (cell->n == 0)
        return reader_fail(&source->reader, cell, err,
                           "column '%.100s': the instrument is missing",
                           file->columns.items[at].name);
    found = instruments_find(&source->instruments, cell->text, cell->n);
    if (found == NO_INSTRUMENT) /* the file is not what it was when opened */
        return reader_fail(&source->reader, cell, err,
                           "an instrument that was not there before: was the "
                           "file changed?");
    if (source->instruments.items[found].series == NO_INSTRUMENT) {
        count_cell(source, COUNT_OTHER_INSTRUMENTS, cell);
        return 1;
    }
    *out = source->instruments.items[found].series;
    return M2_OK;
}

/* ---- records ---------------------------------------------------------- */

static int fail_width(const struct csv_source *source,
                      const struct csv_file *file, struct m2_error *err)
{
    const struct reader *reader = &source->reader;
    size_t n = reader->n_cells, expected = file->columns.n;
    const struct cell *cell = &reader->cells[n > expected ? expected : n - 1];

    return reader_fail(reader, cell, err, "%zu cell%s where the %s %zu%s", n,
                       n == 1 ? "" : "s",
                       file->has_header ? "header has" : "first row has",
                       expected,
                       n > expected ? "; a cell that holds the delimiter must "
                                      "be in quotes"
                                    : "");
}

bool row_is_header(const struct csv_source *source, const struct csv_file *file)
{
    const struct reader *reader = &source->reader;

    if (!file->has_header || reader->n_cells != file->columns.n)
        return false;
    for (size_t i = 0; i < file->columns.n; i++)
        if (!cell_is(&reader->cells[i], file->columns.items[i].header))
            return false;
    return true;
}

/* After an error: is the row the header once more? */
static int judge_header(struct csv_source *source, const struct csv_file *file,
                        int status, struct m2_error *err)
{
    const struct cell *first = &source->reader.cells[0];

    if (status != M2_E_DATA || !row_is_header(source, file))
        return status;
    if (!source->settings.skip_repeated_header)
        return reader_fail(&source->reader, first, err,
                           "the header again; `skip_repeated_header: true` "
                           "passes over it");
    count_cell(source, COUNT_HEADERS, first);
    return 1;
}

static int take_cells(struct csv_source *source, const struct csv_file *file,
                      struct row *out, size_t *series, struct m2_error *err)
{
    const struct columns *columns = &file->columns;
    int status = find_series(source, file, series, err);

    if (status != M2_OK)
        return status;
    status = source->settings.time_source == TIME_NONE
                 ? number_time(source, *series, &out->time, err)
                 : row_time(source, file, &out->time, err);
    for (size_t i = 0; i < columns->n && status == M2_OK; i++)
        if (columns->items[i].role == COLUMN_VALUE)
            status = take_value(source, &columns->items[i],
                                &source->reader.cells[i], err);
    return status;
}

int row_take(struct csv_source *source, struct row *out, size_t *series,
             struct m2_error *err)
{
    const struct csv_file *file = &source->files[source->file];

    if (source->reader.n_cells != file->columns.n)
        return fail_width(source, file, err);
    int status = take_cells(source, file, out, series, err);
    if (status < 0)
        return judge_header(source, file, status, err);
    out->values = source->values;
    out->place =
        (struct row_place){source->reader.record_line, (uint32_t)source->file};
    return status;
}
