/* Parsing data.features and data.target. */
#include "data/columns.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

static int parse_list(char *const *texts, size_t n, const char *key,
                      struct expression_scope *scope, struct expression **out,
                      struct m2_error *err)
{
    char place[64];
    int rc = M2_OK;

    scope->key = place;
    for (size_t i = 0; i < n && rc == M2_OK; i++) {
        snprintf(place, sizeof place, "%s[%zu]", key, i);
        rc = expression_parse(texts[i], scope, &out[i], err);
    }
    return rc;
}

int columns_parse(const struct config_data *config, const char *const *names,
                  size_t n_names, struct columns *out, struct m2_error *err)
{
    struct expression_scope scope = {.columns = names, .n_columns = n_names};
    struct columns columns = {.n_features = config->n_features,
                              .n_targets = config->n_targets};

    if (config->channels == CHANNELS_INDEPENDENT &&
        config->n_features != config->n_targets)
        return m2_fail(err, M2_E_CONFIG,
                       "data.channels: independent pairs each feature with a "
                       "target, but there are %zu features and %zu targets",
                       config->n_features, config->n_targets);
    columns.features =
        memory_zeroed(columns.n_features, sizeof(struct expression *), err);
    columns.targets =
        memory_zeroed(columns.n_targets, sizeof(struct expression *), err);
    int rc = columns.features == NULL || columns.targets == NULL ? M2_E_MEMORY
                                                                 : M2_OK;
    if (rc == M2_OK)
        rc = parse_list(config->features, config->n_features, "data.features",
                        &scope, columns.features, err);
    if (rc == M2_OK)
        rc = parse_list(config->targets, config->n_targets, "data.target",
                        &scope, columns.targets, err);
    if (rc != M2_OK) {
        columns_free(&columns);
        return rc;
    }
    *out = columns;
    return M2_OK;
}

void columns_free(struct columns *columns)
{
    for (size_t i = 0; i < columns->n_features && columns->features; i++)
        expression_free(columns->features[i]);
    for (size_t i = 0; i < columns->n_targets && columns->targets; i++)
        expression_free(columns->targets[i]);
    free(columns->features);
    free(columns->targets);
    *columns = (struct columns){0};
}

void columns_wanted(const struct columns *columns,
                    const struct config_data *config, const char *const *names,
                    size_t n_names, bool *wanted)
{
    bool is_bar = false;

    for (size_t i = 0; i < columns->n_features; i++)
        expression_columns(columns->features[i], wanted);
    for (size_t i = 0; i < columns->n_targets; i++)
        expression_columns(columns->targets[i], wanted);
    for (size_t c = 0; c < n_names; c++)
        is_bar = is_bar || (wanted[c] && (strcmp(names[c], "open") == 0 ||
                                          strcmp(names[c], "high") == 0 ||
                                          strcmp(names[c], "low") == 0));
    /* A bar without trades is made of the last close. */
    for (size_t c = 0; c < n_names && config->fill > 0 && is_bar; c++)
        wanted[c] = wanted[c] || strcmp(names[c], "close") == 0;
}
