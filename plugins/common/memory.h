/* Checked memory for data plugins: sizes never wrap, failures are values. */
#ifndef M2_PLUGINS_COMMON_MEMORY_H
#define M2_PLUGINS_COMMON_MEMORY_H

#include "m2_plugin.h"

/* Room for `need` (at least 1) elements of `size` bytes in an array that has
 * room for *capacity: returns the array, which may have moved, and updates
 * *capacity, doubling it at least.  NULL and M2_E_MEMORY on failure; the old
 * array is then still there. */
void *memory_grow(void *array, size_t *capacity, size_t need, size_t size,
                  struct m2_error *err);

/* A zeroed array; 0 elements are allowed.  NULL and M2_E_MEMORY on failure. */
void *memory_zeroed(size_t n, size_t size, struct m2_error *err);

/* A copy of n bytes as a string.  NULL and M2_E_MEMORY on failure. */
char *memory_string(const char *bytes, size_t n, struct m2_error *err);

#endif
