/* The rows of a data source in memory: the columns asked for, per series, and
 * what the missing, fill and max_gap policies make of them.
 *
 * After store_read the rows are as the plugin brought them.  After
 * store_repair no stored value is missing, and `starts` marks the first row
 * of every piece: rows of one piece follow each other without a gap, a change
 * of contract, or a break.  Nothing that is computed spans two pieces. */
#ifndef M2_DATA_STORE_H
#define M2_DATA_STORE_H

#include "data/facts.h"
#include "data/source.h"

struct store_roll {  /* a change of contract inside a series */
    int64_t time_ns; /* of the first row of the new one */
    char *from, *to;
};

struct store_series {
    char *name;
    int64_t step_ns; /* nominal; after repair: the median when unknown */
    enum m2_stamp stamp;
    size_t n, capacity;
    int64_t *times;  /* (n) */
    uint8_t *starts; /* (n) 1: first row of a piece */
    double **values; /* (columns)(n) */
    struct store_roll *rolls;
    size_t n_rolls, rolls_capacity;
    char *last_id; /* contract of the last row read, or NULL */
};

struct store {
    struct store_series *series;
    size_t n_series;
    struct string_list columns; /* those stored, in the source's order */
};

/* Reads every row.  wanted (n_columns of the source) says which columns are
 * stored; NULL: all. */
int store_read(struct data_source *source, const bool *wanted,
               struct store *out, struct m2_error *err);
void store_free(struct store *store);

/* Applies, to every series:
 * missing   ERROR: a missing value (NaN or infinite) is M2_E_DATA with count,
 *           first place and column; DROP: its row is left out; FFILL: it
 *           repeats the value of the row before, never across a break, and
 *           rows before the first value of a piece are left out.
 * fill      a gap of at most `fill` missing bars is filled, never across a
 *           break: every column repeats its last value, but volume is 0 and
 *           open, high and low are the last close.
 * max_gap   a step longer than max_gap nominal steps starts a piece; 0: none
 *           does.
 * Everything done is counted in facts. */
int store_repair(struct store *store, const struct config_data *config,
                 struct fact_list *facts, struct m2_error *err);

/* The bar that `fill` puts after one with the values `last`: (n) each, out may
 * be last. */
void store_empty_bar(const char *const *columns, size_t n, const double *last,
                     double *out);

/* Median distance of neighbouring rows; 0 for fewer than two rows. */
int store_median_step(const struct store_series *series, int64_t *out,
                      struct m2_error *err);

/* Makes room for one more row and appends it: values (columns). */
int store_append(struct store_series *series, size_t n_columns, int64_t time,
                 bool start, const double *values, struct m2_error *err);

#endif
