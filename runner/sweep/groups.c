/* The groups of a sweep: grid, zip and list, and axes of the command line. */
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "results/store.h"
#include "sweep/axis.h"
#include "util/memory.h"

enum { MAX_POINT_LABEL = 40 };

/* ---- single axes -------------------------------------------------------- */

static void report_value(struct reading *reading,
                         const struct sweep_group *group, size_t point,
                         size_t first)
{
    const struct sweep_axis *axis = &reading->sweep->axes[group->first];

    (void)first;
    message_warning(reading->messages, axis->nodes[point]->place,
                    "'%s' has the value %s already; left out",
                    reading->experiment->schema.rows[axis->row].path,
                    axis->texts[point]);
}

/* A group of one key. */
static int read_axis(struct reading *reading, size_t row,
                     const struct axis_key *at, const struct node *values)
{
    const struct node *list = axis_list(reading, row, values);
    size_t first = reading->sweep->n_axes, count = 0;
    struct sweep_axis *axis;
    struct sweep_group *group;

    if (list == NULL)
        return 0;
    axis = axis_new(reading, row, at, list->n_children);
    if (axis == NULL)
        return M2_E_MEMORY;
    for (const struct node *v = list->first; v != NULL; v = v->next)
        if (axis_set(reading, axis, count, v))
            count++;
    group = group_new(reading, first, count, at->key->place);
    return group == NULL ? M2_E_MEMORY
                         : group_fold(reading, group, report_value);
}

static int read_override(struct reading *reading,
                         const struct override_axis *override)
{
    const struct node key = {.place = override->place};
    const struct axis_key at = {"the command line", &key};

    return read_axis(reading, override->row, &at, override->values);
}

static int read_grid_key(struct reading *reading, const struct node *values)
{
    const struct axis_key at = {"sweep.grid", values->key};
    size_t row = 0;
    enum axis_use use = axis_find(reading, &at, reading->sweep->n_axes, &row);
    const struct override_axis *override;

    if (use == AXIS_USED)
        return read_axis(reading, row, &at, values);
    if (use == AXIS_WRONG)
        return 0;
    override = axis_override(reading, row);
    return override == NULL ? 0 : read_override(reading, override);
}

static int read_grid(struct reading *reading, const struct node *grid)
{
    int code = 0;

    if (grid->kind != NODE_MAP) {
        message_error(reading->messages, grid->place,
                      "'sweep.grid' must be a mapping of keys to lists, as "
                      "'model.d_state: [16, 64]'");
        return 0;
    }
    for (const struct node *v = grid->first; code == 0 && v != NULL;
         v = v->next)
        code = read_grid_key(reading, v);
    return code;
}

/* ---- zip ---------------------------------------------------------------- */

static void report_repeat(struct reading *reading,
                          const struct sweep_group *group, size_t point,
                          size_t first)
{
    const struct sweep_axis *axis = &reading->sweep->axes[group->first];
    struct place place =
        axis->nodes[point] != NULL ? axis->nodes[point]->place : group->place;

    message_warning(reading->messages, place,
                    "point %zu of this group is the same as point %zu; left "
                    "out",
                    point + 1, first + 1);
}

/* What reading a zip group has found so far. */
struct zip_state {
    const char *name; /* of its first axis */
    size_t count;     /* values of that */
    bool is_wrong;
};

static int read_zip_key(struct reading *reading, const struct node *values,
                        size_t first, struct zip_state *state)
{
    const struct axis_key at = {"sweep.zip", values->key};
    size_t row = 0, count = 0;
    enum axis_use use = axis_find(reading, &at, first, &row);
    size_t known = axis_index(reading->sweep, first, row);
    const struct node *list = NULL;
    struct sweep_axis *axis;

    if (use == AXIS_USED && known < reading->sweep->n_axes)
        axis_report_twice(reading, &at, &reading->sweep->axes[known]);
    else if (use == AXIS_USED)
        list = axis_list(reading, row, values);
    if (use == AXIS_OVERRIDDEN)
        return 0;
    if (list == NULL) {
        state->is_wrong = true;
        return 0;
    }
    if (state->name != NULL && list->n_children != state->count) {
        message_error(reading->messages, values->key->place,
                      "the keys of a zip group change together: '%s' has %zu "
                      "values, '%s' has %zu",
                      state->name, state->count, at.key->text,
                      list->n_children);
        state->is_wrong = true;
        return 0;
    }
    state->name = at.key->text;
    state->count = list->n_children;
    axis = axis_new(reading, row, &at, list->n_children);
    if (axis == NULL)
        return M2_E_MEMORY;
    for (const struct node *v = list->first; v != NULL; v = v->next)
        if (!axis_set(reading, axis, count++, v))
            state->is_wrong = true;
    return 0;
}

