/* Checked sizes and allocation: overflow and exhaustion are errors, not exits.
 *
 * A failure fills err with M2_E_MEMORY and the number of bytes asked for. All
 * memory is freed with free(). */
#ifndef M2_UTIL_MEMORY_H
#define M2_UTIL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "m2_plugin.h"

/* a * b and a + b into *out; false, and *out untouched, on overflow. */
bool size_multiply(size_t a, size_t b, size_t *out);
bool size_add(size_t a, size_t b, size_t *out);

/* count items of size bytes, all zero; NULL and err on failure. No items is
 * no failure: the pointer is then valid for free() only. */
void *memory_zeroed(size_t count, size_t size, struct m2_error *err);

/* Resizes like realloc; on failure NULL, and `old` is still valid. */
void *memory_resize(void *old, size_t count, size_t size, struct m2_error *err);

/* A copy of a string; the caller frees it. */
char *memory_string(const char *text, struct m2_error *err);

/* The one way an array grows: makes room for `needed` items of `size` bytes.
 * `items` is the address of the array's pointer (T **); doubles *capacity, so
 * that adding one by one is linear. Returns 0 or M2_E_MEMORY, in which case
 * nothing changed.
 *
 *     if (array_reserve(&list->items, &list->capacity, list->count + 1,
 *                       sizeof *list->items, err) != 0) ...            */
int array_reserve(void *items, size_t *capacity, size_t needed, size_t size,
                  struct m2_error *err);

#endif
