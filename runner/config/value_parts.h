/* What the value_*.c files share; nobody else includes this. */
#ifndef M2_CONFIG_VALUE_PARTS_H
#define M2_CONFIG_VALUE_PARTS_H

#include "config/value.h"

/* Replaces an owned string, or a list of them; false when out of memory. */
bool value_store_string(char **slot, const char *text);
bool value_store_strings(char ***slot, size_t *count,
                         const struct string_list *list);

/* "'data.window' must be an integer, not 'x'", with a hint where one helps. */
void value_type_error(const struct schema_row *row, const struct node *node,
                      const char *wanted, struct messages *messages);

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

bool value_read_pair(const struct schema_row *row, const struct node *node,
                     double *out, struct messages *messages);
bool value_read_seed(const struct schema_row *row, const struct node *node,
                     uint64_t *out, struct messages *messages);

/* One string; with the key's flags, a folder's name or a path. */
bool value_read_string(const struct schema_row *row, const struct node *node,
                       char **out, struct messages *messages);

/* A list of strings into its members of `config`. */
bool value_read_string_list(const struct schema_row *row,
                            const struct node *node, struct config *config,
                            struct messages *messages);

#endif
