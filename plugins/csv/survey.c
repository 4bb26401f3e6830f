/* A first look at every file: columns, order, series. */
#include "csv/csv.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static int look_at(struct csv_source *source, size_t i, struct m2_error *err)
{
    struct csv_file *file = &source->files[i];
    struct sample sample;
    int status = sample_take(&file->source, &source->settings, &sample, err);

    if (status == M2_OK && sample.n_columns == 0)
        status = m2_fail(err, M2_E_DATA, "%s: no rows: the file is empty",
                         file->path);
    if (status == M2_OK)
        status = i == 0 ? columns_choose(file->path, &sample, &source->settings,
                                         &file->columns, err)
                        : columns_match(file->path, &sample, &source->settings,
                                        &source->files[0].columns,
                                        &file->columns, err);
    file->has_header = sample.has_header;
    file->format = (struct reader_format){
        .delimiter = sample.delimiter,
        .comment = source->settings.comment,
        .skip_lines = source->settings.skip_rows,
    };
    sample_free(&sample);
    return status;
}

/* The time of the first row.  A file without rows comes first; that it has
 * none is noticed when it is read. */
static int find_first_time(struct csv_source *source, size_t i,
                           struct m2_error *err)
{
    struct csv_file *file = &source->files[i];
    int status =
        reader_open(&source->reader, &file->source, &file->format, err);

    if (status == M2_OK)
        status = reader_next(&source->reader, err);
    if (status == 1 && file->has_header)
        status = reader_next(&source->reader, err);
    file->first_time = INT64_MIN;
    if (status == 1 && source->reader.n_cells == file->columns.n)
        status = row_time(source, file, &file->first_time, err);
    reader_close(&source->reader);
    return status == 1 ? M2_OK : status;
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

    if (source->n_files == 1 || source->settings.per_file ||
        source->settings.time_source == TIME_NONE)
        return M2_OK;
    for (size_t i = 0; i < source->n_files && status == M2_OK; i++)
        status = find_first_time(source, i, err);
    if (status == M2_OK)
        qsort(source->files, source->n_files, sizeof *source->files,
              compare_files);
    return status;
}

/* ---- series ----------------------------------------------------------- */

/* The name of a file without its folder and its last ending. */
static char *file_name(const struct csv_file *file, struct m2_error *err)
{
    const char *name = input_base_name(file->path);
    const char *dot = strrchr(name, '.');
    size_t n = dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name);

    return memory_string(name, n, err);
}

/* What the names of all files begin with, without digits and marks at its
 * end; if that is nothing, the first file's name. */
static char *common_name(const struct csv_source *source, struct m2_error *err)
{
    const char *first = input_base_name(source->files[0].path);
    size_t n = strlen(first);

    for (size_t i = 1; i < source->n_files; i++) {
        const char *name = input_base_name(source->files[i].path);
        size_t same = 0;
        while (same < n && name[same] == first[same])
            same++;
        n = same;
    }
    while (n > 0 && strchr("0123456789-_. ", first[n - 1]) != NULL)
        n--;
    return source->n_files == 1 || n == 0 ? file_name(&source->files[0], err)
                                          : memory_string(first, n, err);
}

static int make_series(struct csv_source *source, struct m2_error *err)
{
    size_t n = source->settings.per_file ? source->n_files : 1;

    source->series = memory_zeroed(n, sizeof *source->series, err);
    if (source->series == NULL)
        return M2_E_MEMORY;
    for (; source->n_series < n; source->n_series++) {
        char *name = source->settings.per_file
                         ? file_name(&source->files[source->n_series], err)
                         : common_name(source, err);
        if (name == NULL)
            return M2_E_MEMORY;
        source->series[source->n_series] = (struct m2_series_info){
            .name = name,
            .step_ns = source->settings.step_ns,
            .stamp = source->settings.stamp,
        };
        if (source->settings.per_file)
            source->files[source->n_series].series = source->n_series;
    }
    return M2_OK;
}

/* ---- columns ---------------------------------------------------------- */

static int list_columns(struct csv_source *source, struct m2_error *err)
{
    const struct columns *columns = &source->files[0].columns;
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
                         source->files[0].path, column->name);
    }
    return M2_OK;
}

int survey_files(struct csv_source *source, struct m2_error *err)
{
    int status = M2_OK;

    for (size_t i = 0; i < source->n_files && status == M2_OK; i++)
        status = look_at(source, i, err);
    if (status == M2_OK)
        status = order_files(source, err);
    if (status == M2_OK)
        status = list_columns(source, err);
    return status == M2_OK ? make_series(source, err) : status;
}
