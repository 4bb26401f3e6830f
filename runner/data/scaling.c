/* Scaling tables: fitting, finding, text form. */
#include "data/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "util/memory.h"
#include "util/number.h"

void scaling_table_free(struct dataset_scaling_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->n; i++) {
        free(table->entries[i].series);
        free(table->entries[i].column);
    }
    free(table->entries);
    *table = (struct dataset_scaling_table){0};
}

int scaling_table_add(struct dataset_scaling_table *table, const char *series,
                      const char *column, double shift, double spread,
                      struct m2_error *err)
{
    struct scaling_entry entry = {.shift = shift, .spread = spread};

    if (array_reserve(&table->entries, &table->capacity, table->n + 1,
                      sizeof entry, err) != 0)
        return M2_E_MEMORY;
    entry.series = memory_string(series, err);
    entry.column = memory_string(column, err);
    if (entry.series == NULL || entry.column == NULL) {
        free(entry.series);
        free(entry.column);
        return M2_E_MEMORY;
    }
    table->entries[table->n++] = entry;
    return M2_OK;
}

int scaling_table_copy(const struct dataset_scaling_table *from,
                       struct dataset_scaling_table *to, struct m2_error *err)
{
    struct dataset_scaling_table copy = {0};

    for (size_t i = 0; i < from->n; i++) {
        const struct scaling_entry *e = &from->entries[i];
        if (scaling_table_add(&copy, e->series, e->column, e->shift, e->spread,
                              err) != M2_OK) {
            scaling_table_free(&copy);
            return M2_E_MEMORY;
        }
    }
    *to = copy;
    return M2_OK;
}

static int compare_entries(const void *a, const void *b)
{
    const struct scaling_entry *x = a, *y = b;
    int order = strcmp(x->column, y->column);

    return order != 0 ? order : strcmp(x->series, y->series);
}

void scaling_table_sort(struct dataset_scaling_table *table)
{
    if (table->n > 1)
        qsort(table->entries, table->n, sizeof *table->entries,
              compare_entries);
}

/* Compares a wanted (series, column) with an entry. */
struct wanted {
    const char *series, *column;
};

static int compare_wanted(const void *a, const void *b)
{
    const struct wanted *wanted = a;
    const struct scaling_entry *entry = b;
    int order = strcmp(wanted->column, entry->column);

    return order != 0 ? order : strcmp(wanted->series, entry->series);
}

const struct scaling_entry *
scaling_table_find(const struct dataset_scaling_table *table,
                   const char *series, const char *column)
{
    const struct wanted tries[] = {{series, column},
                                   {SCALING_ALL_SERIES, column}};
    const struct scaling_entry *found = NULL;

    for (size_t i = 0; i < 2 && found == NULL && table->n > 0; i++)
        found = bsearch(&tries[i], table->entries, table->n,
                        sizeof *table->entries, compare_wanted);
    return found;
}

int scaling_table_print(const struct dataset_scaling_table *table,
                        struct text *out, struct m2_error *err)
{
    char shift[NUMBER_TEXT_SIZE], spread[NUMBER_TEXT_SIZE];

    text_add(out, "[");
    for (size_t i = 0; i < table->n; i++) {
        const struct scaling_entry *entry = &table->entries[i];
        text_add(out, i == 0 ? "[" : ",\n[");
        text_add_json(out, entry->series);
        text_add(out, ",");
        text_add_json(out, entry->column);
        text_addf(out, ",%s,%s]", number_print_double(entry->shift, shift),
                  number_print_double(entry->spread, spread));
    }
    text_add(out, "]");
    return text_check(out, err);
}

static int parse_entry(const json_t *item, struct dataset_scaling_table *table,
                       const char *where, struct m2_error *err)
{
    const json_t *shift = json_array_get(item, 2);
    const json_t *spread = json_array_get(item, 3);
    const char *series = json_string_value(json_array_get(item, 0));
    const char *column = json_string_value(json_array_get(item, 1));

    if (json_array_size(item) != 4 || series == NULL || column == NULL ||
        !json_is_number(shift) || !json_is_number(spread) ||
        json_number_value(spread) < 0.0)
        return m2_fail(err, M2_E_DATA,
                       "%s: entry %zu of the scaling is not [series, column, "
                       "shift, spread]",
                       where, table->n + 1);
    return scaling_table_add(table, series, column, json_number_value(shift),
                             json_number_value(spread), err);
}

int scaling_table_parse(const char *text, const char *where,
                        struct dataset_scaling_table *out, struct m2_error *err)
{
    struct dataset_scaling_table table = {0};
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    int rc = M2_OK;

    if (root == NULL || !json_is_array(root))
        rc = m2_fail(err, M2_E_DATA, "%s: the scaling is no JSON list: %s",
                     where, root == NULL ? error.text : "another type");
    for (size_t i = 0; rc == M2_OK && i < json_array_size(root); i++)
        rc = parse_entry(json_array_get(root, i), &table, where, err);
    json_decref(root);
    if (rc != M2_OK) {
        scaling_table_free(&table);
        return rc;
    }
    scaling_table_sort(&table);
    *out = table;
    return M2_OK;
}

void scaling_fit_start(struct scaling_fit *fit, enum scale_kind kind)
{
    *fit =
        (struct scaling_fit){.kind = kind, .low = INFINITY, .high = -INFINITY};
}

void scaling_fit_turn(struct scaling_fit *fit)
{
    fit->pass = 1;
    fit->mean = fit->n > 0 ? fit->sum / (double)fit->n : 0.0;
}

void scaling_fit_add(struct scaling_fit *fit, const double *values, int64_t n,
                     int64_t step)
{
    for (int64_t i = 0; i < n; i++) {
        double x = values[i * step];
        if (isnan(x))
            continue;
        if (fit->pass == 1) {
            fit->squares += (x - fit->mean) * (x - fit->mean);
            continue;
        }
        fit->n++;
        fit->sum += x;
        fit->low = x < fit->low ? x : fit->low;
        fit->high = x > fit->high ? x : fit->high;
    }
}

void scaling_fit_result(const struct scaling_fit *fit, double *shift,
                        double *spread)
{
    *shift = 0.0;
    *spread = 1.0;
    if (fit->kind == SCALE_NONE || fit->n == 0)
        return;
    *shift = fit->low;
    *spread = 0.0;
    if (fit->low == fit->high)
        return;
    *spread = fit->high - fit->low;
    if (fit->kind == SCALE_ZSCORE) {
        *shift = fit->mean;
        *spread = sqrt(fit->squares / (double)fit->n);
    }
}

double scaling_apply(double value, double shift, double spread)
{
    /* A value that is missing stays missing, whatever the spread. */
    if (spread == 0.0)
        return isnan(value) ? value : 0.0;
    return (value - shift) / spread;
}
