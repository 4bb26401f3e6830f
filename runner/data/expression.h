/* Feature and target expressions: columns of a source, and causal functions
 * of them.
 *
 *     expression := column | function | function(argument, ...)
 *
 * A column is named as in the source, without blanks around it; inside a
 * function its name cannot hold "(", ")" or ",", alone it may.  Where a column
 * and a function without arguments share a name, the column is meant. Arguments
 * are expressions, so functions nest; a last argument n is a whole number of
 * rows.
 *
 *   log_return(c, n=1)  ln(c[t] / c[t-n])            both above 0
 *   return(c, n=1)      c[t] / c[t-n] - 1            c[t-n] above 0
 *   diff(c, n=1)        c[t] - c[t-n]
 *   lag(c, n)           c[t-n]
 *   log(c)  log1p(c)    ln(c), ln(1+c)               c above 0, above -1
 *   abs(c)  sign(c)     sign(0) = 0
 *   log_ratio(a, b)     ln(a / b)                    both above 0
 *   ratio(a, b)         a / b                        b not 0
 *   spread(a, b)        a - b
 *   sma(c, n)           mean of the last n values
 *   std(c, n)           population standard deviation of the last n values
 *   zscore(c, n)        (c[t] - sma) / std, 0 where std is 0
 *   ema(c, n)           e[t] = e[t-1] + 2/(n+1) (c[t] - e[t-1]), from the
 *                       first value of the piece on
 *   hour                0 .. 23, of the row's stamp in UTC
 *   time_of_day         share of the UTC day that has passed, [0, 1)
 *   time_of_day_sin, time_of_day_cos   of the angle 2 pi time_of_day
 *   day_of_week         Monday 0 .. Sunday 6, UTC
 *
 * Every value at row t depends on rows up to t of the same piece only: there
 * is no look-ahead, and no value spans a gap or a change of contract.  Sums
 * over n rows are taken anew at each row, so a value does not depend on what
 * lies further back (but for ema).  Rows without enough history have no value
 * (NaN), and no window contains them. */
#ifndef M2_DATA_EXPRESSION_H
#define M2_DATA_EXPRESSION_H

#include <stdbool.h>

#include "data/dataset.h"

struct expression; /* opaque */

/* Parses `text`, which `key` ("data.features[2]") is the key of.  columns are
 * the source's; with n_columns 0 any column name is taken, to check the
 * syntax alone.  M2_E_CONFIG with a suggestion and what there is. */
struct expression_scope {
    const char *key;
    const char *const *columns;
    size_t n_columns;
};
int expression_parse(const char *text, const struct expression_scope *scope,
                     struct expression **out, struct m2_error *err);
void expression_free(struct expression *expression); /* NULL is allowed */

/* Sets wanted[c] for every column the expression reads. */
void expression_columns(const struct expression *expression, bool *wanted);

/* Appends the canonical text: no blanks, defaults left out. */
void expression_print(const struct expression *expression, struct text *out);

/* How a value becomes a level: the transform, and the column of the level
 * (n_columns, i.e. SIZE_MAX, when TARGET_OTHER). */
enum target_transform expression_transform(const struct expression *expression,
                                           size_t *column);
/* Whether the sign of a value is a direction: log_return, return, diff,
 * log_ratio. */
bool expression_is_return(const struct expression *expression);

/* Rows before row t that the value at t depends on; -1: all of the piece
 * (ema). */
int64_t expression_history(const struct expression *expression);

/* Rows to evaluate over, by column. */
struct expression_rows {
    size_t n;
    const int64_t *times;        /* (n) */
    const uint8_t *starts;       /* (n) 1: first row of a piece */
    const double *const *values; /* (columns)(n) */
};

/* Rows whose value a function refuses (a logarithm of 0, say): they are NaN in
 * the result. */
struct expression_refused {
    uint64_t n;
    size_t row;     /* the first */
    char text[256]; /* why, with the values, as "log(close): close is -1" */
};

/* Values of all rows into out (n).  Memory for one array per nested function
 * is taken and given back. */
int expression_evaluate(const struct expression *expression,
                        const struct expression_rows *rows, double *out,
                        struct expression_refused *refused,
                        struct m2_error *err);

/* The table of functions, for the reference page: NULL past the last. */
const char *expression_function_name(size_t index);
const char *expression_function_help(size_t index);

#endif
