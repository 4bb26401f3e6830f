/* A set of instrument names. */
#include "csv/instruments.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum { FIRST_SLOTS = 64 };

void instruments_free(struct instruments *set)
{
    for (size_t i = 0; i < set->n; i++)
        free(set->items[i].name);
    free(set->items);
    free(set->slots);
    *set = (struct instruments){0};
}

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *name, size_t n)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
    return h;
}

static bool is_name(const struct instrument *item, const char *name, size_t n)
{
    return strncmp(item->name, name, n) == 0 && item->name[n] == '\0';
}

/* The slot of the name, or the free one where it belongs. */
static size_t find_slot(const struct instruments *set, const char *name,
                        size_t n)
{
    size_t slot = (size_t)hash(name, n) & (set->n_slots - 1);

    while (set->slots[slot] != 0 &&
           !is_name(&set->items[set->slots[slot] - 1], name, n))
        slot = (slot + 1) & (set->n_slots - 1);
    return slot;
}

/* At most half of the slots are taken. */
static int grow_slots(struct instruments *set, struct m2_error *err)
{
    size_t n = set->n_slots > 0 ? 2 * set->n_slots : FIRST_SLOTS;

    if (2 * (set->n + 1) <= set->n_slots)
        return M2_OK;
    uint32_t *slots = memory_zeroed(n, sizeof *slots, err);
    if (slots == NULL)
        return M2_E_MEMORY;
    free(set->slots);
    set->slots = slots;
    set->n_slots = n;
    for (size_t i = 0; i < set->n; i++) {
        const char *name = set->items[i].name;
        slots[find_slot(set, name, strlen(name))] = (uint32_t)i + 1;
    }
    return M2_OK;
}

uint32_t instruments_find(struct instruments *set, const char *name, size_t n)
{
    if (set->n == 0)
        return NO_INSTRUMENT;
    if (is_name(&set->items[set->latest], name, n))
        return set->latest;
    size_t slot = find_slot(set, name, n);
    if (set->slots[slot] == 0)
        return NO_INSTRUMENT;
    set->latest = set->slots[slot] - 1;
    return set->latest;
}

int instruments_add(struct instruments *set, const char *name, size_t n,
                    struct m2_error *err)
{
    if (instruments_find(set, name, n) != NO_INSTRUMENT)
        return M2_OK;
    if (set->n == INSTRUMENTS_MAX)
        return m2_fail(err, M2_E_DATA,
                       "more than %d different instruments: is this column "
                       "the instrument?",
                       INSTRUMENTS_MAX);
    int status = grow_slots(set, err);
    if (status != M2_OK)
        return status;
    struct instrument *items =
        memory_grow(set->items, &set->capacity, set->n + 1, sizeof *items, err);
    if (items == NULL)
        return M2_E_MEMORY;
    set->items = items;
    char *copy = memory_string(name, n, err);
    if (copy == NULL)
        return M2_E_MEMORY;
    set->slots[find_slot(set, name, n)] = (uint32_t)set->n + 1;
    set->items[set->n++] = (struct instrument){copy, NO_INSTRUMENT};
    return M2_OK;
}

/* ---- order ------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const struct instrument *const *left = a, *const *right = b;

    return strcmp((*left)->name, (*right)->name);
}

static struct instrument **in_order(const struct instruments *set,
                                    struct m2_error *err)
{
    struct instrument **order = memory_zeroed(set->n, sizeof *order, err);

    for (size_t i = 0; order != NULL && i < set->n; i++)
        order[i] = &set->items[i];
    if (order != NULL)
        qsort(order, set->n, sizeof *order, compare);
    return order;
}

const char *instruments_list(const struct instruments *set,
                             char out[INSTRUMENTS_TEXT])
{
    struct instrument **order = in_order(set, NULL);
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; order != NULL && i < set->n; i++) {
        size_t room = INSTRUMENTS_TEXT - used;
        if (strlen(order[i]->name) + 8 > room) {
            snprintf(out + used, room, ", ...");
            break;
        }
        used += (size_t)snprintf(out + used, room, "%s%s", i > 0 ? ", " : "",
                                 order[i]->name);
    }
    free(order);
    return out;
}

int instruments_select(struct instruments *set, char *const *patterns,
                       size_t n_patterns, size_t *n_series,
                       const char **unmatched, struct m2_error *err)
{
    struct instrument **order = in_order(set, err);

    if (order == NULL)
        return M2_E_MEMORY;
    *unmatched = NULL;
    for (size_t k = 0; k < n_patterns; k++) {
        size_t matches = 0;
        for (size_t i = 0; i < set->n; i++) {
            if (fnmatch(patterns[k], order[i]->name, FNM_NOESCAPE) != 0)
                continue;
            order[i]->series = 0;
            matches++;
        }
        if (matches == 0 && *unmatched == NULL)
            *unmatched = patterns[k];
    }
    *n_series = 0;
    for (size_t i = 0; i < set->n; i++)
        if (n_patterns == 0 || order[i]->series != NO_INSTRUMENT)
            order[i]->series = (uint32_t)(*n_series)++;
    free(order);
    return M2_OK;
}
