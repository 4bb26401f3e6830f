/* What a reader of the log should know about how a file was read. */
#include "csv/csv.h"

#include <inttypes.h>

static const char *delimiter_name(char delimiter, char out[4])
{
    if (delimiter == '\t')
        return "tab";
    if (delimiter == ' ')
        return "space";
    snprintf(out, 4, "'%c'", delimiter);
    return out;
}

/* A fact about the n rows that were read. */
__attribute__((format(printf, 4, 5))) static int
add_fact(struct csv_source *source, uint64_t n, struct m2_error *err,
         const char *format, ...)
{
    char what[200];
    va_list arguments;
    size_t index;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    int status = counts_declare(&source->counts, what, 0, &index, err);
    if (status == M2_OK)
        source->counts.items[index].n = n;
    return status;
}

/* A column that was taken for the time without a word of the user's. */
static int add_time_column(struct csv_source *source, uint64_t rows,
                           const struct columns *columns, struct m2_error *err)
{
    if (!columns->time_by_cells)
        return M2_OK;
    return add_fact(source, rows, err,
                    "times found in column '%.100s', the only one of times",
                    columns->items[columns->time[0]].name);
}

static int add_time(struct csv_source *source, uint64_t rows,
                    struct m2_error *err)
{
    const struct times *times = &source->times;

    if (source->settings.time_source == TIME_NONE) {
        char start[CIVIL_TEXT];
        return add_fact(source, rows, err,
                        "times numbered from %s on, for there is no column of "
                        "time",
                        civil_text(source->settings.start, start));
    }
    if (times->kind == TIME_EPOCH && times->guessed)
        return add_fact(source, rows, err,
                        "times read as %s since 1970, as their size tells",
                        times_unit_name(times->unit_ns));
    if (times->kind != TIME_EPOCH && !times->with_offset)
        return add_fact(source, rows, err,
                        "times without an offset read as %s (`timezone`)",
                        times->zone->name);
    return M2_OK;
}

static void count_constant(struct csv_source *source)
{
    for (size_t i = 0; i < source->n_columns; i++) {
        const struct column_values *values = &source->changes[i];
        if (values->has_first && !values->changes &&
            source->counts.items[COUNT_ROWS].n > 1 &&
            counts_hit(&source->counts, COUNT_CONSTANT))
            counts_place(&source->counts, COUNT_CONSTANT, "column '%s'",
                         source->columns[i]);
    }
}

int facts_add(struct csv_source *source, struct m2_error *err)
{
    uint64_t rows = source->counts.items[COUNT_ROWS].n;
    size_t first = 0;
    char name[4];

    count_constant(source);
    while (source->files[first].is_empty)
        first++;
    char delimiter = source->files[first].format.delimiter;
    int status =
        add_time_column(source, rows, &source->files[first].columns, err);
    if (status == M2_OK)
        status = add_time(source, rows, err);
    if (status == M2_OK && source->settings.delimiter == '\0' &&
        delimiter != ',')
        status = add_fact(source, rows, err,
                          "rows divided at %s, as found in the file",
                          delimiter_name(delimiter, name));
    return status;
}