static int read_zip_group(struct reading *reading, const struct node *map)
{
    struct zip_state state = {0};
    size_t first = reading->sweep->n_axes;
    struct sweep_group *group;
    int code = 0;

    if (map->kind != NODE_MAP || map->first == NULL) {
        message_error(reading->messages, map->place,
                      "a zip group must be a mapping of keys to lists of "
                      "equal lengths, as {d_model: [128, 256], batch_size: "
                      "[64, 32]}");
        return 0;
    }
    for (const struct node *v = map->first; code == 0 && v != NULL; v = v->next)
        code = read_zip_key(reading, v, first, &state);
    if (code != 0 || (reading->sweep->n_axes == first && !state.is_wrong))
        return code;
    group =
        group_new(reading, first, state.is_wrong ? 0 : state.count, map->place);
    return group == NULL ? M2_E_MEMORY
                         : group_fold(reading, group, report_repeat);
}

int zip_read(struct reading *reading, const struct node *zip)
{
    int code = 0;

    if (zip->kind == NODE_MAP)
        return read_zip_group(reading, zip);
    if (zip->kind != NODE_LIST) {
        message_error(reading->messages, zip->place,
                      "'sweep.zip' must be a list of groups, as [{d_model: "
                      "[128, 256], batch_size: [64, 32]}]");
        return 0;
    }
    for (const struct node *map = zip->first; code == 0 && map != NULL;
         map = map->next)
        code = read_zip_group(reading, map);
    return code;
}

/* ---- list --------------------------------------------------------------- */

static bool read_label(struct reading *reading, const struct node *node,
                       const char **labels, size_t point)
{
    if (node->kind != NODE_SCALAR || !run_label_is_valid(node->text) ||
        strlen(node->text) > MAX_POINT_LABEL) {
        message_error(reading->messages, node->place,
                      "a label is a word of at most %d letters, digits and . "
                      "_ -: it becomes part of the run's name",
                      MAX_POINT_LABEL);
        return false;
    }
    for (size_t i = 0; i < point; i++)
        if (labels[i] != NULL && strcmp(labels[i], node->text) == 0) {
            message_error(reading->messages, node->place,
                          "point %zu of the list is called '%s', too", i + 1,
                          node->text);
            return false;
        }
    labels[point] = node->text;
    return true;
}

/* Axis of a key of a list, made where this is the first point that sets it. */
static struct sweep_axis *list_axis(struct reading *reading, size_t row,
                                    const struct axis_key *at, size_t first,
                                    size_t n_points)
{
    size_t index = axis_index(reading->sweep, first, row);

    if (index < reading->sweep->n_axes)
        return &reading->sweep->axes[index];
    return axis_new(reading, row, at, n_points);
}

struct list_state {
    const char **labels; /* (n_points) */
    size_t first, n_points, point;
    bool is_wrong;
};

static int read_list_key(struct reading *reading, const struct node *value,
                         struct list_state *state)
{
    const struct axis_key at = {"sweep.list", value->key};
    size_t row = 0;
    enum axis_use use = axis_find(reading, &at, state->first, &row);
    struct sweep_axis *axis;
    struct node *copy;

    if (use != AXIS_USED) {
        state->is_wrong = state->is_wrong || use == AXIS_WRONG;
        return 0;
    }
    axis = list_axis(reading, row, &at, state->first, state->n_points);
    copy = node_copy(&reading->sweep->tree, value); /* without its key */
    if (axis == NULL || copy == NULL)
        return M2_E_MEMORY;
    if (axis->nodes[state->point] != NULL) {
        axis_report_twice(reading, &at, axis);
        state->is_wrong = true;
    } else if (!axis_set(reading, axis, state->point, copy)) {
        state->is_wrong = true;
    }
    return 0;
}

static int read_point(struct reading *reading, const struct node *map,
                      struct list_state *state)
{
    int code = 0;

    if (map->kind != NODE_MAP || map->first == NULL) {
        message_error(reading->messages, map->place,
                      "a point of the list must be a mapping of keys to "
                      "values, as {label: wide, model.expand: 4}");
        state->is_wrong = true;
        return 0;
    }
    for (const struct node *v = map->first; code == 0 && v != NULL;
         v = v->next) {
        if (strcmp(v->key->text, "label") != 0)
            code = read_list_key(reading, v, state);
        else if (!read_label(reading, v, state->labels, state->point))
            state->is_wrong = true;
    }
    return code;
}

static int read_points(struct reading *reading, const struct node *list,
                       struct list_state *state)
{
    struct sweep_group *group;
    int code = 0;

