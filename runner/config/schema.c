/* From tables to rows: every key with its full name, and how to find one. */
#include "config/schema.h"

#include <stdlib.h>
#include <string.h>

#include "config/value.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/suggest.h"

/* ---- making ------------------------------------------------------------- */

static int add_row(struct schema *schema, const struct key *key,
                   const char *block, struct m2_error *err)
{
    struct schema_row row = {.key = key};
    struct text path = {0};

    if (array_reserve(&schema->rows, &schema->capacity, schema->n_rows + 1,
                      sizeof *schema->rows, err) != 0)
        return M2_E_MEMORY;
    text_addf(&path, "%s%s%s", block, block[0] == '\0' ? "" : ".", key->name);
    row.path = text_steal(&path, err);
    if (row.path == NULL)
        return M2_E_MEMORY;
    for (const char *p = row.path; *p != '\0'; p++)
        row.depth += *p == '.';
    schema->rows[schema->n_rows++] = row;
    return 0;
}

static int add_rows(struct schema *schema, const struct key *keys,
                    const char *block, const char *model_type,
                    struct m2_error *err);

/* The keys below a block: of the table, the model type, or the plugin. */
static int add_block(struct schema *schema, const struct key *key,
                     const char *model_type, struct m2_error *err)
{
    const struct key *keys = key->block;
    const char *path = schema->rows[schema->n_rows - 1].path;

    if (strcmp(path, "model") == 0)
        keys = schema_model(model_type);
    else if (strcmp(path, "data.options") == 0)
        keys = schema->options;
    return add_rows(schema, keys, path, model_type, err);
}

static int add_rows(struct schema *schema, const struct key *keys,
                    const char *block, const char *model_type,
                    struct m2_error *err)
{
    for (const struct key *key = keys; key->name != NULL; key++) {
        int code = add_row(schema, key, block, err);

        if (code == 0 && key->type == KEY_BLOCK)
            code = add_block(schema, key, model_type, err);
        if (code != 0)
            return code;
    }
    return 0;
}

/* The plugin's option table as keys. */
static int make_options(struct schema *schema, const struct m2_option *options,
                        struct m2_error *err)
{
    size_t n = 0;

    while (options != NULL && options[n].name != NULL)
        n++;
    schema->options = memory_zeroed(n + 1, sizeof *schema->options, err);
    if (schema->options == NULL)
        return M2_E_MEMORY;
    schema->n_options = n;
    for (size_t i = 0; i < n; i++)
        schema->options[i] = (struct key){
            .name = options[i].name,
            .type = KEY_OPTION,
            .offset = i,
            .initial = options[i].initial,
            .low = options[i].low,
            .high = options[i].high,
            .help = options[i].help != NULL ? options[i].help : "",
            .option = &options[i],
        };
    return 0;
}

int schema_init(struct schema *schema, const char *model_type,
                const struct m2_option *options, struct m2_error *err)
{
    int code;

    *schema = (struct schema){0};
    code = make_options(schema, options, err);
    if (code == 0)
        code = add_rows(schema, schema_top, "", model_type, err);
    if (code == 0)
        code = value_set_defaults(schema, &schema->defaults, err);
    if (code != 0)
        schema_free(schema);
    return code;
}

void schema_free(struct schema *schema)
{
    for (size_t i = 0; i < schema->n_rows; i++)
        free(schema->rows[i].path);
    free(schema->rows);
    free(schema->options);
    config_free(&schema->defaults);
    *schema = (struct schema){0};
}

/* The key of a table whose name is the first `length` bytes of `name`. */
static const struct key *find_in_table(const struct key *table,
                                       const char *name, size_t length)
{
    for (; table->name != NULL; table++)
        if (strlen(table->name) == length &&
            memcmp(table->name, name, length) == 0)
            return table;
    return NULL;
}

bool schema_changes_results(const char *path)
{
    const struct key *table = schema_top, *key = NULL;

    /* the keys of a model and the options of a source always count, and no
     * table lists them */
    while (table != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");

        key = find_in_table(table, path, length);
        if (key == NULL)
            return true;
        table = key->type == KEY_BLOCK ? key->block : NULL;
        path += length + (path[length] == '.');
    }
    return key == NULL || *path != '\0' || (key->flags & KEY_NO_IDENTITY) == 0;
}

void *schema_member(const struct key *key, struct config *config)
{
    if (key->type == KEY_OPTION)
        return config->data.options + key->offset;
    return (char *)config + key->offset;
}

/* ---- finding ------------------------------------------------------------ */

size_t schema_find(const struct schema *schema, const char *path)
{
    size_t i = 0;

    while (i < schema->n_rows && strcmp(schema->rows[i].path, path) != 0)
        i++;
    return i;
}

