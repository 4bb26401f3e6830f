/* The config's features and targets, parsed against a source's columns. */
#ifndef M2_DATA_COLUMNS_H
#define M2_DATA_COLUMNS_H

#include "data/expression.h"
#include "data/source.h"

struct columns {
    struct expression **features, **targets;
    size_t n_features, n_targets;
};

/* Parses both lists; with independent channels they must be equally long.
 * names may be fewer than the source's columns, as those of a store.
 * M2_E_CONFIG. */
int columns_parse(const struct config_data *config, const char *const *names,
                  size_t n_names, struct columns *out, struct m2_error *err);
void columns_free(struct columns *columns);

/* Sets wanted[c] (n_names) for every column that is read: by an expression,
 * as the level behind a target, or, with fill, to make up a bar. */
void columns_wanted(const struct columns *columns,
                    const struct config_data *config, const char *const *names,
                    size_t n_names, bool *wanted);

#endif
