/* Rows to blocks: the streaming part. */
#include "common/rows_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/civil.h"
#include "common/memory.h"

/* All blocks together take about this much, however many series there are. */
enum { BLOCKS_BYTES = 64 << 20, MAX_BLOCK_ROWS = 8192, MIN_BLOCK_ROWS = 16 };

const char *const duplicates_names[] = {"error", "first", "last", NULL};

enum duplicates duplicates_from(const char *name)
{
    int i = DUPLICATES_ERROR;

    while (strcmp(duplicates_names[i], name) != 0)
        i++;
    return (enum duplicates)i;
}

static int block_init(struct rows_block *block, const struct rows *rows,
                      struct m2_error *err)
{
    size_t n = rows->block_rows, columns = rows->setup.n_columns, cells;

    if (__builtin_mul_overflow(n, columns, &cells))
        return m2_fail(err, M2_E_MEMORY, "%zu columns are too many", columns);
    block->times = memory_zeroed(n, sizeof *block->times, err);
    block->values = memory_zeroed(cells, sizeof *block->values, err);
    block->marks = memory_zeroed(n, sizeof *block->marks, err);
    block->places = memory_zeroed(n, sizeof *block->places, err);
    if (rows->setup.with_ids)
        block->ids = memory_zeroed(n, sizeof *block->ids, err);
    if (block->times == NULL || block->values == NULL || block->marks == NULL ||
        block->places == NULL || (rows->setup.with_ids && block->ids == NULL))
        return M2_E_MEMORY;
    return M2_OK;
}

static void block_free(struct rows_block *block)
{
    free(block->times);
    free(block->values);
    free(block->marks);
    free(block->places);
    free(block->ids);
}

static size_t choose_block_rows(const struct rows_setup *setup)
{
    size_t row_bytes = sizeof(struct row_place) + 24 + 8 * setup->n_columns;
    size_t n = BLOCKS_BYTES / 2 / row_bytes /
               (setup->n_series > 0 ? setup->n_series : 1);

    if (n > MAX_BLOCK_ROWS)
        return MAX_BLOCK_ROWS;
    return n < MIN_BLOCK_ROWS ? MIN_BLOCK_ROWS : n;
}

static int declare_counters(struct rows *rows, struct m2_error *err)
{
    struct counts *counts = rows->setup.counts;
    int status = counts_declare(counts, "changes of contract", 0,
                                &rows->count_breaks, err);

    if (status == M2_OK)
        status = counts_declare(counts, "rows equal to another row dropped", 1,
                                &rows->count_same, err);
    if (status == M2_OK)
        status = counts_declare(
            counts, "rows with another row's time, but other values, dropped",
            1, &rows->count_other, err);
    if (status == M2_OK)
        status = counts_declare(counts, "rows out of order sorted", 1,
                                &rows->count_sorted, err);
    return status;
}

int rows_init(struct rows *rows, const struct rows_setup *setup,
              struct m2_error *err)
{
    *rows = (struct rows){.setup = *setup};
    rows->held = setup->sort || setup->duplicates != DUPLICATES_ERROR;
    rows->block_rows = choose_block_rows(setup);
    rows->series = memory_zeroed(setup->n_series, sizeof *rows->series, err);
    int status = rows->series == NULL ? M2_E_MEMORY : M2_OK;
    for (size_t i = 0; i < setup->n_series && status == M2_OK; i++)
        for (int k = 0; k < 2 && status == M2_OK; k++)
            status = block_init(&rows->series[i].blocks[k], rows, err);
    if (status == M2_OK)
        status = declare_counters(rows, err);
    return status;
}

void rows_free(struct rows *rows)
{
    for (size_t i = 0; rows->series != NULL && i < rows->setup.n_series; i++) {
        struct rows_series *series = &rows->series[i];
        block_free(&series->blocks[0]);
        block_free(&series->blocks[1]);
        free(series->held);
        free(series->held_values);
        free(series->order);
    }
    free(rows->series);
    *rows = (struct rows){0};
}

int rows_append(struct rows *rows, size_t series, const struct row *row)
{
    struct rows_series *s = &rows->series[series];
    struct rows_block *block = &s->blocks[s->current];
    size_t i = block->n++, columns = rows->setup.n_columns;
    bool breaks = s->has_last && row->key != s->last_key &&
                  row->time - s->last_time > rows->setup.break_gap_ns;

    block->times[i] = row->time;
    memcpy(block->values + i * columns, row->values,
           columns * sizeof *row->values);
    block->marks[i] = breaks ? M2_MARK_BREAK : 0;
    block->places[i] = row->place;
    if (block->ids != NULL)
        block->ids[i] = row->id;
    if (breaks)
        counts_hit(rows->setup.counts, rows->count_breaks);
    s->has_last = true;
    s->last_time = row->time;
    s->last_key = row->key;
    if (block->n < rows->block_rows)
        return 0;
    rows->full = block;
    rows->full_series = series;
    s->current ^= 1;
    s->blocks[s->current].n = 0;
    return 1;
}

