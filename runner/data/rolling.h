/* Expressions one row at a time, for rows that arrive one by one.
 *
 * Every function is the kernel that expression_evaluate uses, on the same
 * history in the same order: the values are the same bits.  History is kept in
 * rings as long as the functions look back (n rows), and ema keeps its own
 * last value, so that memory is bounded and nothing is approximated.  No
 * memory is taken after rolling_create. */
#ifndef M2_DATA_ROLLING_H
#define M2_DATA_ROLLING_H

#include "data/expression.h"

struct rolling; /* opaque */

/* Follows n expressions, which must outlive it. */
int rolling_create(const struct expression *const *expressions, size_t n,
                   struct rolling **out, struct m2_error *err);
void rolling_free(struct rolling *rolling); /* NULL is allowed */

/* The next row: `start` when it begins a piece, its time, the values of all
 * columns the expressions were parsed against.  out (n): NaN where there is no
 * value.  Returns NULL, or the first expression that a function refused a
 * value of (a logarithm of 0, say), which is NaN in out. */
const struct expression *rolling_push(struct rolling *rolling, bool start,
                                      int64_t time, const double *values,
                                      double *out);

#endif
