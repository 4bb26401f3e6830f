/* metrics.csv and timing.csv: append-only tables with a header line.
 *
 * Columns are fixed when the file is created; one row is one write, so only
 * the last line can ever be torn.  Numbers are lossless.  The number of bytes
 * written is part of a checkpoint: on resume the file is cut to it. */
#ifndef M2_RESULTS_CSVLOG_H
#define M2_RESULTS_CSVLOG_H

#include "m2_plugin.h"
#include "util/text.h"

struct csvlog; /* opaque */

/* Creates FILE in the folder with a header of the columns. */
int csvlog_create(int dirfd, const char *file, const char *const *columns,
                  size_t n_columns, struct csvlog **out, struct m2_error *err);
/* Starts FILE with the first `bytes` bytes of another file (an earlier
 * attempt's), whose header must be the same. */
int csvlog_continue(int dirfd, const char *file, const char *from_path,
                    int64_t bytes, const char *const *columns, size_t n_columns,
                    struct csvlog **out, struct m2_error *err);
/* One row of cells, already text; a NULL or empty cell stays empty. */
int csvlog_row(struct csvlog *log, const char *const *cells,
               struct m2_error *err);
int64_t csvlog_bytes(const struct csvlog *log);
int csvlog_sync(struct csvlog *log, struct m2_error *err);
void csvlog_close(struct csvlog *log);

/* Reading: whole file, cells by column name.  A torn last line is left out. */
struct csv_table {
    char **columns;
    size_t n_columns;
    char **cells; /* (n_rows, n_columns) */
    size_t n_rows;
    char *memory;
};
int csv_table_read(const char *path, struct csv_table *out,
                   struct m2_error *err);
/* The same of bytes; `path` is the name for messages. */
int csv_table_parse(const char *path, const char *bytes, size_t size,
                    struct csv_table *out, struct m2_error *err);
void csv_table_free(struct csv_table *table);
/* Column index or -1. */
int csv_table_column(const struct csv_table *table, const char *name);

#endif
