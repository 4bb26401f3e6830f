/* Axes and groups: finding keys, checking values, leaving out doubles. */
#include "sweep/axis.h"

#include <stdlib.h>
#include <string.h>

#include "config/identity.h"
#include "config/override_value.h"
#include "config/value.h"
#include "util/memory.h"
#include "util/suggest.h"

/* ---- keys --------------------------------------------------------------- */

const struct override_axis *axis_override(const struct reading *reading,
                                          size_t row)
{
    const struct experiment *experiment = reading->experiment;

    for (size_t i = 0; i < experiment->n_axes; i++)
        if (experiment->axes[i].row == row)
            return &experiment->axes[i];
    return NULL;
}

/* The command line gives the key one value, or resets it. */
static bool is_fixed(const struct reading *reading, size_t row)
{
    const struct experiment *experiment = reading->experiment;
    const struct node *node = experiment->binding.nodes[row];

    for (size_t i = 0; i < experiment->n_resets; i++)
        if (experiment->resets[i] == row)
            return true;
    return node != NULL && node->place.source->rank == RANK_COMMAND_LINE;
}

size_t axis_index(const struct sweep *sweep, size_t first, size_t row)
{
    size_t i = first;

    while (i < sweep->n_axes && sweep->axes[i].row != row)
        i++;
    return i;
}

void axis_report_twice(struct reading *reading, const struct axis_key *at,
                       const struct sweep_axis *axis)
{
    const char *path = reading->experiment->schema.rows[axis->row].path;

    if (axis->place.source->rank == RANK_COMMAND_LINE)
        message_error(reading->messages, at->key->place,
                      "'%s' is swept twice: also on the command line", path);
    else
        message_error(reading->messages, at->key->place,
                      "'%s' is swept twice: also by %s, %s:%d", path,
                      axis->block, axis->place.source->name, axis->place.line);
}

static bool is_near(const char *word, const char *candidate)
{
    struct suggestion near = suggest_start(word);

    suggest_try(&near, candidate);
    return near.best != NULL;
}

/* A key by full name or unique ending. */
static bool find_row(struct reading *reading, const struct axis_key *at,
                     size_t *row)
{
    const struct schema *schema = &reading->experiment->schema;
    const char *name = at->key->text;
    size_t found = schema_find_ending(schema, name, row);
    struct text hint = {0};

    if (found == 1)
        return true;
    /* the options of an unknown data source are not known */
    if (reading->experiment->binding.skip_options &&
        strncmp(name, "data.options.", 13) == 0)
        return false;
    if (found == 0)
        schema_suggest_path(schema, name, &hint);
    if (hint.length == 0 && is_near(name, "label") &&
        strcmp(at->block, "sweep.list") == 0)
        text_add(&hint, "; did you mean 'label'?");
    if (found == 0)
        message_error(reading->messages, at->key->place,
                      "unknown key '%s' in '%s'%s", name, at->block,
                      text_string(&hint));
    else
        message_error(reading->messages, at->key->place,
                      "'%s' is the ending of more than one key; write the "
                      "full name",
                      name);
    text_free(&hint);
    return false;
}

/* Whether a key may be an axis at all. */
static bool can_sweep(struct reading *reading, size_t row, struct place place)
{
    const struct schema_row *found = &reading->experiment->schema.rows[row];

    if (found->key->type == KEY_BLOCK)
        message_error(reading->messages, place,
                      "'%s' is a block; an axis is one key, as %s.%s",
                      found->path, found->path, found[1].key->name);
    else if (found->key->type == KEY_SEED)
        message_error(reading->messages, place,
                      "'%s' is no axis; several seeds are 'seeds: 3' in the "
                      "sweep block, or seeds=3 on the command line",
                      found->path);
    else if ((found->key->flags & KEY_NO_SWEEP) != 0)
        message_error(reading->messages, place, "'%s' cannot be swept",
                      found->path);
    else
        return true;
    return false;
}

