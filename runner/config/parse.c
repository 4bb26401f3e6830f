/* libyaml events to a tree, with every limit checked while reading. */
#include <stdlib.h>
#include <string.h>

#include "config/parse_reader.h"

enum {
    MAX_BYTES = 1 << 20,
    MAX_DEPTH = 32,
    MAX_NODES = 20000,
    MAX_KEYS = 1000,
};

static struct place place_of(const struct reader *reader)
{
    const yaml_event_t *event = &reader->event;
    struct place place = parse_place_at(reader, event->start_mark);

    if (event->start_mark.line == event->end_mark.line &&
        event->end_mark.column > event->start_mark.column)
        place.width = (int)(event->end_mark.column - event->start_mark.column);
    return place;
}

/* The next event; false after an error. */
static bool next_event(struct reader *reader)
{
    if (reader->has_event)
        yaml_event_delete(&reader->event);
    reader->has_event = false;
    if (!yaml_parser_parse(&reader->parser, &reader->event)) {
        parse_report_syntax(reader);
        return false;
    }
    reader->has_event = true;
    return true;
}

/* ---- nodes ------------------------------------------------------------- */

static struct node *read_node(struct reader *reader, int depth);

static bool has_room(struct reader *reader, struct place place, size_t more)
{
    if (reader->tree->n_nodes - reader->first_node + more <= MAX_NODES)
        return true;
    message_error(reader->messages, place,
                  "more than %d values (what aliases stand for included)",
                  MAX_NODES);
    return false;
}

static struct node *start_node(struct reader *reader, enum node_kind kind)
{
    struct place place = place_of(reader);

    if (!has_room(reader, place, 1))
        return NULL;
    if (kind != NODE_SCALAR)
        place.width = 1;
    return node_new(reader->tree, kind, place);
}

/* Remembers an anchor.  Returns false when there are too many. */
static bool add_anchor(struct reader *reader, const yaml_char_t *name,
                       struct node *node)
{
    struct node *copy;

    if (name == NULL)
        return true;
    if (reader->n_anchors == PARSE_MAX_ANCHORS) {
        message_error(reader->messages, node->place, "more than %d anchors",
                      PARSE_MAX_ANCHORS);
        return false;
    }
    copy = node_new_scalar(reader->tree, node->place, (const char *)name);
    if (copy == NULL)
        return false;
    reader->anchors[reader->n_anchors++] =
        (struct anchor){copy->text, node, node->kind != NODE_SCALAR};
    return true;
}

static void close_anchor(struct reader *reader, const struct node *node)
{
    for (size_t i = 0; i < reader->n_anchors; i++)
        if (reader->anchors[i].node == node)
            reader->anchors[i].is_open = false;
}

static size_t count_nodes(const struct node *node)
{
    size_t n = 1;

    for (const struct node *c = node->first; c != NULL; c = c->next)
        n += count_nodes(c);
    return n;
}

static struct node *read_alias(struct reader *reader)
{
    const char *name = (const char *)reader->event.data.alias.anchor;
    struct place place = place_of(reader);

    for (size_t i = reader->n_anchors; i-- > 0;) {
        const struct anchor *anchor = &reader->anchors[i];

        if (strcmp(anchor->name, name) != 0)
            continue;
        if (anchor->is_open) {
            message_error(reader->messages, place,
                          "'*%s' refers to itself: the value would never end",
                          name);
            return NULL;
        }
        if (!has_room(reader, place, count_nodes(anchor->node)))
            return NULL;
        return node_copy(reader->tree, anchor->node);
    }
    message_error(reader->messages, place,
                  "'*%s' has no '&%s' above it (an unquoted '*' starts an "
                  "alias)",
                  name, name);
    return NULL;
}

