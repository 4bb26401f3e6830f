/* What was read, dropped or repaired on the way from files to windows. */
#ifndef M2_DATA_FACTS_H
#define M2_DATA_FACTS_H

#include "data/dataset.h"

struct fact_list {
    struct dataset_fact *items;
    size_t count, capacity;
};

/* Adds a fact: `n` times what the format says, first seen at `where` (copied;
 * NULL: nowhere in particular).  Returns 0 or M2_E_MEMORY. */
struct fact {
    uint64_t n;
    const char *where;
    bool warning;
    struct m2_error *err;
};
__attribute__((format(printf, 3, 4))) int
fact_add(struct fact_list *list, struct fact fact, const char *format, ...);

void fact_list_free(struct fact_list *list);

#endif
