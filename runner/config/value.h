/* One value: from a node into a config, from a config into text. */
#ifndef M2_CONFIG_VALUE_H
#define M2_CONFIG_VALUE_H

#include "config/schema.h"
#include "config/tree.h"

/* Reads a node as the value of a row into `config`.  False, with a message and
 * the config unchanged, when it is of the wrong type or out of range. */
bool value_read(const struct schema_row *row, const struct node *node,
                struct config *config, struct messages *messages);

/* The same for an integer that no config holds, as sweep.seeds. */
bool value_read_int(const struct schema_row *row, const struct node *node,
                    int64_t *out, struct messages *messages);

/* Sets a row to its default. */
int value_set_default(const struct schema_row *row, struct config *config,
                      struct m2_error *err);

/* Adds the value as one line of YAML that reads back as the same value. */
void value_write(const struct schema_row *row, const struct config *config,
                 struct text *out);

/* The value's text equals that of the default. */
bool value_is_default(const struct schema *schema, size_t row,
                      const struct config *config);

/* A config with every key at its default.  Free it with config_free. */
int value_set_defaults(const struct schema *schema, struct config *config,
                       struct m2_error *err);

/* Whether the value of a key that may name a file (KEY_IS_PATH) does: it holds
 * a slash, or ends in .so or .safetensors. */
bool value_is_path(const char *text);

/* A path as it is used: absolute; relative to the file of the node, or to the
 * working directory; "~/" is $HOME.  The caller frees it; NULL when out of
 * memory. */
char *value_resolve_path(const struct node *node, const char *text);

#endif
