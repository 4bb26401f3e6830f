/* From single rows to the blocks of m2_data.h: order, duplicates, breaks.
 *
 * Rows are added series by series in the order of the input.  As a rule they
 * stream: a row must be later than the one before it in its series, and memory
 * is bounded by a block or two per series.  With `sort`, or with a policy for
 * duplicates, the rows of every series are held in memory until the input
 * ends (rows_held.c):
 *   duplicates error  two rows of a series with one time are an error that
 *                     names both places
 *   duplicates first  the row that came first stays, others are counted
 *   duplicates last   the row that came last takes the place of the others
 *   sort              rows come in any order; without it, only a repeated
 *                     time may step back
 * A row whose key differs from the key of the row before it is marked
 * M2_MARK_BREAK when it comes more than break_gap_ns later. */
#ifndef M2_PLUGINS_COMMON_ROWS_H
#define M2_PLUGINS_COMMON_ROWS_H

#include "common/counts.h"

enum duplicates { DUPLICATES_ERROR, DUPLICATES_FIRST, DUPLICATES_LAST };

/* Names of the above, for an option's choices and in its order. */
extern const char *const duplicates_names[];
enum duplicates duplicates_from(const char *name);

/* Where a row was read: number of the file, and byte or line in it. */
struct row_place {
    uint64_t at;
    uint32_t file;
};

enum { ROW_PLACE_TEXT = 512 };
typedef const char *row_place_text(const void *context, struct row_place place,
                                   char out[ROW_PLACE_TEXT]);

struct row {
    int64_t time;
    const double *values; /* (n_columns) copied */
    const char *id;       /* contract; outlives the rows; NULL without ids */
    uint32_t key;         /* what is behind the row: contract or instrument */
    struct row_place place;
};

struct rows_setup {
    const struct m2_series_info *series; /* borrowed */
    size_t n_series, n_columns;
    enum duplicates duplicates;
    bool sort;
    bool with_ids;
    int64_t break_gap_ns;
    struct counts *counts; /* borrowed; rows declares its own counters */
    row_place_text *place_text;
    const void *place_context;
};

struct rows_block;
struct rows_series;

struct rows {
    struct rows_setup setup;
    bool held; /* rows wait in memory for the end of the input */
    size_t block_rows;
    struct rows_series *series; /* (n_series) */
    const struct rows_block *full;
    size_t full_series;
    size_t drained; /* series handed out completely after the end */
    size_t count_breaks, count_same, count_other, count_sorted;
};

int rows_init(struct rows *rows, const struct rows_setup *setup,
              struct m2_error *err);
void rows_free(struct rows *rows); /* a zeroed one is allowed */

/* 0; 1 when a block is full, to be fetched by rows_fetch before the next row
 * is added; or M2_E_DATA, M2_E_MEMORY. */
int rows_add(struct rows *rows, size_t series, const struct row *row,
             struct m2_error *err);

/* The full block, valid until the second block after it. */
void rows_fetch(struct rows *rows, struct m2_data_next *out);

/* After the input ended: what is left, block by block; n_rows_out is 0 when
 * nothing is left. */
int rows_drain(struct rows *rows, struct m2_data_next *out,
               struct m2_error *err);

/* Rows added to a series so far. */
uint64_t rows_added(const struct rows *rows, size_t series);

#endif
