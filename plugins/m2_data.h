/* The data-source interface: how a plugin brings series to the runner.
 *
 * A source is opened on a list of files with checked options and yields n
 * series.  A series has a name (an instrument, a file), a nominal step, rows
 * in strictly increasing time, and columns of f64.  Rows are pulled in blocks,
 * so the plugin's memory is bounded however long the files are.  Blocks of
 * different series may alternate; within one series they come in time order.
 *
 * Nothing is dropped or repaired silently: every such event raises a counter
 * (m2_data_count), and every counter that is not zero reaches the log and
 * run.json.  What may not be repaired without the user's word is an error
 * that names file and line, column or byte, and the option that would accept
 * it.  Missing values are NaN in the block; the runner applies its policy.
 *
 * Calls: open, info, then next until n_rows is 0, then counts, close.  Reading
 * may start again by close and open; the same input gives the same bits. */
#ifndef M2_DATA_H
#define M2_DATA_H

#include "m2_plugin.h"

enum m2_data_slot {
    M2_DATA_OPEN,
    M2_DATA_INFO,
    M2_DATA_NEXT,
    M2_DATA_COUNTS,
    M2_DATA_CLOSE,
    M2_DATA_N_SLOTS
};

/* What a row's time means.  A bar is known only at its close. */
enum m2_stamp {
    M2_STAMP_OPEN,  /* time is the start of the interval: known at time+step */
    M2_STAMP_CLOSE, /* time is the end: known at time */
};

/* M2_DATA_OPEN.  handle is NULL in the call; the new one is returned. */
struct m2_data_open {
    const char *const *paths; /* absolute, sorted, at least one unless the
                                 source needs no files */
    size_t n_paths;
    const struct m2_value *options;
    size_t n_options;
    uint64_t seed; /* of the experiment; for generators */
    void *handle_out;
};

struct m2_series_info {
    const char *name;
    int64_t step_ns;     /* nominal distance of rows; 0: unknown */
    enum m2_stamp stamp; /* of every time in the series */
};

/* M2_DATA_INFO: known after open.  Strings live until close.  Every series of
 * one source has the same columns. */
struct m2_data_info {
    const struct m2_series_info *series_out;
    size_t n_series_out;
    const char *const *columns_out; /* as in the source: open, high, ... */
    size_t n_columns_out;
};

/* Marks of a row. */
enum {
    M2_MARK_BREAK = 1, /* not continuous with the row before it (another
                          contract, say): no window or return spans it */
};

/* M2_DATA_NEXT: the next block.  The arrays belong to the plugin and stay
 * valid until the next call on the handle.  n_rows_out is 0 at the end. */
struct m2_data_next {
    size_t series_out;
    size_t n_rows_out;
    const int64_t *times_out;   /* (rows) ns since 1970-01-01 UTC */
    const double *values_out;   /* (rows, columns) row-major */
    const uint8_t *marks_out;   /* (rows) */
    const char *const *ids_out; /* (rows) contract of each row, or NULL when
                                   it is the series name */
};

/* M2_DATA_COUNTS: what was read, skipped, repaired; valid until close.  The
 * first place an event was seen is in where ("file:line:col", "file: byte
 * N"), or NULL.  A counter of missing values has "missing" in its name: the
 * runner shows its place when it refuses them. */
struct m2_data_count {
    const char *what; /* as "blank lines skipped" */
    uint64_t n;
    const char *where;
    int warning; /* 1: worth a warning; 0: a fact */
};

struct m2_data_counts {
    const struct m2_data_count *counts_out;
    size_t n_counts_out;
};

/* M2_DATA_CLOSE has no arguments: args is NULL, args_size 0. */

#endif