size_t schema_find_ending(const struct schema *schema, const char *ending,
                          size_t *row)
{
    size_t exact = schema_find(schema, ending);
    size_t length = strlen(ending), found = 0;

    if (exact < schema->n_rows) {
        *row = exact;
        return 1;
    }
    for (size_t i = 0; i < schema->n_rows; i++) {
        const char *path = schema->rows[i].path;
        size_t size = strlen(path);

        if (size > length && path[size - length - 1] == '.' &&
            strcmp(path + size - length, ending) == 0 && found++ == 0)
            *row = i;
    }
    return found;
}

/* ---- suggesting --------------------------------------------------------- */

/* The part of a row's path before the key's own name. */
static bool is_in_block(const struct schema_row *row, const char *block)
{
    size_t length = strlen(row->path) - strlen(row->key->name);

    if (length == 0)
        return block[0] == '\0';
    return strlen(block) == length - 1 &&
           strncmp(row->path, block, length - 1) == 0;
}

/* A slip of one letter inside the block: likelier than a habit. */
static size_t find_by_slip(const struct schema *schema, const char *block,
                           const char *name)
{
    struct suggestion near = suggest_start(name);
    size_t found = schema->n_rows;

    for (size_t i = 0; strlen(name) > 3 && i < schema->n_rows; i++) {
        const char *before = near.best;

        if (is_in_block(&schema->rows[i], block))
            suggest_try(&near, schema->rows[i].key->name);
        if (near.best != before && near.distance <= 1)
            found = i;
    }
    return found;
}

/* A key that people call by this name, or that has it in another block.  Keys
 * of the same block come first. */
static size_t find_by_habit(const struct schema *schema, const char *block,
                            const char *name)
{
    size_t n = schema->n_rows;

    for (size_t i = 0; i < n; i++)
        if (is_in_block(&schema->rows[i], block) &&
            suggest_is_listed(schema->rows[i].key->habits, name))
            return i;
    for (size_t i = 0; i < n; i++)
        if (strcmp(schema->rows[i].key->name, name) == 0)
            return i;
    for (size_t i = 0; i < n; i++)
        if (suggest_is_listed(schema->rows[i].key->habits, name))
            return i;
    return n;
}

/* The nearest key of the block, else of the file. */
static size_t find_by_spelling(const struct schema *schema, const char *block,
                               const char *name)
{
    for (int anywhere = 0; anywhere < 2; anywhere++) {
        struct suggestion near = suggest_start(name);
        size_t found = schema->n_rows;

        for (size_t i = 0; i < schema->n_rows; i++) {
            const char *before = near.best;

            if (anywhere || is_in_block(&schema->rows[i], block))
                suggest_try(&near, schema->rows[i].key->name);
            if (near.best != before)
                found = i;
        }
        if (found < schema->n_rows)
            return found;
    }
    return schema->n_rows;
}

static size_t find_near(const struct schema *schema, const char *block,
                        const char *name)
{
    size_t found = find_by_slip(schema, block, name);

    if (found == schema->n_rows)
        found = find_by_habit(schema, block, name);
    if (found == schema->n_rows)
        found = find_by_spelling(schema, block, name);
    return found;
}

/* The options of a data source are few, and nobody knows them by heart. */
static void list_options(const struct schema *schema, struct text *out)
{
    for (size_t i = 0; i < schema->n_options; i++)
        text_addf(out, "%s%s", i == 0 ? "; the options are " : ", ",
                  schema->options[i].name);
}

void schema_suggest(const struct schema *schema, const char *block,
                    const char *name, struct text *out)
{
    size_t found = find_near(schema, block, name);
    const struct schema_row *row = &schema->rows[found];

    if (found < schema->n_rows)
        text_addf(out, "; did you mean '%s'?",
                  is_in_block(row, block) ? row->key->name : row->path);
    else if (strcmp(block, "data.options") == 0)
        list_options(schema, out);
}

void schema_suggest_path(const struct schema *schema, const char *path,
                         struct text *out)
{
    const char *dot = strrchr(path, '.');
    struct text block = {0};
    size_t found;

    if (dot != NULL)
        text_add_bytes(&block, path, (size_t)(dot - path));
    found =
        find_near(schema, text_string(&block), dot == NULL ? path : dot + 1);
    if (found < schema->n_rows)
        text_addf(out, "; did you mean '%s'?", schema->rows[found].path);
    text_free(&block);
}

void schema_describe_range(const struct key *key, struct text *out)
{
    char low[NUMBER_TEXT_SIZE], high[NUMBER_TEXT_SIZE];
    bool open_low = (key->flags & KEY_OPEN_LOW) != 0;
    bool open_high = (key->flags & KEY_OPEN_HIGH) != 0;
    bool has_high = key->high < 1e9; /* beyond: only there to be finite */

    number_print_double(key->low, low);
    number_print_double(key->high, high);
    if (has_high && !open_low && !open_high) {
        text_addf(out, "from %s to %s", low, high);
        return;
    }
    text_addf(out, "%s %s", open_low ? "greater than" : "at least", low);
    if (has_high)
        text_addf(out, " and %s %s", open_high ? "less than" : "at most", high);
}
