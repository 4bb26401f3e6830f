/* From the tree of an experiment to its config: which node set which key. */
#ifndef M2_CONFIG_BINDING_H
#define M2_CONFIG_BINDING_H

#include "config/schema.h"
#include "config/tree.h"

/* Per row of the schema, the node that set it (NULL: its default), and
 * whether an error was reported about it. */
struct binding {
    const struct schema *schema;
    const struct node **nodes; /* (n_rows) */
    bool *is_wrong;            /* (n_rows) */
    struct place whole;        /* the file, for what has no place in it */
    bool skip_options;         /* the data source is unknown */
};

int binding_init(struct binding *binding, const struct schema *schema,
                 struct place whole, struct m2_error *err);
int binding_copy(const struct binding *from, struct binding *to,
                 struct m2_error *err);
void binding_free(struct binding *binding);

/* Reads every key of the tree into `config`, which holds the defaults.
 * Unknown keys, wrong types and values out of range go to `messages`. */
void binding_read(struct binding *binding, const struct node *root,
                  struct config *config, struct messages *messages);

/* Sets one row from a node that counts more than all before: the key that it
 * excludes is reset.  False after a message. */
bool binding_assign(struct binding *binding, size_t row,
                    const struct node *node, struct config *config,
                    struct messages *messages);

/* Rules between keys, as "headdim divides expand*d_model".  Rules about a key
 * that is wrong already are left out. */
void binding_check_rules(const struct binding *binding,
                         const struct config *config,
                         struct messages *messages);

/* ---- pieces, shared by the files of this module ------------------------- */

/* The checks that binding_check_rules is made of: rules_*.c. */
struct rules {
    const struct binding *binding;
    const struct config *config;
    struct messages *messages;
};

/* A list of full key names for the functions below. */
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* No error was reported about any of these keys (NULL ends the list). */
bool rules_can_check(const struct rules *rules, const char *const *paths);

/* The place of the first of these keys that the file sets; of one that an axis
 * of the sweep sets, if there is one. */
struct place rules_place(const struct rules *rules, const char *const *paths);

/* True when the file sets this key. */
bool rules_is_set(const struct rules *rules, const char *path);

void rules_check_model(const struct rules *rules);
void rules_check_split(const struct rules *rules);

#endif
