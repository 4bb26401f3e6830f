/* Names of instruments. */
#include "dbn/symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/civil.h"
#include "common/memory.h"

void symbols_free(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->n; i++)
        free(symbols->items[i].name);
    free(symbols->items);
    free(symbols->slots);
    *symbols = (struct symbols){0};
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/* The slot that holds the name, or the empty one where it belongs. */
static size_t find_slot(const struct symbols *symbols, const char *name)
{
    size_t mask = symbols->n_slots - 1;
    size_t slot = (size_t)hash_name(name) & mask;

    while (symbols->slots[slot] != 0 &&
           strcmp(symbols->items[symbols->slots[slot] - 1].name, name) != 0)
        slot = (slot + 1) & mask;
    return slot;
}

/* Keeps at least half of the slots empty. */
static int grow_slots(struct symbols *symbols, struct m2_error *err)
{
    size_t n = symbols->n_slots == 0 ? 64 : symbols->n_slots * 2;

    if (symbols->n + 1 <= symbols->n_slots / 2)
        return M2_OK;
    uint32_t *slots = memory_zeroed(n, sizeof *slots, err);
    if (slots == NULL)
        return M2_E_MEMORY;
    free(symbols->slots);
    symbols->slots = slots;
    symbols->n_slots = n;
    for (size_t i = 0; i < symbols->n; i++)
        slots[find_slot(symbols, symbols->items[i].name)] = (uint32_t)i + 1;
    return M2_OK;
}

static int add_symbol(struct symbols *symbols, size_t slot, const char *name,
                      struct m2_error *err)
{
    struct symbol *items = memory_grow(symbols->items, &symbols->capacity,
                                       symbols->n + 1, sizeof *items, err);

    if (items == NULL)
        return M2_E_MEMORY;
    symbols->items = items;
    char *copy = memory_string(name, strlen(name), err);
    if (copy == NULL)
        return M2_E_MEMORY;
    items[symbols->n++] = (struct symbol){
        .name = copy, .series = NO_SERIES, .root = NO_ROOT, .day = INT64_MIN};
    symbols->slots[slot] = (uint32_t)symbols->n;
    return M2_OK;
}

int symbols_intern(struct symbols *symbols, const char *name, uint32_t *out,
                   struct m2_error *err)
{
    int status = grow_slots(symbols, err);

    if (status != M2_OK)
        return status;
    size_t slot = find_slot(symbols, name);
    if (symbols->slots[slot] == 0)
        status = add_symbol(symbols, slot, name, err);
    if (status == M2_OK)
        *out = symbols->slots[slot] - 1;
    return status;
}

uint32_t symbols_find(const struct symbols *symbols, const char *name)
{
    if (symbols->n_slots == 0)
        return UINT32_MAX;
    return symbols->slots[find_slot(symbols, name)] - 1;
}
