/* Reads everything a data plugin brings into memory, for tests: the plugin is
 * loaded as the runner loads it, with options given as text. */
#ifndef M2_TESTS_DATA_PLUGIN_H
#define M2_TESTS_DATA_PLUGIN_H

#include <stdbool.h>

#include "m2_data.h"

struct read_series {
    char *name;
    int64_t step_ns;
    enum m2_stamp stamp;
    size_t n;
    int64_t *times;
    double *values; /* (n, n_columns) */
    uint8_t *marks;
    char **ids; /* (n); NULL where the plugin gave none */
};

struct read_data {
    struct read_series *series;
    size_t n_series;
    char **columns;
    size_t n_columns;
    struct m2_data_count *counts; /* strings are owned */
    size_t n_counts;
};

/* options: "key: value; key: [a, b]", as in an experiment file; NULL for the
 * defaults.  Returns what the plugin returns; on success the caller frees
 * *out. */
int data_read(const char *plugin, const char *const *paths, size_t n_paths,
              const char *options, struct read_data *out, struct m2_error *err);
void data_free(struct read_data *data);

/* One file. */
int data_read_file(const char *plugin, const char *path, const char *options,
                   struct read_data *out, struct m2_error *err);

/* Rows of all series; the counter of this name (0 if it is not there); the
 * index of a column or of a series. */
size_t data_rows(const struct read_data *data);
uint64_t data_count(const struct read_data *data, const char *what);
const char *data_where(const struct read_data *data, const char *what);
size_t data_column(const struct read_data *data, const char *name);
const struct read_series *data_series(const struct read_data *data,
                                      const char *name);

/* NULL when the folder of shared test data is absent, else its path. */
const char *shared_data(void);

#endif
