/* Scaling: value = shift + spread * x, per series and column, fitted on the
 * rows of the training part alone and kept with the parameters.
 *
 *   zscore  shift: mean, spread: population standard deviation
 *   minmax  shift: minimum, spread: maximum - minimum (x in 0 .. 1)
 *   none    shift 0, spread 1
 *
 * A column that does not vary in the training part has spread 0: every x of
 * it is 0, and every value comes back as shift.
 *
 * A table has one entry per series and column (a column is the canonical text
 * of an expression), and per column one for the series "*": fitted over the
 * training rows of all series together, it scales series that have none, or
 * that were not there in training. */
#ifndef M2_DATA_SCALING_H
#define M2_DATA_SCALING_H

#include "data/dataset.h"

struct scaling_entry {
    char *series, *column;
    double shift, spread;
};

struct dataset_scaling_table {
    struct scaling_entry *entries; /* by column, then by series */
    size_t n, capacity;
};

#define SCALING_ALL_SERIES "*"

void scaling_table_free(struct dataset_scaling_table *table);

/* Adds an entry at the end; scaling_table_sort must follow the last one. */
int scaling_table_add(struct dataset_scaling_table *table, const char *series,
                      const char *column, double shift, double spread,
                      struct m2_error *err);
void scaling_table_sort(struct dataset_scaling_table *table);
int scaling_table_copy(const struct dataset_scaling_table *from,
                       struct dataset_scaling_table *to, struct m2_error *err);

/* The entry of the series, else that of all series, else NULL. */
const struct scaling_entry *
scaling_table_find(const struct dataset_scaling_table *table,
                   const char *series, const char *column);

/* As text for a checkpoint, the same bits when read back: a JSON list of
 * [series, column, shift, spread], one entry a line. */
int scaling_table_print(const struct dataset_scaling_table *table,
                        struct text *out, struct m2_error *err);
/* `where` names the text in messages (M2_E_DATA). */
int scaling_table_parse(const char *text, const char *where,
                        struct dataset_scaling_table *out,
                        struct m2_error *err);

/* What a fit is made from: values that are defined, in pieces.  Adding is in
 * two passes for zscore: all pieces, scaling_fit_turn, all pieces again. */
struct scaling_fit {
    enum scale_kind kind;
    int pass; /* 0, then 1 */
    uint64_t n;
    double sum, mean, squares, low, high;
};
void scaling_fit_start(struct scaling_fit *fit, enum scale_kind kind);
void scaling_fit_turn(struct scaling_fit *fit);
/* Values that are NaN are passed over; step is the distance between them. */
void scaling_fit_add(struct scaling_fit *fit, const double *values, int64_t n,
                     int64_t step);
void scaling_fit_result(const struct scaling_fit *fit, double *shift,
                        double *spread);

/* (value - shift) / spread, 0 when spread is 0. */
double scaling_apply(double value, double shift, double spread);

#endif
