/* Axes of a sweep: reading and checking. */
#include "sweep/axis.h"

#include <stdlib.h>
#include <string.h>

#include "config/identity.h"
#include "config/scalar.h"
#include "config/value.h"
#include "util/memory.h"
#include "util/suggest.h"

struct reading {
    const struct experiment *experiment;
    struct sweep *sweep;
    struct messages *messages;
    struct m2_error *err;
    struct config scratch; /* values are read into it to be checked */
};

/* ---- the block ---------------------------------------------------------- */

void axes_check_block(const struct experiment *experiment,
                      struct messages *messages)
{
    static const char *const known[] = {"grid", "seeds", NULL};
    static const char *const later[] = {"zip",    "list",   "exclude",
                                        "random", "params", NULL};
    const struct node *sweep = experiment->sweep;

    if (sweep == NULL)
        return;
    if (sweep->kind != NODE_MAP) {
        message_error(messages, sweep->place,
                      "'sweep' must be a mapping with grid and seeds, not %s",
                      node_kind_name(sweep));
        return;
    }
    for (const struct node *c = sweep->first; c != NULL; c = c->next) {
        struct suggestion near = suggest_start(c->key->text);
        bool is_known = false, is_later = false;

        for (size_t i = 0; known[i] != NULL; i++) {
            is_known = is_known || strcmp(known[i], c->key->text) == 0;
            suggest_try(&near, known[i]);
        }
        for (size_t i = 0; later[i] != NULL; i++)
            is_later = is_later || strcmp(later[i], c->key->text) == 0;
        if (is_later)
            message_error(messages, c->key->place,
                          "'sweep.%s' is not yet supported by this version; "
                          "grid and seeds are",
                          c->key->text);
        else if (!is_known)
            message_error(
                messages, c->key->place, "unknown key '%s' in 'sweep'%s%s%s",
                c->key->text, near.best != NULL ? "; did you mean '" : "",
                near.best != NULL ? near.best : "; axes go below 'grid'",
                near.best != NULL ? "'?" : "");
    }
}

size_t axes_read_seeds(const struct experiment *experiment,
                       struct messages *messages)
{
    static const struct key key = {
        .name = "seeds",
        .type = KEY_INT,
        .flags = KEY_NO_SWEEP,
        .low = 1,
        .high = SWEEP_MAX_RUNS,
        .initial = "1",
    };
    char path[] = "sweep.seeds";
    struct schema_row row = {.key = &key, .path = path};
    const struct node *node =
        experiment->sweep == NULL ? NULL : node_get(experiment->sweep, "seeds");
    int64_t seeds = 1;

    if (node != NULL && !value_read_int(&row, node, &seeds, messages))
        return 1;
    return (size_t)seeds;
}

/* ---- one axis ----------------------------------------------------------- */

/* The value's canonical text, or NULL after a message. */
static char *check_value(struct reading *reading, size_t row,
                         const struct node *node)
{
    const struct schema *schema = &reading->experiment->schema;
    struct text text = {0};
    char *stolen;

    if (!value_read(&schema->rows[row], node, &reading->scratch,
                    reading->messages))
        return NULL;
    config_write_value(schema, row, &reading->scratch, &text);
    stolen = text_steal(&text, reading->err);
    reading->messages->failed = reading->messages->failed || stolen == NULL;
    text_free(&text);
    return stolen;
}

static bool has_text(const struct sweep_axis *axis, const char *text)
{
    for (size_t i = 0; i < axis->count; i++)
        if (strcmp(axis->texts[i], text) == 0)
            return true;
    return false;
}

static void add_value(struct reading *reading, struct sweep_axis *axis,
                      const struct node *node)
{
    char *text = check_value(reading, axis->row, node);

    if (text == NULL)
        return;
    if (has_text(axis, text)) {
        message_warning(reading->messages, node->place,
                        "'%s' has the value %s already; left out",
                        reading->experiment->schema.rows[axis->row].path, text);
        free(text);
        return;
    }
    axis->nodes[axis->count] = node;
    axis->texts[axis->count] = text;
    axis->count++;
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

/* Room for an axis.  The sweep keeps it whatever its values are. */
static struct sweep_axis *new_axis(struct reading *reading, size_t row,
                                   struct place place, size_t room)
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
        .place = place,
        .short_name = short_name(&reading->experiment->schema, row),
        .nodes = memory_zeroed(room, sizeof *axis->nodes, reading->err),
        .texts = memory_zeroed(room, sizeof *axis->texts, reading->err),
    };
    return axis->nodes == NULL || axis->texts == NULL ? NULL : axis;
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

