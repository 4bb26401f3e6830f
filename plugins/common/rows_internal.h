/* What rows.c and rows_held.c share. */
#ifndef M2_PLUGINS_COMMON_ROWS_INTERNAL_H
#define M2_PLUGINS_COMMON_ROWS_INTERNAL_H

#include "common/rows.h"

struct rows_block {
    int64_t *times; /* (block_rows) and so on */
    double *values; /* (block_rows, n_columns) */
    uint8_t *marks;
    const char **ids;         /* NULL without ids */
    struct row_place *places; /* to name an earlier row in a message */
    size_t n;
};

/* A row that waits for the end of the input; its values lie at the same index
 * in held_values. */
struct held_row {
    int64_t time;
    const char *id;
    struct row_place place;
    uint32_t key;
    bool is_first; /* the first row of its time, in order of arrival */
};

struct rows_series {
    struct rows_block blocks[2]; /* the current one, and the one before it */
    unsigned current;
    bool has_last;
    int64_t last_time;
    uint32_t last_key;
    uint64_t added;
    struct held_row *held;
    double *held_values;
    size_t n_held, held_capacity, values_capacity;
    bool has_stepped_back;
    size_t *order;    /* held rows by time, then by arrival */
    size_t next_held; /* position in order */
};

/* Appends a row, which is later than the one before it, to the current block.
 * 1 when the block is full. */
int rows_append(struct rows *rows, size_t series, const struct row *row);

int rows_fail_repeated(const struct rows *rows, size_t series,
                       const struct row *row, struct row_place earlier,
                       struct m2_error *err);
int rows_fail_order(const struct rows *rows, size_t series,
                    const struct row *row, struct row_place before,
                    struct m2_error *err);

/* rows_held.c */
int held_add(struct rows *rows, size_t series, const struct row *row,
             struct m2_error *err);

/* Moves held rows of the series to its block until that is full (1) or none
 * is left (0). */
int held_release(struct rows *rows, size_t series, struct m2_error *err);

#endif
