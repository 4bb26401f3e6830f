/* The table of `m2run best`: its columns, and the order of its rows. */
#ifndef M2_CLI_BEST_TABLE_H
#define M2_CLI_BEST_TABLE_H

#include "results/leaderboard.h"
#include "util/text.h"

enum best_format { BEST_TEXT, BEST_JSON, BEST_CSV };

/* Orders the rows by a column of the table (its name in CSV, with a slash as
 * "test/mse", or that of the metric and of its column "test/...") or by a
 * setting (its name or a unique ending); "-KEY": falling. Rows without a value
 * come last, equal ones stay in their order; ranks stay what they are.
 * M2_E_USAGE for another word. */
int best_sort(struct leaderboard *board, const char *word,
              struct m2_error *err);

/* True when that order looks at the test part. */
bool best_sorts_by_test(const struct leaderboard *board, const char *word);

/* Adds the first `limit` rows, 0: all.  For people: 5 digits, no column
 * without a value or that says what another says; for programs everything,
 * lossless. */
int best_table_write(const struct leaderboard *board, enum best_format format,
                     size_t limit, struct text *out, struct m2_error *err);

#endif
