/* Memory of trees, and nodes: make, find, move, merge. */
#include "config/tree.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

enum { BLOCK_SIZE = 16384 };

/* Nodes and strings are never freed one by one. */
struct tree_block {
    struct tree_block *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

void tree_init(struct tree *tree)
{
    *tree = (struct tree){0};
}

void tree_free(struct tree *tree)
{
    struct tree_block *block = tree->blocks;

    while (block != NULL) {
        struct tree_block *next = block->next;

        free(block);
        block = next;
    }
    free(tree->sources);
    *tree = (struct tree){0};
}

static void *allocate(struct tree *tree, size_t size)
{
    struct tree_block *block = tree->blocks;
    size_t aligned = (size + 15) & ~(size_t)15;

    if (block == NULL || block->size - block->used < aligned) {
        size_t capacity = aligned > BLOCK_SIZE ? aligned : BLOCK_SIZE;

        block = malloc(sizeof *block + capacity);
        if (block == NULL) {
            tree->failed = true;
            return NULL;
        }
        *block = (struct tree_block){.next = tree->blocks, .size = capacity};
        tree->blocks = block;
    }
    block->used += aligned;
    return block->bytes + block->used - aligned;
}

static char *copy_bytes(struct tree *tree, const void *bytes, size_t size)
{
    char *copy = allocate(tree, size + 1);

    if (copy != NULL) {
        if (size > 0)
            memcpy(copy, bytes, size);
        copy[size] = '\0';
    }
    return copy;
}

struct source *tree_add_source(struct tree *tree, const char *name,
                               const char *path, const void *bytes, size_t size)
{
    struct source *source = allocate(tree, sizeof *source);
    const char *start = bytes;

    if (size >= 3 && memcmp(start, "\xEF\xBB\xBF", 3) == 0) {
        start += 3; /* byte order mark */
        size -= 3;
    }
    if (source == NULL ||
        array_reserve(&tree->sources, &tree->source_capacity,
                      tree->n_sources + 1, sizeof *tree->sources, NULL) != 0) {
        tree->failed = true;
        return NULL;
    }
    *source = (struct source){
        .name = copy_bytes(tree, name, strlen(name)),
        .path = path == NULL ? NULL : copy_bytes(tree, path, strlen(path)),
        .bytes = copy_bytes(tree, start, size),
        .size = size,
        .order = (int)tree->n_sources,
    };
    if (tree->failed)
        return NULL;
    tree->sources[tree->n_sources++] = source;
    return source;
}

struct node *node_new(struct tree *tree, enum node_kind kind,
                      struct place place)
{
    struct node *node = allocate(tree, sizeof *node);

    if (node != NULL) {
        *node = (struct node){.kind = kind, .place = place, .text = ""};
        tree->n_nodes++;
    }
    return node;
}

struct node *node_new_scalar(struct tree *tree, struct place place,
                             const char *text)
{
    struct node *node = node_new(tree, NODE_SCALAR, place);
    const char *copy = copy_bytes(tree, text, strlen(text));

    if (node != NULL && copy != NULL)
        node->text = copy;
    return copy == NULL ? NULL : node;
}

struct node *node_copy(struct tree *tree, const struct node *node)
{
    struct node *copy = node_new(tree, node->kind, node->place);

    if (copy == NULL)
        return NULL;
    copy->quoted = node->quoted;
    copy->text = node->text; /* lives as long as the tree */
    for (const struct node *c = node->first; c != NULL; c = c->next) {
        struct node *child = node_copy(tree, c);

        if (child == NULL)
            return NULL;
        child->key = c->key;
        node_append(copy, child);
    }
    return copy;
}

struct node *node_get(const struct node *map, const char *key)
{
    if (map->kind != NODE_MAP)
        return NULL;
    for (struct node *child = map->first; child != NULL; child = child->next)
        if (strcmp(child->key->text, key) == 0)
            return child;
    return NULL;
}

void node_append(struct node *list, struct node *child)
{
    child->next = NULL;
    if (list->last == NULL)
        list->first = child;
    else
        list->last->next = child;
    list->last = child;
    list->n_children++;
}

/* Puts `new` where `old` is among the children. */
static void replace(struct node *parent, struct node *old, struct node *new)
{
    struct node **link = &parent->first;

    while (*link != old)
        link = &(*link)->next;
    new->next = old->next;
    *link = new;
    if (parent->last == old)
        parent->last = new;
}

void node_set(struct node *map, struct node *key, struct node *value)
{
    struct node *old = node_get(map, key->text);

    value->key = key;
    if (old == NULL)
        node_append(map, value);
    else if (old != value)
        replace(map, old, value);
}

void node_remove(struct node *map, const char *key)
{
    struct node *old = node_get(map, key);
    struct node *before = NULL;

    if (old == NULL)
        return;
    for (struct node *c = map->first; c != old; c = c->next)
        before = c;
    if (before == NULL)
        map->first = old->next;
    else
        before->next = old->next;
    if (map->last == old)
        map->last = before;
    map->n_children--;
}

struct node *node_merge(struct node *base, struct node *over)
{
    struct node *child, *next;

    if (base->kind != NODE_MAP || over->kind != NODE_MAP) {
        over->key = over->key != NULL ? over->key : base->key;
        return over;
    }
    for (child = over->first; child != NULL; child = next) {
        struct node *key = child->key;
        struct node *old = node_get(base, key->text);

        next = child->next;
        node_set(base, key, old == NULL ? child : node_merge(old, child));
    }
    return base;
}

const char *node_kind_name(const struct node *node)
{
    static const char *const names[] = {
        [NODE_SCALAR] = "a value",
        [NODE_LIST] = "a list",
        [NODE_MAP] = "a mapping",
    };
    return names[node->kind];
}
