/* Counters of what was read, skipped and repaired. */
#include "common/counts.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

int counts_declare(struct counts *counts, const char *what, int warning,
                   size_t *out, struct m2_error *err)
{
    struct m2_data_count *items = memory_grow(
        counts->items, &counts->capacity, counts->n + 1, sizeof *items, err);

    if (items == NULL)
        return M2_E_MEMORY;
    counts->items = items;
    char *copy = memory_string(what, strlen(what), err);
    if (copy == NULL)
        return M2_E_MEMORY;
    *out = counts->n;
    counts->items[counts->n++] =
        (struct m2_data_count){.what = copy, .warning = warning};
    return M2_OK;
}

int counts_init(struct counts *counts, const struct count_kind *kinds,
                size_t n_kinds, struct m2_error *err)
{
    int status = M2_OK;
    size_t index;

    *counts = (struct counts){0};
    for (size_t i = 0; i < n_kinds && status == M2_OK; i++)
        status = counts_declare(counts, kinds[i].what, kinds[i].warning, &index,
                                err);
    return status;
}

/* The strings are ours: const only for who reads the counters. */
static void free_string(const char *string)
{
    union {
        const char *shown;
        char *owned;
    } both = {.shown = string};

    free(both.owned);
}

void counts_free(struct counts *counts)
{
    for (size_t i = 0; i < counts->n; i++) {
        free_string(counts->items[i].what);
        free_string(counts->items[i].where);
    }
    free(counts->items);
    free(counts->shown);
    *counts = (struct counts){0};
}

void counts_place(struct counts *counts, size_t index, const char *format, ...)
{
    va_list arguments;
    char *where = NULL;

    if (counts->items[index].where != NULL)
        return;
    va_start(arguments, format);
    if (vasprintf(&where, format, arguments) >= 0)
        counts->items[index].where = where;
    va_end(arguments);
}

int counts_show(struct counts *counts, struct m2_data_counts *args,
                struct m2_error *err)
{
    size_t n = 0;
    struct m2_data_count *shown = memory_zeroed(counts->n, sizeof *shown, err);

    if (shown == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < counts->n; i++)
        if (counts->items[i].n > 0)
            shown[n++] = counts->items[i];
    free(counts->shown);
    counts->shown = shown;
    args->counts_out = shown;
    args->n_counts_out = n;
    return M2_OK;
}
