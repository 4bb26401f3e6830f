/* A data plugin for tests: its rows are a table in the test's memory. */
#ifndef M2_TESTS_TABLE_SOURCE_H
#define M2_TESTS_TABLE_SOURCE_H

#include "config/config.h"
#include "loader.h"
#include "m2_data.h"

enum { TABLE_MAX_SERIES = 4, TABLE_MAX_COLUMNS = 4 };

struct table_series {
    const char *name;
    int64_t step_ns;
    enum m2_stamp stamp;
    size_t n;
    int64_t times[256];
    double values[256][TABLE_MAX_COLUMNS];
    uint8_t marks[256];
    const char *ids[256]; /* of the first row NULL: none */
};

struct table {
    size_t n_series, n_columns;
    const char *columns[TABLE_MAX_COLUMNS];
    struct table_series series[TABLE_MAX_SERIES];
    size_t block_rows; /* rows per block; 0: 7 */
};

/* The plugin, reading this table until the next call. */
const struct plugin *table_source(const struct table *table);

int64_t minutes(int64_t n); /* in ns */

/* One series "A" of n rows, a minute apart from time 0, with the columns close
 * and volume: close is 100, 101, 103, 106, ... and volume 1, 2, 3, ... */
void table_of_bars(struct table *table, size_t n);

/* A complete config on a table: features and targets as given (NULL ends the
 * lists), window L, horizon H, all rows training, no scaling, no gaps.  Only
 * the two lists need test_config_free. */
struct config test_config(const char *const *features,
                          const char *const *targets, int64_t L, int64_t H);
void test_config_free(struct config *config);

#endif