/* "", "!" and !!str say that a scalar is text; no other tag means anything. */
static bool check_tag(struct reader *reader, const yaml_char_t *tag,
                      bool *is_text)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    const char *name = (const char *)tag;
    bool is_short;

    if (name == NULL)
        return true;
    *is_text = true;
    if (strcmp(name, "!") == 0 || strcmp(name, YAML_STR_TAG) == 0)
        return true;
    is_short = strncmp(name, prefix, strlen(prefix)) == 0;
    message_error(reader->messages, place_of(reader),
                  "the tag '%s%s' is not supported; the key decides the type "
                  "of its value",
                  is_short ? "!!" : "",
                  is_short ? name + strlen(prefix) : name);
    return false;
}

static struct node *read_scalar(struct reader *reader)
{
    struct node *node = start_node(reader, NODE_SCALAR);
    bool is_text = reader->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    const char *text = (const char *)reader->event.data.scalar.value;
    struct node *copy;

    if (node == NULL ||
        !check_tag(reader, reader->event.data.scalar.tag, &is_text))
        return NULL;
    if (memchr(text, '\0', reader->event.data.scalar.length) != NULL) {
        message_error(reader->messages, node->place,
                      "a NUL character is not allowed in a value");
        return NULL;
    }
    copy = node_new_scalar(reader->tree, node->place, text);
    if (copy == NULL ||
        !add_anchor(reader, reader->event.data.scalar.anchor, copy))
        return NULL;
    copy->quoted = is_text;
    return copy;
}

static struct node *read_list(struct reader *reader, int depth)
{
    struct node *list = start_node(reader, NODE_LIST);
    bool ignored;

    if (list == NULL ||
        !check_tag(reader, reader->event.data.sequence_start.tag, &ignored) ||
        !add_anchor(reader, reader->event.data.sequence_start.anchor, list))
        return NULL;
    while (next_event(reader)) {
        struct node *child;

        if (reader->event.type == YAML_SEQUENCE_END_EVENT) {
            close_anchor(reader, list);
            return list;
        }
        child = read_node(reader, depth + 1);
        if (child == NULL)
            return NULL;
        node_append(list, child);
    }
    return NULL;
}

/* What "<<" brings: keys that are there already stay (own ones, and those of
 * mappings merged before). */
static bool merge_key(struct reader *reader, struct node *map,
                      const struct node *from)
{
    for (const struct node *c = from->first; c != NULL; c = c->next) {
        const struct node *own = node_get(map, c->key->text);
        struct node *copy;

        if (own != NULL && own->kind == NODE_MAP && c->kind == NODE_MAP)
            message_warning(reader->messages, own->key->place,
                            "'<<' does not merge below '%s': the keys of the "
                            "other '%s' are dropped; include: merges deep",
                            own->key->text, own->key->text);
        if (own != NULL)
            continue;
        if (!has_room(reader, c->place, count_nodes(c)))
            return false;
        copy = node_copy(reader->tree, c);
        if (copy == NULL)
            return false;
        node_set(map, c->key, copy);
    }
    return true;
}

/* Applies "<<: *one" or "<<: [*one, *two]" at the end of its mapping. */
static bool merge_keys(struct reader *reader, struct node *map,
                       struct node *merge)
{
    const struct node *from = merge;

    if (merge == NULL)
        return true;
    if (merge->kind == NODE_LIST)
        from = merge->first;
    for (; from != NULL; from = merge->kind == NODE_LIST ? from->next : NULL) {
        if (from->kind != NODE_MAP) {
            message_error(reader->messages, from->place,
                          "'<<' needs a mapping or a list of mappings, as "
                          "'<<: *name'");
            return false;
        }
        if (!merge_key(reader, map, from))
            return false;
    }
    return true;
}

static struct node *read_key(struct reader *reader, const struct node *map)
{
    const struct node *first;
    struct node *key;

    if (reader->event.type != YAML_SCALAR_EVENT) {
        message_error(reader->messages, place_of(reader),
                      "a key must be a plain word");
        return NULL;
    }
    if (map->n_children == MAX_KEYS) {
        message_error(reader->messages, place_of(reader),
                      "more than %d keys in one mapping", MAX_KEYS);
        return NULL;
    }
    key = read_scalar(reader);
    if (key == NULL)
        return NULL;
    first = node_get(map, key->text);
    if (first != NULL)
        message_error(reader->messages, key->place,
                      "duplicate key '%s' (first at line %d)", key->text,
                      first->key->place.line);
    return key;
}

