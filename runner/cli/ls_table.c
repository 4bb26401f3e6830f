/* The table of `m2run ls`: which columns, and what is in their cells. */
#include "cli/ls_table.h"

#include <string.h>

#include "results/settings.h"
#include "results/query.h"
#include "util/terminal.h"

enum { MAX_COLUMNS = 64 };

/* ---- columns ------------------------------------------------------------- */

/* Facts before and after the configuration's columns: for people, for
 * programs. */
static const char *const text_before[] = {"experiment", "run",  "state",
                                          "progress",   "best", NULL};
static const char *const text_after[] = {"seconds", "reason", NULL};
static const char *const data_before[] = {"experiment", "run",       "state",
                                          "step",       "steps",     "metric",
                                          "best",       "best_step", NULL};
static const char *const data_after[] = {
    "started", "finished", "seconds", "samples_per_s", "parameters",
    "backend", "host",     "reason",  "path",          NULL};

struct ls_columns {
    struct run_key keys[MAX_COLUMNS];
    struct table_column columns[MAX_COLUMNS];
    size_t n;
};

/* The metric of all runs, or "best" when they differ. */
static const char *best_title(const struct run_list *list)
{
    const char *title = NULL;

    for (size_t i = 0; i < list->n; i++) {
        const char *metric =
            json_string_value(run_value(&list->entries[i], NULL, "metric"));

        if (metric == NULL)
            continue;
        if (title != NULL && strcmp(title, metric) != 0)
            return "best";
        title = metric;
    }
    return title != NULL ? title : "best";
}

static bool is_number_column(const struct run_list *list,
                             const struct run_key *key)
{
    bool any = false;

    for (size_t i = 0; i < list->n; i++) {
        char buffer[NUMBER_TEXT_SIZE];
        const char *text = run_key_text(key, &list->entries[i], buffer);
        double value;

        if (text == NULL || run_text_is_missing(key, text))
            continue;
        if (!number_parse_double(text, &value))
            return false;
        any = true;
    }
    return any;
}

static void add_column(struct ls_columns *out, const struct run_list *list,
                       enum run_key_kind kind, const char *name)
{
    struct run_key *key = &out->keys[out->n];
    const char *dot;
    bool number;

    if (out->n == MAX_COLUMNS)
        return;
    key->kind = kind;
    snprintf(key->name, sizeof key->name, "%s", name);
    dot = kind == RUN_KEY_CONFIG ? strrchr(key->name, '.') : NULL;
    number = is_number_column(list, key);
    out->columns[out->n++] = (struct table_column){
        .key = key->name,
        .title = strcmp(name, "best") == 0       ? best_title(list)
                 : strcmp(name, "progress") == 0 ? "step"
                 : strcmp(name, "seconds") == 0  ? "took"
                 : dot != NULL                   ? dot + 1
                                                 : NULL,
        .align =
            number || strcmp(name, "progress") == 0 ? TABLE_RIGHT : TABLE_LEFT,
        .is_number = number,
    };
}

/* A column of nothing is no column for people. */
static bool is_empty(const struct run_list *list, const char *fact)
{
    struct run_key key = {.kind = RUN_KEY_FACT};
    char buffer[NUMBER_TEXT_SIZE];

    snprintf(key.name, sizeof key.name, "%s", fact);
    for (size_t i = 0; i < list->n; i++) {
        const char *text = run_key_text(&key, &list->entries[i], buffer);

        if (text != NULL && *text != '\0')
            return false;
    }
    return true;
}

static int make_columns(const struct run_list *list, bool as_data,
                        struct ls_columns *out, struct m2_error *err)
{
    const char *const *before = as_data ? data_before : text_before;
    const char *const *after = as_data ? data_after : text_after;
    struct string_list keys;
    int code = run_list_differing_keys(list, true, &keys, err);

    out->n = 0;
    for (; *before != NULL; before++)
        if (as_data || !is_empty(list, *before))
            add_column(out, list, RUN_KEY_FACT, *before);
    for (size_t i = 0; i < keys.count; i++)
        if (strcmp(keys.items[i], "name") != 0)
            add_column(out, list, RUN_KEY_CONFIG, keys.items[i]);
    for (; *after != NULL; after++)
        if (as_data || !is_empty(list, *after))
            add_column(out, list, RUN_KEY_FACT, *after);
    string_list_free(&keys);
    return code;
}

/* ---- cells --------------------------------------------------------------- */

/* For people: 5 digits, durations, one line.  Of facts only: a damaged record
 * may have a key of the configuration by any name. */
static const char *shorten(const struct run_key *key, const char *text,
                           char buffer[NUMBER_TEXT_SIZE], struct text *line)
{
    const char *name = key->name;
    double value;

    if (key->kind != RUN_KEY_FACT)
        return text;
    if (strcmp(name, "best") == 0 && number_parse_double(text, &value)) {
        snprintf(buffer, NUMBER_TEXT_SIZE, "%.5g", value);
        return buffer;
    }
    if (strcmp(name, "seconds") == 0 && number_parse_double(text, &value))
        return number_print_duration(value, buffer);
    if (strcmp(name, "reason") == 0) {
        text_clear(line);
        for (; *text != '\0'; text++)
            text_add_char(line, *text == '\n' ? ' ' : *text);
        return text_string(line);
    }
    return text;
}

static int add_row(struct table *table, const struct ls_columns *columns,
                   const struct run_entry *entry, bool as_data,
                   struct m2_error *err)
{
    char buffers[MAX_COLUMNS][NUMBER_TEXT_SIZE];
    const char *cells[MAX_COLUMNS];
    struct text line = {0};
    int code;

    for (size_t c = 0; c < columns->n; c++) {
        cells[c] = run_key_text(&columns->keys[c], entry, buffers[c]);
        if (cells[c] != NULL &&
            run_text_is_missing(&columns->keys[c], cells[c]))
            cells[c] = NULL;
        if (cells[c] != NULL && !as_data)
            cells[c] = shorten(&columns->keys[c], cells[c], buffers[c], &line);
    }
    code = table_add_row(table, cells, err);
    text_free(&line);
    return code;
}

int ls_table_write(const struct run_list *list, enum ls_format format,
                   size_t limit, struct text *out, struct m2_error *err)
{
    bool as_data = format != LS_TEXT;
    struct ls_columns columns;
    struct table table = {0};
    int code = make_columns(list, as_data, &columns, err);

    if (code == 0)
        code = table_init(&table, columns.columns, columns.n, err);
    for (size_t i = 0; code == 0 && i < list->n; i++)
        if (limit == 0 || i < limit)
            code = add_row(&table, &columns, &list->entries[i], as_data, err);
    if (code == 0 && format == LS_JSON)
        table_json(&table, out);
    else if (code == 0 && format == LS_CSV)
        table_csv(&table, out);
    else if (code == 0 && list->n > 0)
        table_print(&table, out);
    table_free(&table);
    return code == 0 ? text_check(out, err) : code;
}
