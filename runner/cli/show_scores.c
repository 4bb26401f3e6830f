/* The scores of a run beside those of the naive baselines. */
#include <inttypes.h>
#include <string.h>

#include "cli/show.h"
#include "util/number.h"
#include "util/terminal.h"

enum { MAX_COLUMNS = 12 };

/* Where a column's values are: GROUP.PREFIX<metric>, or of a baseline
 * baselines.PART.NAME.<metric>. */
struct score_column {
    json_t *values;
    const char *prefix;
};

struct score_table {
    struct score_column columns[MAX_COLUMNS];
    struct table_column heads[MAX_COLUMNS + 1];
    char titles[MAX_COLUMNS][48];
    size_t n;
};

__attribute__((format(printf, 4, 5))) static void
add_column(struct score_table *scores, json_t *values, const char *prefix,
           const char *title, ...)
{
    va_list arguments;

    if (json_object_size(values) == 0 || scores->n == MAX_COLUMNS)
        return;
    va_start(arguments, title);
    vsnprintf(scores->titles[scores->n], sizeof scores->titles[0], title,
              arguments);
    va_end(arguments);
    scores->columns[scores->n] = (struct score_column){values, prefix};
    scores->heads[scores->n + 1] = (struct table_column){
        scores->titles[scores->n], NULL, TABLE_RIGHT, true};
    scores->n++;
}

static void add_baselines(struct score_table *scores,
                          const struct run_entry *entry, const char *part)
{
    json_t *baselines = run_value(entry, "baselines", part);
    const char *name;
    json_t *values;

    json_object_foreach (baselines, name, values)
        add_column(scores, values, "", "%s %s", part, name);
}

static void make_columns(struct score_table *scores,
                         const struct run_entry *entry)
{
    json_t *test = run_value(entry, NULL, "test");
    const json_t *step = run_value(entry, "best", "step");

    scores->heads[0] = (struct table_column){"metric", "", TABLE_LEFT, false};
    add_column(scores, run_value(entry, NULL, "final"), "val/", "val last");
    add_column(scores, run_value(entry, NULL, "best"), "val/",
               "val best (%" JSON_INTEGER_FORMAT ")", json_integer_value(step));
    add_baselines(scores, entry, "val");
    add_column(scores, test, "test/", "test");
    if (json_object_size(test) > 0)
        add_baselines(scores, entry, "test");
}

static const json_t *value_of(const struct score_column *column,
                              const char *metric)
{
    char key[96];

    snprintf(key, sizeof key, "%s%s", column->prefix, metric);
    return json_object_get(column->values, key);
}

static int add_row(const struct score_table *scores, const char *metric,
                   struct table *table, struct m2_error *err)
{
    char buffers[MAX_COLUMNS][NUMBER_TEXT_SIZE];
    const char *cells[MAX_COLUMNS + 1] = {metric};

    for (size_t c = 0; c < scores->n; c++) {
        const json_t *value = value_of(&scores->columns[c], metric);

        if (!json_is_number(value))
            continue;
        snprintf(buffers[c], NUMBER_TEXT_SIZE, "%.6g",
                 json_number_value(value));
        cells[c + 1] = buffers[c];
    }
    return table_add_row(table, cells, err);
}

/* The metrics of the columns that are the model's, each once, in order. */
static int add_rows(const struct score_table *scores, struct table *table,
                    struct m2_error *err)
{
    struct string_list metrics = {0};
    int code = 0;

    for (size_t c = 0; code == 0 && c < scores->n; c++) {
        const struct score_column *column = &scores->columns[c];
        size_t length = strlen(column->prefix);
        const char *key;
        json_t *value;

        json_object_foreach (column->values, key, value) {
            const char *metric = key + length;

            if (code != 0 || length == 0 ||
                strncmp(key, column->prefix, length) != 0 ||
                string_list_find(&metrics, metric) != metrics.count)
                continue;
            code = string_list_add(&metrics, metric, err);
            if (code == 0)
                code = add_row(scores, metric, table, err);
        }
    }
    string_list_free(&metrics);
    return code;
}

int show_scores(const struct run_entry *entry, struct text *out,
                struct m2_error *err)
{
    struct score_table scores = {0};
    struct table table;
    int code;

    make_columns(&scores, entry);
    if (scores.n == 0)
        return 0;
    code = table_init(&table, scores.heads, scores.n + 1, err);
    if (code == 0)
        code = add_rows(&scores, &table, err);
    if (code == 0) {
        text_add(out, "\nscores\n");
        table_print(&table, out);
    }
    table_free(&table);
    return code;
}