    for (const struct node *p = list->first; code == 0 && p != NULL;
         p = p->next, state->point++)
        code = read_point(reading, p, state);
    if (code != 0)
        return code;
    group = group_new(reading, state->first, state->n_points, list->place);
    if (group == NULL)
        return M2_E_MEMORY;
    group->labels = state->labels;
    state->labels = NULL;
    if (!state->is_wrong)
        return group_fold(reading, group, report_repeat);
    group->count = 0;
    return 0;
}

int list_read(struct reading *reading, const struct node *list)
{
    struct list_state state = {
        .first = reading->sweep->n_axes,
        .n_points = list->n_children,
    };
    int code;

    if (list->kind != NODE_LIST || list->first == NULL) {
        message_error(reading->messages, list->place,
                      list->kind == NODE_LIST
                          ? "'sweep.list' has no points"
                          : "'sweep.list' must be a list of points, as "
                            "[{label: wide, model.expand: 4}]");
        return 0;
    }
    state.labels =
        memory_zeroed(state.n_points, sizeof *state.labels, reading->err);
    code =
        state.labels == NULL ? M2_E_MEMORY : read_points(reading, list, &state);
    free(state.labels);
    return code;
}

/* ---- all groups --------------------------------------------------------- */

static int read_override_axes(struct reading *reading)
{
    const struct experiment *experiment = reading->experiment;
    int code = 0;

    for (size_t i = 0; code == 0 && i < experiment->n_axes; i++) {
        const struct override_axis *override = &experiment->axes[i];
        const struct node key = {
            .place = override->place,
            .text = experiment->schema.rows[override->row].path,
        };
        const struct axis_key at = {"the command line", &key};
        const struct sweep *sweep = reading->sweep;
        size_t row;

        if (axis_index(sweep, 0, override->row) < sweep->n_axes)
            continue; /* in the place of the file's */
        if (axis_find(reading, &at, sweep->n_axes, &row) == AXIS_OVERRIDDEN)
            code = read_override(reading, override);
    }
    return code;
}

/* Both of a pair, as epochs and steps, in two groups: each run could have only
 * one. */
static void check_exclusive(const struct reading *reading)
{
    const struct schema *schema = &reading->experiment->schema;
    const struct sweep *sweep = reading->sweep;

    for (size_t i = 0; i < sweep->n_axes; i++) {
        const struct schema_row *row = &schema->rows[sweep->axes[i].row];
        size_t other =
            row->key->exclusive == NULL
                ? sweep->n_axes
                : axis_index(sweep, 0,
                             schema_find(schema, row->key->exclusive));
        bool is_list = other < sweep->n_axes &&
                       strcmp(sweep->axes[i].block, "sweep.list") == 0 &&
                       strcmp(sweep->axes[other].block, "sweep.list") == 0;

        if (other < sweep->n_axes && !is_list)
            message_error(reading->messages, sweep->axes[i].place,
                          "'%s' and '%s' exclude each other; sweep one",
                          row->path, row->key->exclusive);
    }
}

static int read_block(struct reading *reading, const struct node *sweep)
{
    static const struct {
        const char *name;
        int (*read)(struct reading *reading, const struct node *node);
    } parts[] = {
        {"grid", read_grid},
        {"zip", zip_read},
        {"list", list_read},
    };
    int code = 0;

    if (sweep == NULL || sweep->kind != NODE_MAP)
        return 0;
    for (size_t i = 0; code == 0 && i < sizeof parts / sizeof *parts; i++) {
        const struct node *node = node_get(sweep, parts[i].name);

        if (node != NULL && !scalar_is_null(node))
            code = parts[i].read(reading, node);
    }
    return code != 0 ? code : random_read(reading, sweep);
}

int axes_read(const struct experiment *experiment, struct sweep *sweep,
              struct messages *messages, struct m2_error *err)
{
    struct reading reading = {
        .experiment = experiment,
        .sweep = sweep,
        .messages = messages,
        .err = err,
    };
    int code = config_copy(&experiment->config, &reading.scratch, err);

    if (code == 0)
        code = read_block(&reading, experiment->sweep);
    if (code == 0)
        code = read_override_axes(&reading);
    if (code == 0)
        check_exclusive(&reading);
    config_free(&reading.scratch);
    return code;
}

void axes_free(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_axes; i++) {
        struct sweep_axis *axis = &sweep->axes[i];

        for (size_t k = 0; k < axis->room; k++)
            free(axis->texts[k]);
        free(axis->texts);
        free(axis->nodes);
    }
    for (size_t i = 0; i < sweep->n_groups; i++)
        free(sweep->groups[i].labels);
    free(sweep->axes);
    free(sweep->groups);
}
