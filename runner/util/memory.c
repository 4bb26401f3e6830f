/* Checked sizes and allocation. */
#include "util/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(size_t count, size_t size, struct m2_error *err)
{
    return m2_fail(err, M2_E_MEMORY, "out of memory: %zu x %zu bytes", count,
                   size);
}

bool size_multiply(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

bool size_add(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

void *memory_zeroed(size_t count, size_t size, struct m2_error *err)
{
    void *memory = count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);

    if (memory == NULL)
        out_of_memory(count, size, err);
    return memory;
}

void *memory_resize(void *old, size_t count, size_t size, struct m2_error *err)
{
    size_t bytes;
    void *memory = NULL;

    if (size_multiply(count, size, &bytes))
        memory = realloc(old, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        out_of_memory(count, size, err);
    return memory;
}

char *memory_string(const char *text, struct m2_error *err)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_zeroed(size, 1, err);

    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

int array_reserve(void *items, size_t *capacity, size_t needed, size_t size,
                  struct m2_error *err)
{
    void *old, *grown;
    size_t room = *capacity;

    if (needed <= room)
        return 0;
    room = room < 4 ? 4 : room;
    while (room < needed && room <= SIZE_MAX / 2)
        room *= 2;
    if (room < needed)
        room = needed;
    /* the caller's pointer has a type of its own: copied, never cast */
    memcpy(&old, items, sizeof old);
    grown = memory_resize(old, room, size, err);
    if (grown == NULL)
        return M2_E_MEMORY;
    memcpy(items, &grown, sizeof grown);
    *capacity = room;
    return 0;
}
