/* Rows to blocks: rows held in memory, to be sorted or to lose duplicates. */
#include "common/rows_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static int make_room(struct rows_series *s, size_t columns,
                     struct m2_error *err)
{
    size_t cells;

    if (__builtin_mul_overflow(s->n_held + 1, columns, &cells))
        return m2_fail(err, M2_E_MEMORY, "too many rows to be held in memory");
    struct held_row *held = memory_grow(s->held, &s->held_capacity,
                                        s->n_held + 1, sizeof *held, err);
    if (held == NULL)
        return M2_E_MEMORY;
    s->held = held;
    double *values = memory_grow(s->held_values, &s->values_capacity,
                                 cells > 0 ? cells : 1, sizeof *values, err);
    if (values == NULL)
        return M2_E_MEMORY;
    s->held_values = values;
    return M2_OK;
}

int held_add(struct rows *rows, size_t series, const struct row *row,
             struct m2_error *err)
{
    struct rows_series *s = &rows->series[series];
    size_t columns = rows->setup.n_columns;
    int status = make_room(s, columns, err);

    if (status != M2_OK)
        return status;
    memcpy(s->held_values + s->n_held * columns, row->values,
           columns * sizeof *row->values);
    s->held[s->n_held++] = (struct held_row){
        .time = row->time, .id = row->id, .place = row->place, .key = row->key};
    if (s->has_last && row->time < s->last_time) {
        s->has_stepped_back = true;
        if (rows->setup.sort)
            counts_hit(rows->setup.counts, rows->count_sorted);
    } else {
        s->has_last = true;
        s->last_time = row->time;
    }
    return M2_OK;
}

static int compare_held(const void *a, const void *b, void *context)
{
    const struct held_row *held = context;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;

    if (held[i].time != held[k].time)
        return held[i].time < held[k].time ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* The row as it was added. */
static struct row held_row(const struct rows *rows, size_t series, size_t i)
{
    const struct rows_series *s = &rows->series[series];

    return (struct row){.time = s->held[i].time,
                        .values = s->held_values + i * rows->setup.n_columns,
                        .id = s->held[i].id,
                        .key = s->held[i].key,
                        .place = s->held[i].place};
}

/* Without sort, only repeated times may step back: the first row of every
 * time must be later than all the rows before it. */
static int check_order(const struct rows *rows, size_t series,
                       struct m2_error *err)
{
    const struct rows_series *s = &rows->series[series];
    size_t latest = 0;

    for (size_t i = 0; i < s->n_held; i++) {
        s->held[s->order[i]].is_first =
            i == 0 ||
            s->held[s->order[i]].time != s->held[s->order[i - 1]].time;
    }
    for (size_t i = 1; i < s->n_held; i++) {
        struct row row = held_row(rows, series, i);
        if (s->held[i].time > s->held[latest].time)
            latest = i;
        else if (s->held[i].is_first)
            return rows_fail_order(rows, series, &row, s->held[i - 1].place,
                                   err);
    }
    return M2_OK;
}

static int put_in_order(struct rows *rows, size_t series, struct m2_error *err)
{
    struct rows_series *s = &rows->series[series];

    s->order = memory_zeroed(s->n_held, sizeof *s->order, err);
    if (s->order == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < s->n_held; i++)
        s->order[i] = i;
    if (s->has_stepped_back)
        qsort_r(s->order, s->n_held, sizeof *s->order, compare_held, s->held);
    s->has_last = false; /* from now on, that of the rows handed out */
    return s->has_stepped_back && !rows->setup.sort
               ? check_order(rows, series, err)
               : M2_OK;
}

static void count_dropped(const struct rows *rows, const struct row *kept,
                          const struct row *dropped)
{
    const struct rows_setup *setup = &rows->setup;
    bool same = memcmp(kept->values, dropped->values,
                       setup->n_columns * sizeof *kept->values) == 0;
    size_t index = same ? rows->count_same : rows->count_other;
    char place[ROW_PLACE_TEXT];

    if (counts_hit(setup->counts, index))
        counts_place(
            setup->counts, index, "%s",
            setup->place_text(setup->place_context, dropped->place, place));
}

/* Hands out one of the rows first .. end-1 of the order, all of one time. */
static int release_time(struct rows *rows, size_t series, size_t end,
                        struct m2_error *err)
{
    struct rows_series *s = &rows->series[series];
    size_t first = s->next_held;
    size_t keep = rows->setup.duplicates == DUPLICATES_LAST ? end - 1 : first;
    struct row kept = held_row(rows, series, s->order[keep]);

    for (size_t i = first; i < end; i++) {
        struct row other = held_row(rows, series, s->order[i]);
        if (i == keep)
            continue;
        if (rows->setup.duplicates == DUPLICATES_ERROR)
            return rows_fail_repeated(rows, series, &other, kept.place, err);
        count_dropped(rows, &kept, &other);
    }
    s->next_held = end;
    return rows_append(rows, series, &kept);
}

int held_release(struct rows *rows, size_t series, struct m2_error *err)
{
    struct rows_series *s = &rows->series[series];
    int status = 0;

    if (s->order == NULL)
        status = put_in_order(rows, series, err);
    while (status == 0 && s->next_held < s->n_held) {
        int64_t time = s->held[s->order[s->next_held]].time;
        size_t end = s->next_held + 1;
        while (end < s->n_held && s->held[s->order[end]].time == time)
            end++;
        status = release_time(rows, series, end, err);
    }
    return status;
}
