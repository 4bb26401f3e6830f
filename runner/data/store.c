/* Reading the rows of a source into column arrays. */
#include "data/store.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* Room for `needed` rows in every array of the series. */
static int reserve(struct store_series *series, size_t n_columns, size_t needed,
                   struct m2_error *err)
{
    size_t capacity = series->capacity;

    if (needed <= capacity)
        return M2_OK;
    capacity = capacity < 512 ? 1024 : capacity;
    while (capacity < needed)
        if (!size_multiply(capacity, 2, &capacity))
            return m2_fail(err, M2_E_MEMORY, "too many rows");
    int64_t *times = memory_resize(series->times, capacity, sizeof *times, err);
    if (times == NULL)
        return M2_E_MEMORY;
    series->times = times;
    uint8_t *starts = memory_resize(series->starts, capacity, 1, err);
    if (starts == NULL)
        return M2_E_MEMORY;
    series->starts = starts;
    for (size_t c = 0; c < n_columns; c++) {
        double *values =
            memory_resize(series->values[c], capacity, sizeof *values, err);
        if (values == NULL)
            return M2_E_MEMORY;
        series->values[c] = values;
    }
    series->capacity = capacity;
    return M2_OK;
}

int store_append(struct store_series *series, size_t n_columns, int64_t time,
                 bool start, const double *values, struct m2_error *err)
{
    int rc = reserve(series, n_columns, series->n + 1, err);

    if (rc != M2_OK)
        return rc;
    series->times[series->n] = time;
    series->starts[series->n] = start;
    for (size_t c = 0; c < n_columns; c++)
        series->values[c][series->n] = values[c];
    series->n++;
    return M2_OK;
}

static int add_roll(struct store_series *series, int64_t time, const char *id,
                    struct m2_error *err)
{
    struct store_roll roll = {.time_ns = time, .from = series->last_id};

    if (array_reserve(&series->rolls, &series->rolls_capacity,
                      series->n_rolls + 1, sizeof roll, err) != 0)
        return M2_E_MEMORY;
    roll.to = memory_string(id, err);
    series->last_id = roll.to == NULL ? NULL : memory_string(id, err);
    series->rolls[series->n_rolls++] = roll;
    return series->last_id == NULL ? M2_E_MEMORY : M2_OK;
}

/* Remembers where the contract changes: a break, even if it is not marked as
 * one. */
static int follow_ids(struct store_series *series,
                      const struct m2_data_next *block, struct m2_error *err)
{
    int rc = M2_OK;

    for (size_t i = 0; i < block->n_rows_out && rc == M2_OK; i++) {
        const char *id = block->ids_out[i];
        if (series->last_id == NULL) {
            series->last_id = memory_string(id, err);
            rc = series->last_id == NULL ? M2_E_MEMORY : M2_OK;
        } else if (strcmp(series->last_id, id) != 0) {
            series->starts[series->n - block->n_rows_out + i] = 1;
            rc = add_roll(series, block->times_out[i], id, err);
        }
    }
    return rc;
}

static int append_block(struct store *store, const size_t *columns,
                        const struct m2_data_next *block, size_t width,
                        struct m2_error *err)
{
    struct store_series *series = &store->series[block->series_out];
    size_t rows = block->n_rows_out, n;

    if (!size_add(series->n, rows, &n))
        return m2_fail(err, M2_E_MEMORY, "too many rows");
    int rc = reserve(series, store->columns.count, n, err);
    if (rc != M2_OK)
        return rc;
    memcpy(series->times + series->n, block->times_out, rows * sizeof(int64_t));
    for (size_t i = 0; i < rows; i++)
        series->starts[series->n + i] =
            block->marks_out != NULL &&
            (block->marks_out[i] & M2_MARK_BREAK) != 0;
    for (size_t c = 0; c < store->columns.count; c++) {
        double *to = series->values[c] + series->n;
        const double *from = block->values_out + columns[c];
        for (size_t i = 0; i < rows; i++)
            to[i] = from[i * width];
    }
    series->n = n;
    return block->ids_out == NULL ? M2_OK : follow_ids(series, block, err);
}

static int prepare(const struct m2_data_info *info, struct store *store,
                   struct m2_error *err)
{
    size_t n_columns = store->columns.count;

    store->series =
        memory_zeroed(info->n_series_out, sizeof *store->series, err);
    if (store->series == NULL)
        return M2_E_MEMORY;
    store->n_series = info->n_series_out;
    for (size_t i = 0; i < info->n_series_out; i++) {
        struct store_series *series = &store->series[i];
        series->name = memory_string(info->series_out[i].name, err);
        series->step_ns = info->series_out[i].step_ns;
        series->stamp = info->series_out[i].stamp;
        series->values = memory_zeroed(n_columns, sizeof(double *), err);
        if (series->name == NULL || (series->values == NULL && n_columns > 0))
            return M2_E_MEMORY;
    }
    return M2_OK;
}

static int read_all(struct data_source *source, struct store *store,
                    const size_t *columns, struct m2_error *err)
{
    struct m2_data_next block;
    int rc;

    do {
        rc = source_next(source, &block, err);
        if (rc == M2_OK && block.n_rows_out > 0)
            rc = append_block(store, columns, &block,
                              source->info.n_columns_out, err);
    } while (rc == M2_OK && block.n_rows_out > 0);
    return rc;
}

int store_read(struct data_source *source, const bool *wanted,
               struct store *out, struct m2_error *err)
{
    const struct m2_data_info *info = &source->info;
    struct store store = {0};
    size_t *columns = memory_zeroed(info->n_columns_out, sizeof *columns, err);
    int rc = columns == NULL && info->n_columns_out > 0 ? M2_E_MEMORY : M2_OK;

    for (size_t c = 0; c < info->n_columns_out && rc == M2_OK; c++) {
        if (wanted != NULL && !wanted[c])
            continue;
        columns[store.columns.count] = c;
        rc = string_list_add(&store.columns, info->columns_out[c], err);
    }
    if (rc == M2_OK)
        rc = prepare(info, &store, err);
    if (rc == M2_OK)
        rc = read_all(source, &store, columns, err);
    free(columns);
    if (rc != M2_OK) {
        store_free(&store);
        return rc;
    }
    *out = store;
    return M2_OK;
}

static void series_free(struct store_series *series, size_t n_columns)
{
    for (size_t c = 0; c < n_columns && series->values != NULL; c++)
        free(series->values[c]);
    for (size_t i = 0; i < series->n_rolls; i++) {
        free(series->rolls[i].from);
        free(series->rolls[i].to);
    }
    free(series->values);
    free(series->rolls);
    free(series->name);
    free(series->last_id);
    free(series->times);
    free(series->starts);
}

void store_free(struct store *store)
{
    for (size_t i = 0; i < store->n_series; i++)
        series_free(&store->series[i], store->columns.count);
    free(store->series);
    string_list_free(&store->columns);
    *store = (struct store){0};
}
