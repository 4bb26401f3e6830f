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

/* Forgets the axis of a key: something later is said about it. */
static void drop_axis(const struct overriding *o, size_t row)
{
    struct experiment *experiment = o->experiment;
    size_t kept = 0;

    for (size_t i = 0; i < experiment->n_axes; i++)
        if (experiment->axes[i].row != row)
            experiment->axes[kept++] = experiment->axes[i];
    experiment->n_axes = kept;
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
    drop_axis(o, row);
    experiment->axes[experiment->n_axes++] =
        (struct override_axis){place, row, values};
}

/* Keys of the sweep block that are one value each, by their full names and by
 * those without "sweep.". */
static const char *const sweep_keys[] = {
    "sweep.seeds",
    "sweep.max_runs",
    "sweep.random.n",
    "sweep.random.seed",
};

/* The part of the name behind "sweep.", or NULL. */
static const char *find_sweep_key(const char *key)
{
    for (size_t i = 0; i < sizeof sweep_keys / sizeof *sweep_keys; i++) {
        const char *name = sweep_keys[i] + strlen("sweep.");

        if (strcmp(key, sweep_keys[i]) == 0 || strcmp(key, name) == 0)
            return name;
    }
    return NULL;
}

/* The mapping that holds the last part of a key of the sweep block, made if
 * need be; NULL where something else is in the way, which the sweep reports. */
static struct node *find_sweep_parent(const struct overriding *o,
                                      const char **name, struct place place)
{
    struct tree *tree = &o->experiment->tree;
    const char *dot = strchr(*name, '.');
    struct node *map = o->experiment->sweep, *key, *child;

    if (map == NULL)
        map = o->experiment->sweep = node_new(tree, NODE_MAP, place);
    if (map == NULL || map->kind != NODE_MAP || dot == NULL)
        return map != NULL && map->kind == NODE_MAP ? map : NULL;
    key = override_word(o, place, *name, (size_t)(dot - *name));
    child = key == NULL ? NULL : node_get(map, key->text);
    if (key != NULL && child == NULL) {
        child = node_new(tree, NODE_MAP, place);
        if (child != NULL)
            node_set(map, key, child);
    }
    *name = dot + 1;
    return child != NULL && child->kind == NODE_MAP ? child : NULL;
}

static bool apply_sweep_key(const struct overriding *o, const char *text,
                            const char *key, const char *value)
{
    struct place place = override_place(o, text, text, strlen(key));
    const char *name = find_sweep_key(key);
    struct node *map, *word, *node;

    if (name == NULL)
        return false;
    map = find_sweep_parent(o, &name, place);
    word = node_new_scalar(&o->experiment->tree, place, name);
    node = override_is_axis(value) ? override_axis_values(o, text, value)
                                   : override_value(o, text, value);
    if (map != NULL && word != NULL && node != NULL)
        node_set(map, word, node);
    return true;
}

static void apply_assignment(const struct overriding *o, const char *text,
                             const char *key, const char *value)
{
    struct place place = override_place(o, text, text, strlen(key));
    struct node *node;
    size_t row;

    if (apply_sweep_key(o, text, key, value) || !find_row(o, key, place, &row))
        return;
    if (override_is_axis(value)) {
        node = override_axis_values(o, text, value);
        if (node != NULL)
            add_axis(o, override_place(o, text, text, strlen(text)), row, node);
        return;
    }
    drop_axis(o, row);
    node = override_value(o, text, value);
    if (node != NULL)
        set_value(o, o->experiment->schema.rows[row].path, place, node);
}

/* What is at its default is no axis either: the sweep leaves the key out. */
static void add_reset(const struct overriding *o, size_t row)
{
    struct experiment *experiment = o->experiment;
    size_t *grown = memory_resize(experiment->resets, experiment->n_resets + 1,
                                  sizeof *experiment->resets, NULL);

    if (grown == NULL) {
        o->messages->failed = true;
        return;
    }
    experiment->resets = grown;
    experiment->resets[experiment->n_resets++] = row;
    drop_axis(o, row);
}

/* ~sweep, ~seeds; false when the key is none of the sweep block. */
static bool reset_sweep_key(const struct overriding *o, const char *key,
                            struct place place)
{
    const char *name = find_sweep_key(key);
    struct node *map;

    if (strcmp(key, "sweep") == 0) {
        o->experiment->sweep = NULL;
        o->experiment->n_axes = 0;
        return true;
    }
    if (name == NULL)
        return false;
    map = find_sweep_parent(o, &name, place);
    if (map != NULL)
        node_remove(map, name);
    return true;
}

static void apply_reset(const struct overriding *o, const char *text)
{
    const char *key = text + 1; /* ~key */
    struct place place = override_place(o, text, key, strlen(key));
    const char *path;
    struct node *map;
    size_t row;

    if (reset_sweep_key(o, key, place) || !find_row(o, key, place, &row))
        return;
    add_reset(o, row);
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