int rows_fail_repeated(const struct rows *rows, size_t series,
                       const struct row *row, struct row_place earlier,
                       struct m2_error *err)
{
    const struct rows_setup *setup = &rows->setup;
    char time[CIVIL_TEXT], here[ROW_PLACE_TEXT], there[ROW_PLACE_TEXT];

    return m2_fail(err, M2_E_DATA,
                   "%s: the time %s of '%s' was there before, at %s; "
                   "`duplicates: first` or `duplicates: last` keeps one of "
                   "the rows",
                   setup->place_text(setup->place_context, row->place, here),
                   civil_text(row->time, time), setup->series[series].name,
                   setup->place_text(setup->place_context, earlier, there));
}

int rows_fail_order(const struct rows *rows, size_t series,
                    const struct row *row, struct row_place before,
                    struct m2_error *err)
{
    const struct rows_setup *setup = &rows->setup;
    char time[CIVIL_TEXT], here[ROW_PLACE_TEXT], there[ROW_PLACE_TEXT];

    return m2_fail(
        err, M2_E_DATA,
        "%s: out of order: the time %s of '%s' is earlier than that of %s; "
        "`sort: true` puts rows in order%s",
        setup->place_text(setup->place_context, row->place, here),
        civil_text(row->time, time), setup->series[series].name,
        setup->place_text(setup->place_context, before, there),
        row->place.file != before.file
            ? ", and `duplicates` decides about files that overlap"
            : "");
}

/* The place of a recent row of this time, in a block whose times ascend. */
static const struct row_place *find_time(const struct rows_block *block,
                                         int64_t time)
{
    size_t low = 0, high = block->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (block->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low < block->n && block->times[low] == time ? &block->places[low]
                                                       : NULL;
}

static int fail_not_later(const struct rows *rows, size_t series,
                          const struct row *row, struct m2_error *err)
{
    const struct rows_series *s = &rows->series[series];
    const struct rows_block *block = &s->blocks[s->current];
    const struct rows_block *before = &s->blocks[s->current ^ 1];
    const struct row_place *place = find_time(block, row->time);

    if (place == NULL)
        place = find_time(before, row->time);
    if (place != NULL)
        return rows_fail_repeated(rows, series, row, *place, err);
    const struct rows_block *last = block->n > 0 ? block : before;
    return rows_fail_order(rows, series, row, last->places[last->n - 1], err);
}

int rows_add(struct rows *rows, size_t series, const struct row *row,
             struct m2_error *err)
{
    struct rows_series *s = &rows->series[series];

    s->added++;
    if (rows->held)
        return held_add(rows, series, row, err);
    if (s->has_last && row->time <= s->last_time)
        return fail_not_later(rows, series, row, err);
    return rows_append(rows, series, row);
}

static void fetch_block(const struct rows *rows, size_t series,
                        const struct rows_block *block,
                        struct m2_data_next *out)
{
    out->series_out = series;
    out->n_rows_out = block->n;
    out->times_out = block->times;
    out->values_out = block->values;
    out->marks_out = block->marks;
    out->ids_out = rows->setup.with_ids ? block->ids : NULL;
}

void rows_fetch(struct rows *rows, struct m2_data_next *out)
{
    fetch_block(rows, rows->full_series, rows->full, out);
}

int rows_drain(struct rows *rows, struct m2_data_next *out,
               struct m2_error *err)
{
    for (; rows->drained < rows->setup.n_series; rows->drained++) {
        size_t series = rows->drained;
        struct rows_series *s = &rows->series[series];
        int status = rows->held ? held_release(rows, series, err) : 0;
        if (status < 0)
            return status;
        if (status == 1) {
            rows_fetch(rows, out);
            return M2_OK;
        }
        struct rows_block *block = &s->blocks[s->current];
        if (block->n == 0)
            continue;
        s->current ^= 1;
        s->blocks[s->current].n = 0;
        fetch_block(rows, series, block, out);
        return M2_OK;
    }
    out->n_rows_out = 0;
    return M2_OK;
}

uint64_t rows_added(const struct rows *rows, size_t series)
{
    return rows->series[series].added;
}
