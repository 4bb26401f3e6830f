/* One value: from a node into a config, from a config into text. */
#ifndef M2_CONFIG_VALUE_H
#define M2_CONFIG_VALUE_H

#include "config/schema.h"
#include "config/tree.h"

/* Reads a node as the value of a row into `config`.  False, with a message and
 * the config unchanged, when it is of the wrong type or out of range. */
bool value_read(const struct schema_row *row, const struct node *node,
                struct config *config, struct messages *messages);

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

/* ---- pieces, shared by the files of this module ------------------------- */

/* Replaces an owned string, or a list of them; false when out of memory. */
bool value_store_string(char **slot, const char *text);
bool value_store_strings(char ***slot, size_t *count,
                         const struct string_list *list);

/* A path as it is used: absolute; relative to the file of the node, or to the
 * working directory; "~/" is $HOME.  The caller frees it; NULL when out of
 * memory. */
char *value_resolve_path(const struct node *node, const char *text);

/* The path in a message and in the error: "'data.window' must be an integer,
 * not 'x'". */
void value_type_error(const struct schema_row *row, const struct node *node,
                      const char *wanted, struct messages *messages);

bool value_read_int(const struct schema_row *row, const struct node *node,
                    int64_t *out, struct messages *messages);
bool value_read_number(const struct schema_row *row, const struct node *node,
                       double *out, struct messages *messages);
bool value_read_bool(const struct schema_row *row, const struct node *node,
                     bool *out, struct messages *messages);

/* A string or a list of strings; join: commas in parentheses do not part. */
bool value_read_strings(const struct schema_row *row, const struct node *node,
                        bool join, struct string_list *out,
                        struct messages *messages);

/* Part of a split: value_bound.c. */
bool value_read_bound(const struct schema_row *row, const struct node *node,
                      struct split_bound *out, struct messages *messages);
void value_write_bound(const struct split_bound *bound, struct text *out);

/* Options of the data plugin: value_option.c. */
bool value_read_option(const struct schema_row *row, const struct node *node,
                       struct config_option *out, struct messages *messages);
void value_write_option(const struct schema_row *row,
                        const struct config_option *option, struct text *out);

/* Index in a list of choices by name, or a message with a suggestion. */
bool value_read_choice(const struct schema_row *row, const struct node *node,
                       const struct choice *choices, size_t *out,
                       struct messages *messages);

#endif
