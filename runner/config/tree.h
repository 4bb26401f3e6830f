/* YAML text as a tree of nodes, each of which knows its place.
 *
 * Read through libyaml's events, never through its documents: a node keeps
 * line, column and whether it was quoted, and every limit is checked while
 * reading.  A text is at most 1 MiB, 32 levels deep, 20,000 nodes (aliases
 * counted as what they stand for), 1,000 keys to a mapping.  Errors: duplicate
 * keys, a second document, an alias to itself, tags other than !!str, a key
 * that is not a plain word.  "<<" merges as YAML defines it, shallow, and
 * warns where that drops nested keys.
 *
 * A scalar is only text here: what it means is decided by the type of its key
 * (scalar.h).
 *
 * A tree owns its nodes and its sources; nodes of one tree may be moved below
 * each other freely. */
#ifndef M2_CONFIG_TREE_H
#define M2_CONFIG_TREE_H

#include "config/messages.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    struct place place;
    bool quoted;      /* text by its form: quotes, block scalar or !!str */
    const char *text; /* scalar; no NUL inside */
    struct node *key; /* of this value in its mapping; NULL in a list */
    struct node *first, *last; /* children, in order */
    struct node *next;         /* in its parent */
    size_t n_children;
};

struct tree_block; /* memory of a tree */
struct tree {
    struct tree_block *blocks;
    struct source **sources;
    size_t n_sources, source_capacity;
    size_t n_nodes;
    bool failed; /* an allocation failed */
};

void tree_init(struct tree *tree);
void tree_free(struct tree *tree);

/* Adds a source; copies name, path (may be NULL) and bytes, without a byte
 * order mark; the caller may set its rank.  NULL when out of memory. */
struct source *tree_add_source(struct tree *tree, const char *name,
                               const char *path, const void *bytes,
                               size_t size);

/* The one document of a source.  An empty document is an empty mapping.
 * NULL after an error, which is in `messages`; or when out of memory, then
 * tree->failed is set. */
struct node *tree_parse(struct tree *tree, const struct source *source,
                        struct messages *messages);

/* A stretch of a source as a value: text beginning with a quote, [ or { as
 * YAML, anything else as one plain scalar.  For overrides and defaults. */
struct node *tree_parse_value(struct tree *tree, struct place place,
                              const char *text, struct messages *messages);

/* Making nodes: NULL and tree->failed when out of memory. */
struct node *node_new(struct tree *tree, enum node_kind kind,
                      struct place place);
struct node *node_new_scalar(struct tree *tree, struct place place,
                             const char *text);
struct node *node_copy(struct tree *tree, const struct node *node);

/* The value of a key, or NULL. */
struct node *node_get(const struct node *map, const char *key);

/* Appends to a list. */
void node_append(struct node *list, struct node *child);

/* Sets a key of a mapping; replaces a value that is there, in its place. */
void node_set(struct node *map, struct node *key, struct node *value);

void node_remove(struct node *map, const char *key);

/* Deep merge: what `over` says wins; mappings are merged key by key, lists and
 * scalars replaced.  Both are used up; the result is `base`. */
struct node *node_merge(struct node *base, struct node *over);

/* "a mapping", "a list", "a value": for messages. */
const char *node_kind_name(const struct node *node);

#endif
