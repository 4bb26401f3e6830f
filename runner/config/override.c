/* Overrides: parsing and applying. */
#include "config/override_value.h"

#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "util/memory.h"

const struct source *override_add_source(struct tree *tree,
                                         const char *const *overrides,
                                         size_t count)
{
    struct text lines = {0};
    struct source *source = NULL;

    for (size_t i = 0; i < count; i++) {
        for (const char *p = overrides[i]; *p != '\0'; p++)
            text_add_char(&lines, *p == '\n' ? ' ' : *p);
        text_add_char(&lines, '\n');
    }
    if (text_check(&lines, NULL) == 0)
        source = tree_add_source(tree, "command line", NULL,
                                 text_string(&lines), lines.length);
    else
        tree->failed = true;
    text_free(&lines);
    if (source != NULL)
        source->rank = RANK_COMMAND_LINE;
    return source;
}

struct node *override_find_source(struct tree *tree,
                                  const struct source *source,
                                  const struct experiment_request *request)
{
    static const char *const keys[] = {"source=", "data.source="};
    struct node *found = NULL;

    for (size_t i = 0; i < request->n_overrides * 2; i++) {
        const char *text = request->overrides[i / 2];
        size_t length = strlen(keys[i % 2]);
        struct place place = {source, (int)(i / 2) + 1, (int)length + 1, 1};

        if (strncmp(text, keys[i % 2], length) != 0)
            continue;
        text += length;
        if (text[0] != '\0')
            place.width = (int)strlen(text);
        found = node_new_scalar(tree, place, text);
    }
    return found;
}

/* ---- keys --------------------------------------------------------------- */

static void report_ambiguous(const struct overriding *o, const char *key,
                             struct place place)
{
    const struct schema *schema = &o->experiment->schema;
    struct text list = {0};

    for (size_t i = 0; i < schema->n_rows; i++) {
        const char *path = schema->rows[i].path;
        size_t size = strlen(path), length = strlen(key);

        if (size > length && path[size - length - 1] == '.' &&
            strcmp(path + size - length, key) == 0)
            text_addf(&list, "%s%s", list.length == 0 ? "" : ", ", path);
    }
    message_error(o->messages, place, "'%s' could be any of %s", key,
                  text_string(&list));
    text_free(&list);
}

static void report_unknown(const struct overriding *o, const char *key,
                           struct place place)
{
    struct text hint = {0};

    schema_suggest_path(&o->experiment->schema, key, &hint);
    message_error(o->messages, place, "unknown key '%s'%s", key,
                  text_string(&hint));
    text_free(&hint);
}

static bool find_row(const struct overriding *o, const char *key,
                     struct place place, size_t *row)
{
    size_t found = schema_find_ending(&o->experiment->schema, key, row);

    if (found == 0)
        report_unknown(o, key, place);
    else if (found > 1)
        report_ambiguous(o, key, place);
    return found == 1;
}

/* ---- applying ----------------------------------------------------------- */

/* The mapping that holds the last part of `path`, made if need be.  NULL when
 * something else is in the way: that is reported when the tree is read. */
static struct node *find_parent(const struct overriding *o, const char *path,
                                struct place place)
{
    struct tree *tree = &o->experiment->tree;
    struct node *map = o->experiment->root;
    const char *dot;

    for (; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        struct node *key = override_word(o, place, path, (size_t)(dot - path));
        struct node *child;

        if (key == NULL)
            return NULL;
        child = node_get(map, key->text);
        if (child == NULL || scalar_is_null(child)) {
            child = node_new(tree, NODE_MAP, place);
            if (child == NULL)
                return NULL;
            node_set(map, key, child);
        }
        if (child->kind != NODE_MAP)
            return NULL;
        map = child;
    }
    return map;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot == NULL ? path : dot + 1;
}

static void set_value(const struct overriding *o, const char *path,
                      struct place place, struct node *value)
{
    struct node *map = find_parent(o, path, place);
    struct node *key =
        node_new_scalar(&o->experiment->tree, place, last_part(path));
    struct node *old;

    if (map == NULL || key == NULL)
        return;
    old = node_get(map, key->text);
    value->key = key;
    node_set(map, key,
             old != NULL && old->kind == NODE_MAP && value->kind == NODE_MAP
                 ? node_merge(old, value)
                 : value);
}

