/* Scores of a run that is not finished: from its metrics.csv. */
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "results/csvlog.h"
#include "results/metric.h"
#include "util/file.h"
#include "util/json.h"
#include "util/number.h"
#include "util/path.h"

static const char *cell_of(const struct csv_table *table, size_t row,
                           int column)
{
    return table->cells[row * table->n_columns + (size_t)column];
}

/* The row where the metric is best so far; false when it has no value yet. */
static bool find_best(const struct csv_table *table, const char *metric,
                      size_t *out)
{
    int column = csv_table_column(table, metric);
    bool higher = metric_is_higher_better(metric), any = false;
    double best = 0, value;

    for (size_t row = 0; column >= 0 && row < table->n_rows; row++) {
        if (!number_parse_double(cell_of(table, row, column), &value) ||
            (any && !(higher ? value > best : value < best)))
            continue;
        best = value;
        *out = row;
        any = true;
    }
    return any;
}

/* The columns of a row that begin with `part`; a name that is no UTF-8 is none
 * that a run writes. */
static json_t *row_object(const struct csv_table *table, size_t row,
                          const char *part)
{
    struct json_builder object = json_build();

    for (size_t c = 0; c < table->n_columns; c++) {
        const char *name = table->columns[c];
        double value;

        if (number_parse_double(cell_of(table, row, (int)c), &value) &&
            strncmp(name, part, strlen(part)) == 0 && text_is_utf8(name))
            json_add(&object, name, json_real(value));
    }
    return json_built(&object);
}

static bool set_best(struct run_entry *entry, const struct csv_table *table,
                     size_t row)
{
    int column = csv_table_column(table, "step");
    json_t *best = row_object(table, row, "val/");
    int64_t step;

    if (column >= 0 && number_parse_int(cell_of(table, row, column), &step) &&
        json_object_set_new(best, "step", json_integer(step)) != 0)
        best = json_drop(best);
    return json_object_set_new(entry->record, "best", best) == 0;
}

static int set_scores(struct run_entry *entry, const struct csv_table *table,
                      struct m2_error *err)
{
    const char *metric = json_string_value(run_value(entry, NULL, "metric"));
    size_t row = 0;
    bool ok = true;

    if (metric != NULL && find_best(table, metric, &row))
        ok = set_best(entry, table, row);
    ok = ok && json_object_set_new(
                   entry->record, "final",
                   row_object(table, table->n_rows - 1, "train/")) == 0;
    return ok ? 0 : m2_fail(err, M2_E_MEMORY, "out of memory");
}

int compare_add_scores(struct run_entry *entry, struct m2_error *err)
{
    struct csv_table table = {0};
    char *path;
    int code = 0;

    if (entry->published || entry->record == NULL)
        return 0;
    path = path_join(entry->path, "metrics.csv", err);
    if (path == NULL)
        return M2_E_MEMORY;
    if (file_exists(path) && csv_table_read(path, &table, NULL) == 0 &&
        table.n_rows > 0)
        code = set_scores(entry, &table, err);
    csv_table_free(&table);
    free(path);
    return code;
}
