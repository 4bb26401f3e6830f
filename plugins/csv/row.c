/* One record to one row: its time and its values. */
#include "csv/csv.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"

static void place_of(const struct csv_source *source, enum csv_count count,
                     const struct cell *cell, struct counts *counts)
{
    counts_place(counts, count, "%s:%llu:%u", source->reader.input.source.path,
                 (unsigned long long)(source->reader.record_line + cell->line),
                 cell->column);
}

/* ---- the time --------------------------------------------------------- */

static int fail_time(const struct csv_source *source,
                     const struct column *column, const struct cell *cell,
                     const struct m2_error *reason, struct m2_error *err)
{
    char shown[CELL_SHOWN];

    if (cell->n == 0)
        return reader_fail(&source->reader, cell, err,
                           "column '%s': the time is missing", column->name);
    return reader_fail(&source->reader, cell, err, "column '%s': '%s': %.400s",
                       column->name, cell_show(cell, shown), reason->text);
}

/* Two cells as one text, with a blank between them. */
static int join_cells(struct csv_source *source, const struct cell *date,
                      const struct cell *clock, struct cell *out,
                      struct m2_error *err)
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
    *out = *date;
    out->text = joined;
    out->n = (uint32_t)n;
    return M2_OK;
}

int row_time(struct csv_source *source, const struct csv_file *file,
             int64_t *out, struct m2_error *err)
{
    const struct reader *reader = &source->reader;
    const struct cell *parts[2] = {NULL, NULL};
    const struct column *column = NULL;
    struct cell cell;
    struct m2_error reason;

    for (size_t i = 0; i < file->columns.n; i++)
        if (file->columns.items[i].role == COLUMN_TIME) {
            parts[file->columns.items[i].index] = &reader->cells[i];
            if (file->columns.items[i].index == 0)
                column = &file->columns.items[i];
        }
    cell = *parts[0];
    if (parts[1] != NULL) {
        int status = join_cells(source, parts[0], parts[1], &cell, err);
        if (status != M2_OK)
            return status;
    }
    if (times_read(&source->times, cell.text, cell.n, out, &reason) == M2_OK)
        return M2_OK;
    return fail_time(source, column, &cell, &reason, err);
}

/* Rows without a time are `step` apart. */
static int number_time(const struct csv_source *source, int64_t *out,
                       struct m2_error *err)
{
    int64_t distance;

    if (__builtin_mul_overflow(source->settings.step_ns, (int64_t)source->row,
                               &distance) ||
        __builtin_add_overflow(source->settings.start, distance, out))
        return m2_fail(err, M2_E_DATA,
                       "%s: with this `step` the rows reach beyond the year "
                       "2200",
                       source->reader.input.source.path);
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
                           "column '%s': '%s' is not a number; %s reads it",
                           column->name, shown, hint);
    return reader_fail(&source->reader, cell, err,
                       "column '%s': '%s' is not a number; `missing: \"%s\"` "
                       "reads it as a missing value, `skip_columns: %s` leaves "
                       "the column out",
                       column->name, shown, shown, column->name);
}

static void note_value(struct column_values *values, double value)
{
    if (!values->has_first) {
        values->first = value;
        values->has_first = true;
    }
    values->changes |= value != values->first;
}

static int take_value(struct csv_source *source, const struct column *column,
                      const struct cell *cell, struct m2_error *err)
{
    double value;
    char shown[CELL_SHOWN];
    enum number_kind kind =
        number_read(&source->settings.numbers, cell->text, cell->n, &value);

    source->values[column->index] = value;
    if (kind == NUMBER_VALUE) {
        note_value(&source->changes[column->index], value);
        return M2_OK;
    }
    if (kind == NUMBER_MISSING || kind == NUMBER_INFINITE) {
        enum csv_count count =
            kind == NUMBER_MISSING ? COUNT_MISSING : COUNT_INFINITE;
        if (counts_hit(&source->counts, count))
            place_of(source, count, cell, &source->counts);
        return M2_OK;
    }
    if (kind == NUMBER_TOO_LARGE)
        return reader_fail(&source->reader, cell, err,
                           "column '%s': '%s' is too large for a double",
                           column->name, cell_show(cell, shown));
    return fail_number(source, column, cell, err);
}

/* ---- records ---------------------------------------------------------- */

static int fail_width(const struct csv_source *source,
                      const struct csv_file *file, struct m2_error *err)
{
    const struct reader *reader = &source->reader;
    size_t n = reader->n_cells, expected = file->columns.n;
    const struct cell *cell = &reader->cells[n > expected ? expected : n - 1];

    return reader_fail(
        reader, cell, err, "%zu cells where the %s %zu%s", n,
        file->has_header ? "header has" : "first row has", expected,
        n > expected ? "; a cell that holds the delimiter must be quoted" : "");
}

static bool is_header(const struct csv_source *source,
                      const struct csv_file *file)
{
    const struct reader *reader = &source->reader;

    if (!file->has_header || source->settings.columns.n > 0)
        return false;
    for (size_t i = 0; i < file->columns.n; i++)
        if (reader->cells[i].n > 0 &&
            !cell_is(&reader->cells[i], file->columns.items[i].name))
            return false;
    return true;
}

/* After an error: is the row the header once more? */
static int judge_header(struct csv_source *source, const struct csv_file *file,
                        int status, struct m2_error *err)
{
    if (status != M2_E_DATA || !is_header(source, file))
        return status;
    if (!source->settings.skip_repeated_header)
        return reader_fail(&source->reader, &source->reader.cells[0], err,
                           "the header again; `skip_repeated_header: true` "
                           "passes over it");
    if (counts_hit(&source->counts, COUNT_HEADERS))
        place_of(source, COUNT_HEADERS, &source->reader.cells[0],
                 &source->counts);
    return 1;
}

int row_take(struct csv_source *source, struct row *out, struct m2_error *err)
{
    const struct csv_file *file = &source->files[source->file];
    int status;

    if (source->reader.n_cells != file->columns.n)
        return fail_width(source, file, err);
    status = source->settings.time_source == TIME_NONE
                 ? number_time(source, &out->time, err)
                 : row_time(source, file, &out->time, err);
    for (size_t i = 0; i < file->columns.n && status == M2_OK; i++)
        if (file->columns.items[i].role == COLUMN_VALUE)
            status = take_value(source, &file->columns.items[i],
                                &source->reader.cells[i], err);
    if (status != M2_OK)
        return judge_header(source, file, status, err);
    source->row++;
    out->values = source->values;
    out->place =
        (struct row_place){source->reader.record_line, (uint32_t)source->file};
    return M2_OK;
}