enum axis_use axis_find(struct reading *reading, const struct axis_key *at,
                        size_t first, size_t *row)
{
    const struct sweep *sweep = reading->sweep;
    size_t other;

    if (!find_row(reading, at, row))
        return AXIS_WRONG;
    if (!can_sweep(reading, *row, at->key->place))
        return AXIS_WRONG;
    if (is_fixed(reading, *row))
        return AXIS_OVERRIDDEN;
    other = axis_index(sweep, 0, *row);
    if (other < first) {
        axis_report_twice(reading, at, &sweep->axes[other]);
        return AXIS_WRONG;
    }
    return axis_override(reading, *row) != NULL ? AXIS_OVERRIDDEN : AXIS_USED;
}

/* The shortest ending of a key's name that no other key has. */
static const char *short_name(const struct schema *schema, size_t row)
{
    const char *path = schema->rows[row].path;
    const char *name = path + strlen(path);
    size_t found = 0, first;

    while (name > path && found != 1) {
        do
            name--;
        while (name > path && name[-1] != '.');
        found = schema_find_ending(schema, name, &first);
        if (found == 1 && first != row)
            found = 2; /* that name is another key's full one */
    }
    return name;
}

/* ---- values ------------------------------------------------------------- */

struct sweep_axis *axis_new(struct reading *reading, size_t row,
                            const struct axis_key *at, size_t room)
{
    struct sweep *sweep = reading->sweep;
    struct sweep_axis *grown = memory_resize(sweep->axes, sweep->n_axes + 1,
                                             sizeof *sweep->axes, reading->err);
    struct sweep_axis *axis;

    if (grown == NULL)
        return NULL;
    sweep->axes = grown;
    axis = &grown[sweep->n_axes++];
    *axis = (struct sweep_axis){
        .row = row,
        .place = at->key->place,
        .block = at->block,
        .short_name = short_name(&reading->experiment->schema, row),
        .nodes = memory_zeroed(room, sizeof *axis->nodes, reading->err),
        .texts = memory_zeroed(room, sizeof *axis->texts, reading->err),
    };
    if (axis->nodes == NULL || axis->texts == NULL)
        return NULL;
    axis->room = room;
    return axis;
}

bool axis_set(struct reading *reading, struct sweep_axis *axis, size_t index,
              const struct node *node)
{
    const struct schema *schema = &reading->experiment->schema;
    struct text text = {0};
    char *stolen;

    if (!value_read(&schema->rows[axis->row], node, &reading->scratch,
                    reading->messages))
        return false;
    config_write_value(schema, axis->row, &reading->scratch, &text);
    stolen = text_steal(&text, reading->err);
    reading->messages->failed = reading->messages->failed || stolen == NULL;
    text_free(&text);
    axis->nodes[index] = node;
    axis->texts[index] = stolen;
    return stolen != NULL;
}

const struct node *axis_list(struct reading *reading, size_t row,
                             const struct node *values)
{
    const char *path = reading->experiment->schema.rows[row].path;

    /* in quotes, too: inside brackets its commas need them */
    if (values->kind == NODE_SCALAR && range_is(values->text))
        return range_values(&reading->sweep->tree, values->place, values->text,
                            reading->messages);
    if (values->kind == NODE_LIST && values->first != NULL)
        return values;
    message_error(reading->messages, values->place,
                  values->kind == NODE_LIST
                      ? "the axis '%s' has no values"
                      : "the axis '%s' must be a list of values, as [1, 2]",
                  path);
    return NULL;
}

/* ---- groups ------------------------------------------------------------- */

