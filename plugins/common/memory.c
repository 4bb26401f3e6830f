/* Checked memory for data plugins. */
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

static void *out_of_memory(struct m2_error *err)
{
    m2_fail(err, M2_E_MEMORY, "out of memory");
    return NULL;
}

void *memory_grow(void *array, size_t *capacity, size_t need, size_t size,
                  struct m2_error *err)
{
    size_t bytes, larger = *capacity < 16 ? 16 : *capacity;

    if (need <= *capacity)
        return array;
    if (__builtin_mul_overflow(larger, 2, &larger) || larger < need)
        larger = need;
    if (__builtin_mul_overflow(larger, size, &bytes))
        return out_of_memory(err);
    void *moved = realloc(array, bytes);
    if (moved == NULL)
        return out_of_memory(err);
    *capacity = larger;
    return moved;
}

void *memory_zeroed(size_t n, size_t size, struct m2_error *err)
{
    void *array = calloc(n > 0 ? n : 1, size);

    if (array == NULL)
        out_of_memory(err);
    return array;
}

char *memory_string(const char *bytes, size_t n, struct m2_error *err)
{
    char *copy = n < SIZE_MAX ? malloc(n + 1) : NULL;

    if (copy == NULL)
        return out_of_memory(err);
    memcpy(copy, bytes, n);
    copy[n] = '\0';
    return copy;
}
