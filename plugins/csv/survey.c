/* A first look at every file: its columns, and the order of files. */
#include "csv/csv.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* Columns of a file that has rows; first is the first such file, or NULL. */
static int look_at(struct csv_source *source, struct csv_file *file,
                   const struct csv_file *first, struct m2_error *err)
{
    const struct settings *settings = &source->settings;
    struct sample sample;
    int status = sample_take(&file->source, settings, &sample, err);

    file->has_header = sample.has_header;
    file->is_empty = sample.n_columns == 0 || sample.is_only_header;
    if (status == M2_OK && !file->is_empty)
        status = first == NULL
                     ? columns_choose(file->path, &sample, settings,
                                      &file->columns, err)
                     : columns_match(file->path, &sample, settings,
                                     &first->columns, &file->columns, err);
    file->format = (struct reader_format){
        .delimiter = sample.delimiter,
        .comment = settings->comment,
        .skip_lines = settings->skip_rows,
    };
    sample_free(&sample);
    return status;
}

static int fail_empty(const struct csv_source *source, struct m2_error *err)
{
    return m2_fail(err, M2_E_DATA, "%s%s: no rows%s", source->files[0].path,
                   source->n_files > 1 ? " and others" : "",
                   source->files[0].has_header ? " below the header" : "");
}

static int look_at_all(struct csv_source *source, struct m2_error *err)
{
    const struct csv_file *first = NULL;
    int status = M2_OK;

    for (size_t i = 0; i < source->n_files && status == M2_OK; i++) {
        struct csv_file *file = &source->files[i];
        status = look_at(source, file, first, err);
        if (status == M2_OK && !file->is_empty && first == NULL)
            first = file;
        if (status == M2_OK && file->is_empty &&
            counts_hit(&source->counts, COUNT_EMPTY_FILES))
            counts_place(&source->counts, COUNT_EMPTY_FILES, "%s", file->path);
    }
    if (status == M2_OK && first == NULL)
        return fail_empty(source, err);
    return status;
}

/* ---- the order of files ----------------------------------------------- */

int source_open_file(struct csv_source *source, size_t i, struct m2_error *err)
{
    const struct csv_file *file = &source->files[i];
    int status =
        reader_open(&source->reader, &file->source, &file->format, err);

    if (status == M2_OK && file->has_header)
        status = reader_next(&source->reader, err);
    return status < 0 ? status : M2_OK;
}

/* The time of the first row, if that can be read: an error will be told when
 * its turn comes. */
static int find_first_time(struct csv_source *source, size_t i,
                           struct m2_error *err)
{
    struct csv_file *file = &source->files[i];
    struct m2_error later;
    int status = source_open_file(source, i, err);

    if (status == M2_OK)
        status = reader_next(&source->reader, err);
    file->first_time = INT64_MIN;
    if (status == 1 && source->reader.n_cells == file->columns.n &&
        row_time(source, file, &file->first_time, &later) != M2_OK)
        file->first_time = INT64_MIN;
    reader_close(&source->reader);
    return status < 0 ? status : M2_OK;
}

static int compare_files(const void *a, const void *b)
{
    const struct csv_file *left = a, *right = b;

    if (left->first_time != right->first_time)
        return left->first_time < right->first_time ? -1 : 1;
    return strcmp(left->path, right->path);
}

static int order_files(struct csv_source *source, struct m2_error *err)
{
    int status = M2_OK;

    if (source->n_files == 1 || source->settings.file_series == FILES_APART ||
        source->settings.time_source == TIME_NONE)
        return M2_OK;
    for (size_t i = 0; i < source->n_files && status == M2_OK; i++)
        if (!source->files[i].is_empty)
            status = find_first_time(source, i, err);
    if (status == M2_OK)
        qsort(source->files, source->n_files, sizeof *source->files,
              compare_files);
    return status;
}

/* ---- columns ---------------------------------------------------------- */

static int list_columns(struct csv_source *source, const struct csv_file *first,
                        struct m2_error *err)
{
    const struct columns *columns = &first->columns;
    size_t n = columns->n_values;

    source->n_columns = n;
    source->columns = memory_zeroed(n, sizeof *source->columns, err);
    source->values = memory_zeroed(n, sizeof *source->values, err);
    source->changes = memory_zeroed(n, sizeof *source->changes, err);
    if (source->columns == NULL || source->values == NULL ||
        source->changes == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < columns->n; i++) {
        const struct column *column = &columns->items[i];
        if (column->role == COLUMN_VALUE)
            source->columns[column->index] = column->name;
        if (column->is_text && counts_hit(&source->counts, COUNT_TEXT_COLUMNS))
            counts_place(&source->counts, COUNT_TEXT_COLUMNS, "%s: column '%s'",
                         first->path, column->name);
    }
    return M2_OK;
}

int survey_files(struct csv_source *source, struct m2_error *err)
{
    const struct csv_file *first = source->files;
    int status = look_at_all(source, err);

    if (status == M2_OK)
        status = order_files(source, err);
    if (status != M2_OK)
        return status;
    while (first->is_empty)
        first++;
    return list_columns(source, first, err);
}