struct sweep_group *group_new(struct reading *reading, size_t first,
                              size_t count, struct place place)
{
    struct sweep *sweep = reading->sweep;
    struct sweep_group *grown =
        memory_resize(sweep->groups, sweep->n_groups + 1, sizeof *sweep->groups,
                      reading->err);

    if (grown == NULL)
        return NULL;
    sweep->groups = grown;
    grown[sweep->n_groups] = (struct sweep_group){
        .place = place,
        .first = first,
        .n_axes = sweep->n_axes - first,
        .count = count,
    };
    for (size_t i = first; i < sweep->n_axes; i++)
        sweep->axes[i].count = count;
    return &grown[sweep->n_groups++];
}

/* A point as one text, to be compared with others. */
struct point_text {
    char *text;
    size_t index;
};

static int compare_points(const void *left, const void *right)
{
    const struct point_text *a = left, *b = right;
    int order = strcmp(a->text, b->text);

    if (order != 0)
        return order;
    return a->index < b->index ? -1 : 1;
}

static char *write_point(const struct sweep *sweep,
                         const struct sweep_group *group, size_t point,
                         struct m2_error *err)
{
    struct text text = {0};
    char *stolen;

    for (size_t i = 0; i < group->n_axes; i++) {
        const char *value = sweep->axes[group->first + i].texts[point];

        text_addf(&text, "%s\n", value == NULL ? "" : value);
    }
    stolen = text_steal(&text, err);
    text_free(&text);
    return stolen;
}

/* first[i]: the first point that equals point i. */
static int find_first(const struct sweep *sweep,
                      const struct sweep_group *group, size_t *first,
                      struct m2_error *err)
{
    struct point_text *points =
        memory_zeroed(group->count, sizeof *points, err);
    int code = points == NULL ? M2_E_MEMORY : 0;

    for (size_t i = 0; code == 0 && i < group->count; i++) {
        points[i] = (struct point_text){write_point(sweep, group, i, err), i};
        code = points[i].text == NULL ? M2_E_MEMORY : 0;
    }
    if (code == 0 && group->count > 0)
        qsort(points, group->count, sizeof *points, compare_points);
    for (size_t i = 0; code == 0 && i < group->count; i++)
        first[points[i].index] =
            i > 0 && strcmp(points[i].text, points[i - 1].text) == 0
                ? first[points[i - 1].index]
                : points[i].index;
    for (size_t i = 0; points != NULL && i < group->count; i++)
        free(points[i].text);
    free(points);
    return code;
}

static void keep_point(struct sweep *sweep, struct sweep_group *group,
                       size_t from, size_t to)
{
    for (size_t i = 0; i < group->n_axes && from != to; i++) {
        struct sweep_axis *axis = &sweep->axes[group->first + i];

        axis->nodes[to] = axis->nodes[from];
        axis->texts[to] = axis->texts[from];
        axis->texts[from] = NULL;
    }
    if (group->labels != NULL)
        group->labels[to] = group->labels[from];
}

static void drop_point(struct sweep *sweep, const struct sweep_group *group,
                       size_t point)
{
    for (size_t i = 0; i < group->n_axes; i++) {
        struct sweep_axis *axis = &sweep->axes[group->first + i];

        free(axis->texts[point]);
        axis->texts[point] = NULL;
    }
}

int group_fold(struct reading *reading, struct sweep_group *group,
               group_report *report)
{
    struct sweep *sweep = reading->sweep;
    size_t *first = memory_zeroed(group->count, sizeof *first, reading->err);
    size_t kept = 0;
    int code = first == NULL ? M2_E_MEMORY
                             : find_first(sweep, group, first, reading->err);

    for (size_t i = 0; code == 0 && report != NULL && i < group->count; i++)
        if (first[i] != i)
            report(reading, group, i, first[i]);
    for (size_t i = 0; code == 0 && i < group->count; i++) {
        if (first[i] == i)
            keep_point(sweep, group, i, kept++);
        else
            drop_point(sweep, group, i);
    }
    free(first);
    if (code != 0)
        return code;
    group->count = kept;
    for (size_t i = 0; i < group->n_axes; i++)
        sweep->axes[group->first + i].count = kept;
    return 0;
}
