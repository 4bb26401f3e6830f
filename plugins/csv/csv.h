/* The csv source: from options and files to series of rows.
 *
 * Opening it looks at the first rows of every file, decides from the first
 * file that has rows what the columns are, and puts the files in order of
 * their first time.  With an instrument column all rows are read once to find
 * the instruments.  After that every file is read, front to back. */
#ifndef M2_CSV_H
#define M2_CSV_H

#include "csv/columns.h"
#include "csv/instruments.h"

struct csv_file {
    struct input_source source;
    char *path; /* owned; source.path points to it */
    struct reader_format format;
    bool has_header;
    bool is_empty; /* no rows: it is not read */
    struct columns columns;
    int64_t first_time; /* orders the files */
    size_t series;      /* without an instrument column */
};

enum csv_count {
    COUNT_ROWS,
    COUNT_OTHER_INSTRUMENTS,
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
    struct instruments instruments;
    struct m2_series_info *series; /* names are owned */
    size_t n_series;
    struct times times;
    struct counts counts;
    struct rows rows;
    struct reader reader; /* of files[file] when is_open */
    size_t file;
    bool is_open, ended;
    uint64_t file_rows; /* of the current file */
    char *joined;       /* date and time of day, as one text */
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

/* survey.c: looks at every file and makes the columns. */
int survey_files(struct csv_source *source, struct m2_error *err);

/* series.c: makes the series, one, or one per file or per instrument. */
int series_make(struct csv_source *source, struct m2_error *err);
void series_free(struct csv_source *source); /* their names */

/* Opens a file of the source with its reader, past the header. */
int source_open_file(struct csv_source *source, size_t file,
                     struct m2_error *err);

/* facts.c: what is only known, or only to be told, when all was read. */
int facts_add(struct csv_source *source, struct m2_error *err);

/* row.c */

/* The record at hand, of files[file], as a row of *series.  1 when it is to be
 * passed over. */
int row_take(struct csv_source *source, struct row *out, size_t *series,
             struct m2_error *err);

/* The time of the record at hand, which has all its cells. */
int row_time(struct csv_source *source, const struct csv_file *file,
             int64_t *out, struct m2_error *err);

/* Is the record at hand the file's header once more? */
bool row_is_header(const struct csv_source *source,
                   const struct csv_file *file);

/* "path:line" of a row.  Returns out. */
const char *row_place_show(const void *source, struct row_place place,
                           char out[ROW_PLACE_TEXT]);

#endif