static void add_axis(const struct overriding *o, struct place place, size_t row,
                     struct node *values)
{
    struct experiment *experiment = o->experiment;
    struct override_axis *grown =
        memory_resize(experiment->axes, experiment->n_axes + 1,
                      sizeof *experiment->axes, NULL);

    if (grown == NULL) {
        o->messages->failed = true;
        return;
    }
    experiment->axes = grown;
    experiment->axes[experiment->n_axes++] =
        (struct override_axis){place, row, values};
}

/* seeds=3 is a key of the sweep block. */
static bool apply_seeds(const struct overriding *o, const char *text,
                        const char *key, const char *value)
{
    struct tree *tree = &o->experiment->tree;
    struct place place = override_place(o, text, text, strlen(key));
    struct node *name, *count;

    if (strcmp(key, "seeds") != 0 && strcmp(key, "sweep.seeds") != 0)
        return false;
    if (o->experiment->sweep == NULL)
        o->experiment->sweep = node_new(tree, NODE_MAP, place);
    name = node_new_scalar(tree, place, "seeds");
    count = override_value(o, text, value);
    if (o->experiment->sweep != NULL && name != NULL && count != NULL)
        node_set(o->experiment->sweep, name, count);
    return true;
}

static void apply_assignment(const struct overriding *o, const char *text,
                             const char *key, const char *value)
{
    struct place place = override_place(o, text, text, strlen(key));
    struct node *node;
    size_t row;

    if (apply_seeds(o, text, key, value) || !find_row(o, key, place, &row))
        return;
    if (override_is_axis(value)) {
        node = override_axis_values(o, text, value);
        if (node != NULL)
            add_axis(o, override_place(o, text, text, strlen(text)), row, node);
        return;
    }
    node = override_value(o, text, value);
    if (node != NULL)
        set_value(o, o->experiment->schema.rows[row].path, place, node);
}

/* What is at its default is no axis either. */
static void remove_axis(const struct overriding *o, size_t row)
{
    struct node *sweep = o->experiment->sweep;
    struct node *grid = sweep == NULL ? NULL : node_get(sweep, "grid");
    const struct node *next;

    if (grid == NULL || grid->kind != NODE_MAP)
        return;
    for (const struct node *v = grid->first; v != NULL; v = next) {
        size_t found;

        next = v->next;
        if (schema_find_ending(&o->experiment->schema, v->key->text, &found) ==
                1 &&
            found == row)
            node_remove(grid, v->key->text);
    }
}

static void apply_reset(const struct overriding *o, const char *text)
{
    const char *key = text + 1; /* ~key */
    struct place place = override_place(o, text, key, strlen(key));
    const char *path;
    struct node *map;
    size_t row;

    if (!find_row(o, key, place, &row))
        return;
    remove_axis(o, row);
    path = o->experiment->schema.rows[row].path;
    map = find_parent(o, path, place);
    if (map != NULL)
        node_remove(map, last_part(path));
}

static void apply(const struct overriding *o, const char *text)
{
    const char *equals = strchr(text, '=');
    struct place place = override_place(o, text, text, strlen(text));
    char *key;

    if (!override_is_clean(text)) {
        message_error(o->messages, place,
                      "an override is one line of UTF-8 text");
        return;
    }
    if (text[0] == '~' && equals == NULL) {
        apply_reset(o, text);
        return;
    }
    if (equals == NULL || equals == text || text[0] == '+' || text[0] == '~') {
        message_error(o->messages, place,
                      text[0] == '+' && equals != NULL
                          ? "every key exists already: write '%s' without +"
                          : "'%s' is not an override: write key=value, or ~key "
                            "for the default",
                      text);
        return;
    }
    key = memory_zeroed((size_t)(equals - text) + 1, 1, NULL);
    if (key == NULL) {
        o->messages->failed = true;
        return;
    }
    memcpy(key, text, (size_t)(equals - text));
    apply_assignment(o, text, key, equals + 1);
    free(key);
}

void override_apply(struct experiment *experiment, const struct source *source,
                    const struct experiment_request *request,
                    struct messages *messages)
{
    struct overriding o = {experiment, messages, source, 0};

    for (size_t i = 0; i < request->n_overrides; i++) {
        o.line = (int)i + 1;
        apply(&o, request->overrides[i]);
    }
}
