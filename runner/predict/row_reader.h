/* Rows of bars from a pipe: CSV with a header line, one row per line.
 *
 * Columns, in any order: one time under a usual name (time, timestamp, Date,
 * ts_event, timestamp_utc, ...; RFC 3339 with or without zone, seconds or time
 * of day, or a whole count since 1970 of seconds, ms, us or ns, told apart by
 * its size); the columns that the features need,
 * by the names of the run's data; and, where wanted, `instrument`, the name of
 * the series (without it: the run's first), and `contract`, whose change is a
 * break.  Other columns are not looked at.  An empty cell, nan, NA and null are
 * missing values.  Cells may be quoted, but hold no line break.  A line has at
 * most 1 MiB. */
#ifndef M2_PREDICT_ROW_READER_H
#define M2_PREDICT_ROW_READER_H

#include <stdbool.h>
#include <stdio.h>

#include "m2_plugin.h"

struct row_reader; /* opaque */

struct stream_row {
    int64_t time;
    const char *instrument, *contract; /* NULL: no such column */
    const double *values; /* (columns) NaN: missing, or not wanted */
};

/* Reads the header.  `name` is the input's name in messages. */
int row_reader_open(FILE *file, const char *name, struct row_reader **out,
                    struct m2_error *err);
void row_reader_close(struct row_reader *reader); /* not the file */

/* All columns but time, instrument and contract. */
size_t row_reader_columns(const struct row_reader *reader,
                          const char *const **out);

/* Only these (columns) are read as numbers from now on. */
void row_reader_want(struct row_reader *reader, const bool *wanted);

/* The next row, or *end.  Empty lines are passed over.  M2_E_DATA with line
 * and column. */
int row_reader_next(struct row_reader *reader, struct stream_row *out,
                    bool *end, struct m2_error *err);

/* Number of the line that was read last, from 1. */
int64_t row_reader_line(const struct row_reader *reader);

#endif
