/* The csv source: from options and files to series of rows.
 *
 * Opening it looks at the first rows of every file, decides from the first
 * file what the columns are, and puts the files in order of their first time.
 * After that every file is read once, front to back. */
#ifndef M2_CSV_H
#define M2_CSV_H

#include "csv/columns.h"

struct csv_file {
    struct input_source source;
    char *path; /* owned; source.path points to it */
    struct reader_format format;
    bool has_header;
    struct columns columns;
    int64_t first_time; /* orders the files */
    size_t series;
};

enum csv_count {
    COUNT_ROWS,
    COUNT_MISSING,
    COUNT_INFINITE,
    COUNT_BLANK,
    COUNT_COMMENTS,
    COUNT_LINES_SKIPPED,
    COUNT_BOM,
    COUNT_HEADERS,
    COUNT_TEXT_COLUMNS,
    COUNT_CONSTANT,
    COUNT_EMPTY_FILES,
    N_COUNTS
};

/* Whether a column ever changes. */
struct column_values {
    double first;
    bool has_first, changes;
};

struct csv_source {
    struct settings settings;
    struct csv_file *files;
    size_t n_files;
    const char **columns; /* (n_columns) names of the values */
    size_t n_columns;
    struct m2_series_info *series;
    size_t n_series;
    struct times times;
    struct counts counts;
    struct rows rows;
    struct reader reader; /* of files[file] when is_open */
    size_t file;
    bool is_open, ended;
    uint64_t row; /* of the series, for times by number */
    char *joined; /* date and time of day, as one text */
    size_t joined_capacity;
    double *values;                /* (n_columns) of a row */
    struct column_values *changes; /* (n_columns) */
};

/* Opens a source on files or memory (whose bytes stay where they are), and
 * takes over the settings, also on failure.  *out is written on success
 * only. */
int csv_open(const struct input_source *inputs, size_t n_inputs,
             struct settings *settings, struct csv_source **out,
             struct m2_error *err);
void csv_close(struct csv_source *source); /* NULL is allowed */

/* The next block, as M2_DATA_NEXT. */
int csv_next(struct csv_source *source, struct m2_data_next *out,
             struct m2_error *err);

/* survey.c: looks at every file and makes columns and series. */
int survey_files(struct csv_source *source, struct m2_error *err);

/* row.c: the record at hand, of the current file, as a row.  1 when it is to
 * be passed over. */
int row_take(struct csv_source *source, struct row *out, struct m2_error *err);

/* row.c: the time of the record at hand. */
int row_time(struct csv_source *source, const struct csv_file *file,
             int64_t *out, struct m2_error *err);

#endif