static int read_values(struct reading *reading, size_t row, struct place place,
                       const struct node *list)
{
    const char *path = reading->experiment->schema.rows[row].path;
    struct sweep_axis *axis;

    if (!can_sweep(reading, row, place))
        return 0;
    if (list->kind != NODE_LIST || list->first == NULL) {
        message_error(reading->messages, list->place,
                      list->kind == NODE_LIST
                          ? "the axis '%s' has no values"
                          : "the axis '%s' must be a list of values, as [1, 2]",
                      path);
        return 0;
    }
    axis = new_axis(reading, row, place, list->n_children);
    if (axis == NULL)
        return M2_E_MEMORY;
    for (const struct node *v = list->first; v != NULL; v = v->next)
        add_value(reading, axis, v);
    return 0;
}

/* ---- all axes ----------------------------------------------------------- */

/* What the command line says about the key of an axis of the file: another
 * axis, or one value, or nothing. */
static const struct override_axis *find_override(const struct reading *reading,
                                                 size_t row)
{
    const struct experiment *experiment = reading->experiment;

    for (size_t i = experiment->n_axes; i-- > 0;)
        if (experiment->axes[i].row == row)
            return &experiment->axes[i];
    return NULL;
}

static bool is_overridden(const struct reading *reading, size_t row)
{
    const struct node *node = reading->experiment->binding.nodes[row];

    return node != NULL && node->place.source->rank == RANK_COMMAND_LINE;
}

static bool has_axis(const struct sweep *sweep, size_t row)
{
    for (size_t i = 0; i < sweep->n_axes; i++)
        if (sweep->axes[i].row == row)
            return true;
    return false;
}

/* A key in the grid, by full name or unique ending. */
static bool find_row(struct reading *reading, const struct node *key,
                     size_t *row)
{
    const struct schema *schema = &reading->experiment->schema;
    size_t found = schema_find_ending(schema, key->text, row);
    struct text hint = {0};

    if (found == 1)
        return true;
    if (found == 0)
        schema_suggest_path(schema, key->text, &hint);
    message_error(reading->messages, key->place,
                  found == 0 ? "unknown key '%s' in 'sweep.grid'%s"
                             : "'%s' is the ending of more than one key; "
                               "write the full name%s",
                  key->text, text_string(&hint));
    text_free(&hint);
    return false;
}

static int read_grid_key(struct reading *reading, const struct node *values)
{
    const struct override_axis *override;
    size_t row;

    if (reading->experiment->binding.skip_options &&
        strncmp(values->key->text, "data.options.", 13) == 0)
        return 0;
    if (!find_row(reading, values->key, &row) || is_overridden(reading, row))
        return 0;
    if (has_axis(reading->sweep, row)) {
        message_error(reading->messages, values->key->place,
                      "'%s' is an axis already",
                      reading->experiment->schema.rows[row].path);
        return 0;
    }
    override = find_override(reading, row);
    if (override != NULL)
        return read_values(reading, row, override->place, override->values);
    return read_values(reading, row, values->key->place, values);
}

static int read_grid(struct reading *reading)
{
    const struct node *sweep = reading->experiment->sweep;
    const struct node *grid = sweep == NULL ? NULL : node_get(sweep, "grid");

    if (grid == NULL || scalar_is_null(grid))
        return 0;
    if (grid->kind != NODE_MAP) {
        message_error(reading->messages, grid->place,
                      "'sweep.grid' must be a mapping of keys to lists, as "
                      "'model.d_state: [16, 64]'");
        return 0;
    }
    for (const struct node *v = grid->first; v != NULL; v = v->next) {
        int code = read_grid_key(reading, v);

        if (code != 0)
            return code;
    }
    return 0;
}

static int read_override_axes(struct reading *reading)
{
    const struct experiment *experiment = reading->experiment;

    for (size_t i = 0; i < experiment->n_axes; i++) {
        const struct override_axis *axis =
            find_override(reading, experiment->axes[i].row);
        int code = 0;

        if (!has_axis(reading->sweep, axis->row))
            code = read_values(reading, axis->row, axis->place, axis->values);
        if (code != 0)
            return code;
    }
    return 0;
}

/* Both of a pair, as epochs and steps: each run could have only one. */
static void check_exclusive(const struct reading *reading)
{
    const struct schema *schema = &reading->experiment->schema;
    const struct sweep *sweep = reading->sweep;

    for (size_t i = 0; i < sweep->n_axes; i++) {
        const struct schema_row *row = &schema->rows[sweep->axes[i].row];

        if (row->key->exclusive != NULL &&
            has_axis(sweep, schema_find(schema, row->key->exclusive)))
            message_error(reading->messages, sweep->axes[i].place,
                          "'%s' and '%s' exclude each other; sweep one",
                          row->path, row->key->exclusive);
    }
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
        code = read_grid(&reading);
    if (code == 0)
        code = read_override_axes(&reading);
    if (code == 0)
        check_exclusive(&reading);
    config_free(&reading.scratch);
    return code;
}

void axes_free(struct sweep_axis *axes, size_t n_axes)
{
    for (size_t i = 0; i < n_axes; i++) {
        for (size_t k = 0; k < axes[i].count; k++)
            free(axes[i].texts[k]);
        free(axes[i].texts);
        free(axes[i].nodes);
    }
    free(axes);
}
