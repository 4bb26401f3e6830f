/* What a source read, skipped and repaired: the counters behind
 * M2_DATA_COUNTS. */
#ifndef M2_PLUGINS_COMMON_COUNTS_H
#define M2_PLUGINS_COMMON_COUNTS_H

#include <stdbool.h>

#include "m2_data.h"

/* A counter as declared in a table. */
struct count_kind {
    const char *what;
    int warning;
};

struct counts {
    struct m2_data_count *items; /* strings are owned */
    size_t n, capacity;
    struct m2_data_count *shown; /* those that are not 0 */
};

/* A counter per table entry, with the entry's index, all 0. */
int counts_init(struct counts *counts, const struct count_kind *kinds,
                size_t n_kinds, struct m2_error *err);
void counts_free(struct counts *counts);

/* One more counter; *out is its index. */
int counts_declare(struct counts *counts, const char *what, int warning,
                   size_t *out, struct m2_error *err);

/* Adds 1.  True when it is the first: the caller then gives the place. */
static inline bool counts_hit(struct counts *counts, size_t index)
{
    return counts->items[index].n++ == 0;
}

/* The first place of an event; kept only when it is the first. */
__attribute__((format(printf, 3, 4))) void
counts_place(struct counts *counts, size_t index, const char *format, ...);

/* Fills the arguments of M2_DATA_COUNTS. */
int counts_show(struct counts *counts, struct m2_data_counts *args,
                struct m2_error *err);

#endif
