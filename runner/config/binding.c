/* Walks the tree of an experiment along the schema. */
#include "config/binding.h"

#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "config/value.h"
#include "util/memory.h"
#include "util/number.h"

int binding_init(struct binding *binding, const struct schema *schema,
                 struct place whole, struct m2_error *err)
{
    *binding = (struct binding){.schema = schema, .whole = whole};
    binding->nodes = memory_zeroed(schema->n_rows, sizeof *binding->nodes, err);
    binding->is_wrong =
        memory_zeroed(schema->n_rows, sizeof *binding->is_wrong, err);
    if (binding->nodes == NULL || binding->is_wrong == NULL) {
        binding_free(binding);
        return M2_E_MEMORY;
    }
    return 0;
}

int binding_copy(const struct binding *from, struct binding *to,
                 struct m2_error *err)
{
    size_t n = from->schema->n_rows;

    if (binding_init(to, from->schema, from->whole, err) != 0)
        return M2_E_MEMORY;
    to->skip_options = from->skip_options;
    memcpy(to->nodes, from->nodes, n * sizeof *to->nodes);
    memcpy(to->is_wrong, from->is_wrong, n * sizeof *to->is_wrong);
    return 0;
}

void binding_free(struct binding *binding)
{
    free(binding->nodes);
    free(binding->is_wrong);
    *binding = (struct binding){0};
}

/* ---- reading ------------------------------------------------------------ */

struct walk {
    struct binding *binding;
    struct config *config;
    struct messages *messages;
};

static void report_unknown(const struct walk *walk, const struct node *key,
                           const char *block)
{
    struct text hint = {0};
    double number;

    if (number_parse_double(key->text, &number))
        text_add(&hint, "; a comma parts keys here: decimals have a point");
    else
        schema_suggest(walk->binding->schema, block, key->text, &hint);
    if (block[0] == '\0')
        message_error(walk->messages, key->place, "unknown key '%s'%s",
                      key->text, text_string(&hint));
    else
        message_error(walk->messages, key->place, "unknown key '%s' in '%s'%s",
                      key->text, block, text_string(&hint));
    walk->messages->failed = walk->messages->failed || hint.failed;
    text_free(&hint);
}

static void read_block(const struct walk *walk, const struct node *map,
                       const char *block);

static void read_key(const struct walk *walk, const struct node *value,
                     const char *block)
{
    const struct schema *schema = walk->binding->schema;
    struct text path = {0};
    size_t row;

    text_addf(&path, "%s%s%s", block, block[0] == '\0' ? "" : ".",
              value->key->text);
    row = schema_find(schema, text_string(&path));
    text_free(&path);
    if (row == schema->n_rows) {
        report_unknown(walk, value->key, block);
        return;
    }
    walk->binding->nodes[row] = value;
    if (schema->rows[row].key->type == KEY_BLOCK)
        read_block(walk, value, schema->rows[row].path);
    else if (!value_read(&schema->rows[row], value, walk->config,
                         walk->messages))
        walk->binding->is_wrong[row] = true;
}

/* "optimizer: adamw" is meant as "optimizer: {type: adamw}". */
static void report_no_block(const struct walk *walk, const struct node *node,
                            const char *block)
{
    const struct schema *schema = walk->binding->schema;
    struct text type = {0}, hint = {0};

    text_addf(&type, "%s.type", block);
    if (node->kind == NODE_SCALAR &&
        schema_find(schema, text_string(&type)) < schema->n_rows)
        text_addf(&hint, ", as {type: %s}", node->text);
    message_error(walk->messages, node->place,
                  "'%s' must be a mapping of keys%s, not %s", block,
                  text_string(&hint), node_kind_name(node));
    text_free(&type);
    text_free(&hint);
}

static void read_block(const struct walk *walk, const struct node *map,
                       const char *block)
{
    if (map->kind == NODE_SCALAR && scalar_is_null(map))
        return; /* a block whose keys are all commented out */
    if (map->kind != NODE_MAP) {
        report_no_block(walk, map, block);
        return;
    }
    if (walk->binding->skip_options && strcmp(block, "data.options") == 0)
        return;
    for (const struct node *value = map->first; value != NULL;
         value = value->next)
        read_key(walk, value, block);
}

/* ---- keys that exclude each other --------------------------------------- */

static int64_t *integer_at(const struct binding *binding, size_t row,
                           struct config *config)
{
    return schema_member(binding->schema->rows[row].key, config);
}

static bool is_given(const struct binding *binding, size_t row,
                     struct config *config)
{
    return binding->nodes[row] != NULL &&
           *integer_at(binding, row, config) != 0;
}

/* One of a pair, seen from the row that comes first in the schema. */
static void exclude(const struct walk *walk, size_t one, size_t other)
{
    struct binding *binding = walk->binding;
    const struct schema_row *rows = binding->schema->rows;
    bool has_one = is_given(binding, one, walk->config);
    bool has_other = is_given(binding, other, walk->config);
    int rank_one, rank_other;

    if (has_one != has_other)
        *integer_at(binding, has_one ? other : one, walk->config) = 0;
    if (!has_one || !has_other)
        return;
    rank_one = binding->nodes[one]->place.source->rank;
    rank_other = binding->nodes[other]->place.source->rank;
    if (rank_one == rank_other)
        message_error(walk->messages, binding->nodes[other]->key->place,
                      "'%s' and '%s' exclude each other; keep one",
                      rows[other].path, rows[one].path);
    else
        *integer_at(binding, rank_one > rank_other ? other : one,
                    walk->config) = 0;
}

static void exclude_all(const struct walk *walk)
{
    const struct binding *binding = walk->binding;

    for (size_t i = 0; i < binding->schema->n_rows; i++) {
        const char *exclusive = binding->schema->rows[i].key->exclusive;
        size_t other;

        if (exclusive == NULL)
            continue;
        other = schema_find(binding->schema, exclusive);
        if (i < other && !binding->is_wrong[i] && !binding->is_wrong[other])
            exclude(walk, i, other);
    }
}

void binding_read(struct binding *binding, const struct node *root,
                  struct config *config, struct messages *messages)
{
    struct walk walk = {binding, config, messages};

    read_block(&walk, root, "");
    exclude_all(&walk);
}

bool binding_assign(struct binding *binding, size_t row,
                    const struct node *node, struct config *config,
                    struct messages *messages)
{
    const struct schema_row *rows = binding->schema->rows;
    const char *exclusive = rows[row].key->exclusive;

    if (!value_read(&rows[row], node, config, messages))
        return false;
    binding->nodes[row] = node;
    binding->is_wrong[row] = false;
    if (exclusive != NULL && *integer_at(binding, row, config) != 0)
        *integer_at(binding, schema_find(binding->schema, exclusive), config) =
            0;
    return true;
}
