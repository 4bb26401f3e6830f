/* Overrides: parsing and applying. */
#include "config/override.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "util/memory.h"
#include "util/number.h"

enum { MAX_RANGE = 10000 };

struct overriding {
    struct experiment *experiment;
    struct messages *messages;
    const struct source *source;
    int line; /* which override, from 1 */
};

const struct source *override_add_source(struct tree *tree,
                                         const char *const *overrides,
                                         size_t count)
{
    struct text lines = {0};
    struct source *source = NULL;

    for (size_t i = 0; i < count; i++)
        text_addf(&lines, "%s\n", overrides[i]);
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

const char *override_find_source(const char *const *overrides, size_t count)
{
    static const char *const keys[] = {"source=", "data.source="};
    const char *found = NULL;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 2; k++)
            if (strncmp(overrides[i], keys[k], strlen(keys[k])) == 0)
                found = overrides[i] + strlen(keys[k]);
    return found;
}

static struct place place_at(const struct overriding *o, size_t column,
                             size_t width)
{
    return (struct place){o->source, o->line, (int)column,
                          width > 0 ? (int)width : 1};
}

/* ---- texts -------------------------------------------------------------- */

/* Bytes of the UTF-8 character at p; 0 when it is none. */
static size_t character_size(const unsigned char *p)
{
    size_t size = *p < 0x80                  ? 1
                  : *p >= 0xC2 && *p <= 0xDF ? 2
                  : *p >= 0xE0 && *p <= 0xEF ? 3
                  : *p >= 0xF0 && *p <= 0xF4 ? 4
                                             : 0;

    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

/* Text that can stand in a line of a YAML file. */
static bool is_clean(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    while (*p != '\0') {
        size_t size = character_size(p);

        if (size == 0 || *p < 0x20 || *p == 0x7F)
            return false;
        p += size;
    }
    return true;
}

/* End of a value: a comma outside brackets, parentheses and quotes, or the
 * end of the text. */
static const char *find_comma(const char *p)
{
    int depth = 0;
    char quote = '\0';

    for (; *p != '\0' && (*p != ',' || depth > 0 || quote != '\0'); p++) {
        if (quote != '\0')
            quote = *p == quote ? '\0' : quote;
        else if (*p == '"' || *p == '\'')
            quote = *p;
        else if (strchr("([{", *p) != NULL)
            depth++;
        else if (strchr(")]}", *p) != NULL)
            depth--;
    }
    return p;
}

static struct node *parse_piece(const struct overriding *o, const char *text,
                                const char *piece, size_t size)
{
    struct place place = place_at(o, (size_t)(piece - text) + 1, size);
    char *copy = memory_zeroed(size + 1, 1, NULL);
    struct node *node;

    if (copy == NULL) {
        o->messages->failed = true;
        return NULL;
    }
    memcpy(copy, piece, size);
    node = tree_parse_value(&o->experiment->tree, place, copy, o->messages);
    free(copy);
    return node;
}

/* ---- ranges ------------------------------------------------------------- */

/* The three numbers of range(a,b,s), or of range(a,b) with s = 1. */
static bool parse_range(const struct overriding *o, const char *text,
                        const char *value, double numbers[3])
{
    const char *p = value + strlen("range(");
    size_t n = 0;

    numbers[2] = 1;
    while (n < 3) {
        size_t size = strcspn(p, ",)");
        struct node *node = parse_piece(o, text, p, size);

        if (node == NULL || !scalar_is_number(node, &numbers[n]) ||
            isinf(numbers[n]))
            return false;
        n++;
        p += size + 1;
        if (p[-1] != ',')
            break;
    }
    return n >= 2 && p[-1] == ')' && p[0] == '\0' && numbers[2] != 0;
}

static struct node *make_range(const struct overriding *o, const char *text,
                               const char *value)
{
    struct place place = place_at(o, (size_t)(value - text) + 1, strlen(value));
    struct tree *tree = &o->experiment->tree;
    double numbers[3], count;
    struct node *list;

    if (!parse_range(o, text, value, numbers)) {
        message_error(o->messages, place,
                      "a range is range(start,stop,step), without stop itself");
        return NULL;
    }
    /* the last one may be there only by rounding */
    count = ceil((numbers[1] - numbers[0]) / numbers[2] - 1e-9);
    if (!(count >= 1 && count <= MAX_RANGE)) {
        message_error(o->messages, place,
                      "this range has %s values; it may have 1 to %d",
                      count < 1 ? "no" : "too many", MAX_RANGE);
        return NULL;
    }
    list = node_new(tree, NODE_LIST, place);
    for (int i = 0; list != NULL && i < (int)count; i++) {
        char printed[NUMBER_TEXT_SIZE];
        struct node *item;

        /* 12 digits: 0.1 + 2 * 0.1 is 0.3 */
        snprintf(printed, sizeof printed, "%.12g", numbers[0] + i * numbers[2]);
        item = node_new_scalar(tree, place, printed);
        if (item == NULL)
            return NULL;
        node_append(list, item);
    }
    return list;
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
        struct node *key = node_new_scalar(tree, place, path);
        struct node *child;

        if (key == NULL)
            return NULL;
        /* cut at the dot: the copy is this function's own */
        ((char *)(uintptr_t)key->text)[dot - path] = '\0';
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

/* key=a,b,c and key=range(...). */
static void apply_axis(const struct overriding *o, const char *text,
                       const char *value, size_t row)
{
    struct place place = place_at(o, 1, strlen(text));
    struct node *list;

    if (strncmp(value, "range(", 6) == 0) {
        list = make_range(o, text, value);
    } else {
        list = node_new(&o->experiment->tree, NODE_LIST, place);
        for (const char *p = value; list != NULL;) {
            const char *end = find_comma(p);
            struct node *item = parse_piece(o, text, p, (size_t)(end - p));

            if (item == NULL)
                return;
            node_append(list, item);
            if (*end == '\0')
                break;
            p = end + 1;
        }
    }
    if (list != NULL)
        add_axis(o, place, row, list);
}

/* seeds=3 is a key of the sweep block. */
static bool apply_seeds(const struct overriding *o, const char *text,
                        const char *key, const char *value)
{
    struct tree *tree = &o->experiment->tree;
    struct place place = place_at(o, 1, strlen(key));
    struct node *name, *count;

    if (strcmp(key, "seeds") != 0 && strcmp(key, "sweep.seeds") != 0)
        return false;
    if (o->experiment->sweep == NULL)
        o->experiment->sweep = node_new(tree, NODE_MAP, place);
    name = node_new_scalar(tree, place, "seeds");
    count = parse_piece(o, text, value, strlen(value));
    if (o->experiment->sweep != NULL && name != NULL && count != NULL)
        node_set(o->experiment->sweep, name, count);
    return true;
}

static void apply_assignment(const struct overriding *o, const char *text,
                             const char *key, const char *value)
{
    struct place place = place_at(o, 1, strlen(key));
    struct node *node;
    size_t row;

    if (apply_seeds(o, text, key, value) || !find_row(o, key, place, &row))
        return;
    if (strncmp(value, "range(", 6) == 0 || *find_comma(value) == ',') {
        apply_axis(o, text, value, row);
        return;
    }
    node = parse_piece(o, text, value, strlen(value));
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

static void apply_reset(const struct overriding *o, const char *key)
{
    struct place place = place_at(o, 2, strlen(key));
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
    struct place place = place_at(o, 1, strlen(text));
    char *key;

    if (!is_clean(text)) {
        message_error(o->messages, place,
                      "an override is one line of UTF-8 text");
        return;
    }
    if (text[0] == '~' && equals == NULL) {
        apply_reset(o, text + 1);
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
