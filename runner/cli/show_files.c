/* The files beside a run.json: checkpoints, last rows of metrics.csv. */
#include <stdlib.h>
#include <string.h>

#include "cli/show.h"
#include "results/csvlog.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"
#include "util/terminal.h"

enum { LAST_ROWS = 5 };

static int add_checkpoints(const struct run_entry *entry, struct text *out,
                           struct m2_error *err)
{
    struct string_list names = {0};
    char *dir = path_join(entry->path, "checkpoints", err);
    int code = dir == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && file_is_dir(dir))
        code = path_list(dir, M2_E_RESULTS, &names, err);
    if (names.count > 0)
        text_add(out, "\ncheckpoints\n");
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *path = path_join(dir, names.items[i], err);
        struct file_facts facts;
        char buffer[NUMBER_TEXT_SIZE];

        if (path == NULL)
            code = M2_E_MEMORY;
        else if (names.items[i][0] != '.' &&
                 file_get_facts(path, M2_E_RESULTS, &facts, NULL) == 0)
            text_addf(out, "  %s, %s\n", names.items[i],
                      number_print_bytes((uint64_t)facts.size, buffer));
        free(path);
    }
    string_list_free(&names);
    free(dir);
    return code;
}

/* A cell of metrics.csv for people: 6 digits.  A trace is no number, though it
 * may look like one. */
static const char *short_cell(const char *column, const char *cell,
                              char buffer[NUMBER_TEXT_SIZE])
{
    double value;
    int64_t integer;

    if (cell == NULL || *cell == '\0')
        return NULL;
    if (strcmp(column, "trace") == 0 || number_parse_int(cell, &integer) ||
        !number_parse_double(cell, &value))
        return cell;
    snprintf(buffer, NUMBER_TEXT_SIZE, "%.6g", value);
    return buffer;
}

static int fill_rows(const struct csv_table *csv, struct table *table,
                     struct m2_error *err)
{
    size_t first = csv->n_rows > LAST_ROWS ? csv->n_rows - LAST_ROWS : 0;
    const char **cells = memory_zeroed(csv->n_columns, sizeof *cells, err);
    char(*buffers)[NUMBER_TEXT_SIZE] =
        memory_zeroed(csv->n_columns, sizeof *buffers, err);
    int code = cells == NULL || buffers == NULL ? M2_E_MEMORY : 0;

    for (size_t r = first; code == 0 && r < csv->n_rows; r++) {
        for (size_t c = 0; c < csv->n_columns; c++)
            cells[c] =
                short_cell(csv->columns[c], csv->cells[r * csv->n_columns + c],
                           buffers[c]);
        code = table_add_row(table, cells, err);
    }
    free(buffers);
    free(cells);
    return code;
}

static int print_rows(const struct csv_table *csv, struct text *out,
                      struct m2_error *err)
{
    struct table_column *columns =
        memory_zeroed(csv->n_columns, sizeof *columns, err);
    struct table table = {0};
    int code = columns == NULL ? M2_E_MEMORY : 0;

    for (size_t c = 0; code == 0 && c < csv->n_columns; c++)
        columns[c] =
            (struct table_column){csv->columns[c], NULL, TABLE_RIGHT, true};
    if (code == 0)
        code = table_init(&table, columns, csv->n_columns, err);
    if (code == 0)
        code = fill_rows(csv, &table, err);
    if (code == 0) {
        text_addf(out, "\nmetrics.csv, last of %zu rows\n", csv->n_rows);
        table_print(&table, out);
    }
    table_free(&table);
    free(columns);
    return code;
}

/* A run that has just begun has no rows; a damaged file is said, not fatal. */
static int add_rows(const struct run_entry *entry, struct text *out,
                    struct m2_error *err)
{
    char *path = path_join(entry->path, "metrics.csv", err);
    struct csv_table csv;
    struct m2_error cause;
    int code = 0;

    if (path == NULL)
        return M2_E_MEMORY;
    if (file_exists(path)) {
        if (csv_table_read(path, &csv, &cause) != 0) {
            text_addf(out, "\nmetrics.csv: %s\n", cause.text);
        } else {
            if (csv.n_rows > 0)
                code = print_rows(&csv, out, err);
            csv_table_free(&csv);
        }
    }
    free(path);
    return code;
}

int show_files(const struct run_entry *entry, struct text *out,
               struct m2_error *err)
{
    int code = add_checkpoints(entry, out, err);

    return code != 0 ? code : add_rows(entry, out, err);
}
