/* One calendar split for all series: which span of time is which part.
 *
 * Rows are counted as distinct times over all series (with one series, these
 * are its rows), after missing values and fill.  The parts follow each other:
 * train, val, test.  Each ends where its bound says: a fraction is that share
 * of all rows, rounded down; a number is that many rows; a date is the UTC
 * instant from which on rows belong to the next part.  When all three are
 * fractions and add up to 1, the rows that rounding leaves over go to val, or
 * to test if val is 0, or to train if both are; so 0.7, 0.1, 0.2 of 7588 rows
 * are 5311, 760 and 1517.  Rows after the last part are in none.
 *
 * embargo moves the start of val and of test that many rows on: those rows
 * are targets of no part. */
#ifndef M2_DATA_SPLIT_H
#define M2_DATA_SPLIT_H

#include "data/dataset.h"

struct split_part {            /* empty: n_rows 0 */
    int64_t first_ns, last_ns; /* both inclusive */
    int64_t n_rows;            /* distinct times */
};

/* times: (n) distinct, ascending.  A bound that lies beyond the data is
 * M2_E_DATA with both numbers, or, when lenient, cut at its end. */
int split_make(const struct config_data *config, const int64_t *times,
               int64_t n, bool lenient, struct split_part parts[N_PARTS],
               struct m2_error *err);

#endif