static struct node *read_map(struct reader *reader, int depth)
{
    struct node *map = start_node(reader, NODE_MAP);
    struct node *merge = NULL;
    bool ignored;

    if (map == NULL ||
        !check_tag(reader, reader->event.data.mapping_start.tag, &ignored) ||
        !add_anchor(reader, reader->event.data.mapping_start.anchor, map))
        return NULL;
    while (next_event(reader)) {
        struct node *key, *value;

        if (reader->event.type == YAML_MAPPING_END_EVENT) {
            close_anchor(reader, map);
            return merge_keys(reader, map, merge) ? map : NULL;
        }
        key = read_key(reader, map);
        if (key == NULL || !next_event(reader))
            return NULL;
        value = read_node(reader, depth + 1);
        if (value == NULL)
            return NULL;
        if (strcmp(key->text, "<<") == 0 && !key->quoted)
            merge = value;
        else
            node_set(map, key, value);
    }
    return NULL;
}

static struct node *read_node(struct reader *reader, int depth)
{
    if (depth > MAX_DEPTH) {
        message_error(reader->messages, place_of(reader),
                      "nested more than %d levels deep", MAX_DEPTH);
        return NULL;
    }
    switch (reader->event.type) {
    case YAML_ALIAS_EVENT:
        return read_alias(reader);
    case YAML_SCALAR_EVENT:
        return read_scalar(reader);
    case YAML_SEQUENCE_START_EVENT:
        return read_list(reader, depth);
    default:
        return read_map(reader, depth);
    }
}

/* ---- documents --------------------------------------------------------- */

/* An empty scalar is what a file of comments alone is read as. */
static struct node *read_document(struct reader *reader)
{
    struct place whole = {reader->source, 1, 1, 1};
    struct node *root;

    if (!next_event(reader) || !next_event(reader))
        return NULL;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return node_new(reader->tree, NODE_MAP, whole);
    if (!next_event(reader))
        return NULL;
    root = read_node(reader, 0);
    if (root == NULL || !next_event(reader) || !next_event(reader))
        return NULL;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return root;
    message_error(reader->messages, place_of(reader),
                  "a second document starts here; a file holds one experiment");
    return NULL;
}

static struct node *read_text(struct tree *tree, struct place start,
                              const char *bytes, size_t size,
                              struct messages *messages)
{
    struct reader *reader = calloc(1, sizeof *reader);
    struct node *root;

    if (reader == NULL || !yaml_parser_initialize(&reader->parser)) {
        free(reader);
        tree->failed = true;
        return NULL;
    }
    reader->tree = tree;
    reader->source = start.source;
    reader->bytes = bytes;
    reader->size = size;
    reader->messages = messages;
    reader->line = start.line;
    reader->column = start.column;
    reader->first_node = tree->n_nodes;
    yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)bytes,
                                 size);
    root = read_document(reader);
    if (reader->has_event)
        yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->parser);
    free(reader);
    return tree->failed ? NULL : root;
}

struct node *tree_parse(struct tree *tree, const struct source *source,
                        struct messages *messages)
{
    struct place start = {source, 1, 1, 1};
    const unsigned char *bytes = (const unsigned char *)source->bytes;

    if (source->size > MAX_BYTES) {
        message_error(messages, (struct place){.source = source},
                      "larger than %d bytes", MAX_BYTES);
        return NULL;
    }
    if (source->size >= 2 && (bytes[0] ^ bytes[1]) == 1 && bytes[0] >= 0xFE) {
        message_error(messages, (struct place){.source = source},
                      "UTF-16 text; save it as UTF-8");
        return NULL;
    }
    return read_text(tree, start, source->bytes, source->size, messages);
}

struct node *tree_parse_value(struct tree *tree, struct place place,
                              const char *text, struct messages *messages)
{
    if (text[0] == '\0' || strchr("\"'[{", text[0]) == NULL)
        return node_new_scalar(tree, place, text);
    return read_text(tree, place, text, strlen(text), messages);
}
