/* The different texts of an instrument column, and which series they make. */
#ifndef M2_CSV_INSTRUMENTS_H
#define M2_CSV_INSTRUMENTS_H

#include "m2_plugin.h"

enum { INSTRUMENTS_MAX = 100000, NO_INSTRUMENT = UINT32_MAX };

struct instrument {
    char *name;
    uint32_t series; /* or NO_INSTRUMENT: its rows are not read */
};

struct instruments {
    struct instrument *items; /* in order of appearance */
    size_t n, capacity;
    uint32_t *slots; /* hash table: index + 1, or 0 */
    size_t n_slots;
    uint32_t latest; /* found last: rows of one instrument often follow */
};

void instruments_free(struct instruments *set); /* a zeroed one is allowed */

/* Adds a name of n bytes unless it is there.  M2_E_DATA, without a place, when
 * there are more than INSTRUMENTS_MAX. */
int instruments_add(struct instruments *set, const char *name, size_t n,
                    struct m2_error *err);

/* Index of a name, or NO_INSTRUMENT. */
uint32_t instruments_find(struct instruments *set, const char *name, size_t n);

/* "a, b, c", in order of their names, cut off when there are many.  Returns
 * out. */
enum { INSTRUMENTS_TEXT = 600 };
const char *instruments_list(const struct instruments *set,
                             char out[INSTRUMENTS_TEXT]);

/* Gives series 0, 1, ... in order of their names to those that match one of
 * the patterns (* and ?), or to all when there is none.  *n_series gets their
 * number; *unmatched the first pattern that matches none, or NULL. */
int instruments_select(struct instruments *set, char *const *patterns,
                       size_t n_patterns, size_t *n_series,
                       const char **unmatched, struct m2_error *err);

#endif
