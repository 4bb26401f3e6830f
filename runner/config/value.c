/* One value: from a node, or from its default, into a config. */
#include "config/value.h"

#include <string.h>

#include "config/scalar.h"
#include "config/value_parts.h"
#include "util/memory.h"

/* Keys that are one of a list of words. */
static bool read_word(const struct schema_row *row, const struct node *node,
                      struct config *config, struct messages *messages)
{
    const struct key *key = row->key;
    size_t i = 0;
    bool ok = value_read_choice(row, node, key->choices, &i, messages);

    if (ok && key->type == KEY_CHOICE) {
        _Static_assert(sizeof(enum loss_kind) == sizeof(int), "an enum is int");
        memcpy(schema_member(key, config), &key->choices[i].value, sizeof(int));
    } else if (ok && key->type == KEY_WORD) {
        ok = value_store_string(schema_member(key, config),
                                key->choices[i].name);
        messages->failed = messages->failed || !ok;
    }
    return ok;
}

static bool read_format(const struct schema_row *row, const struct node *node,
                        struct messages *messages)
{
    int64_t format;

    if (scalar_is_int(node, &format) && format == 1)
        return true;
    if (node->kind == NODE_SCALAR && scalar_is_int(node, &format))
        message_error(messages, node->place,
                      "'format' is %s; this version of m2run reads format 1",
                      node->text);
    else
        value_type_error(row, node, "1", messages);
    return false;
}

bool value_read(const struct schema_row *row, const struct node *node,
                struct config *config, struct messages *messages)
{
    void *member = schema_member(row->key, config);

    switch (row->key->type) {
    case KEY_FORMAT:
        return read_format(row, node, messages);
    case KEY_FIXED:
    case KEY_WORD:
    case KEY_CHOICE:
        return read_word(row, node, config, messages);
    case KEY_STRING:
        return value_read_string(row, node, member, messages);
    case KEY_BOOL:
        return value_read_bool(row, node, member, messages);
    case KEY_INT:
        return value_read_int(row, node, member, messages);
    case KEY_SEED:
        return value_read_seed(row, node, member, messages);
    case KEY_FLOAT:
        return value_read_number(row, node, member, messages);
    case KEY_PAIR:
        return value_read_pair(row, node, member, messages);
    case KEY_STRINGS:
    case KEY_EXPRESSIONS:
    case KEY_PATHS:
        return value_read_string_list(row, node, config, messages);
    case KEY_BOUND:
        return value_read_bound(row, node, member, messages);
    case KEY_OPTION:
        return value_read_option(row, node, member, messages);
    case KEY_BLOCK:
        break;
    }
    return false;
}

/* ---- defaults ----------------------------------------------------------- */

int value_set_default(const struct schema_row *row, struct config *config,
                      struct m2_error *err)
{
    struct source source = {.name = row->path, .bytes = ""};
    struct place place = {&source, 1, 1, 1};
    const char *initial = row->key->initial;
    struct messages messages = {0};
    struct tree tree;
    struct node *node;
    bool ok;

    if (row->key->type == KEY_BLOCK)
        return 0;
    tree_init(&tree);
    node =
        initial != NULL && initial[0] != '['
            ? node_new_scalar(&tree, place, initial)
            : tree_parse_value(&tree, place, initial == NULL ? "null" : initial,
                               &messages);
    if (node != NULL && initial != NULL && initial[0] == '\0')
        node->quoted = true; /* the empty string, and not no value */
    ok = node != NULL && value_read(row, node, config, &messages);
    if (row->key->type == KEY_OPTION && ok)
        ((struct config_option *)schema_member(row->key, config))->is_default =
            true;
    tree_free(&tree);
    if (!ok && messages.n_errors > 0)
        m2_fail(err, M2_E_DEVICE, "default of '%s': %s", row->path,
                messages.items[0].text);
    else if (!ok)
        m2_fail(err, M2_E_MEMORY, "out of memory");
    messages_free(&messages);
    return ok ? 0 : err != NULL ? err->code : M2_E_MEMORY;
}

int value_set_defaults(const struct schema *schema, struct config *config,
                       struct m2_error *err)
{
    struct config defaults = {0};

    defaults.data.options =
        memory_zeroed(schema->n_options, sizeof *defaults.data.options, err);
    if (defaults.data.options == NULL)
        return M2_E_MEMORY;
    defaults.data.n_options = schema->n_options;
    for (size_t i = 0; i < schema->n_rows; i++) {
        int code = value_set_default(&schema->rows[i], &defaults, err);

        if (code != 0) {
            config_free(&defaults);
            return code;
        }
    }
    *config = defaults;
    return 0;
}
