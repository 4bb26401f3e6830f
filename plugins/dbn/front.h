/* The front contract: which outright future of a root is followed on a day.
 *
 * An outright is ROOT, a month letter (FGHJKMNQUVXZ) and one or two digits of
 * the year; spreads and strategies have other names.  On a UTC day the front
 * is the outright with the most volume on the day before it in the files (the
 * last day on which the root has bars); on the root's first day it is the one
 * with the most volume on that day itself.  It never goes back to an earlier
 * expiry.  So, but for the first day, nothing of a day or after it is used to
 * choose what is followed on it.  Of equal volumes, the earlier expiry wins. */
#ifndef M2_DBN_FRONT_H
#define M2_DBN_FRONT_H

#include "dbn/symbols.h"

struct future {
    size_t root_length; /* of the symbol */
    int month;          /* 1-12 */
    int year;           /* 0-9 or 0-99 */
    int year_digits;    /* 1 or 2 */
};

/* False when the symbol is no outright future. */
bool future_parse(const char *symbol, struct future *out);

/* Expiry month as year * 12 + month - 1, seen from a day on which it trades:
 * a year of one digit is the first such year whose month is not over. */
int future_expiry(const struct future *future, int64_t day);

/* What was followed on a day. */
struct front_choice {
    int64_t day;
    uint32_t symbol;
};

struct front_root {
    char *name;
    uint32_t *members; /* symbols of its outrights */
    size_t n_members, members_capacity;
    struct front_choice *choices; /* by day; the last one is current */
    size_t n_choices, choices_capacity;
    int expiry;      /* of the current one, seen from its day */
    bool seen;       /* the current one has had a bar on its day */
    uint64_t absent; /* days on which the front had no bar */
};

struct front {
    struct front_root *roots;
    size_t n, capacity;
};

void front_free(struct front *front);

/* Gives every outright its root; outrights of other roots than `only` (unless
 * NULL) are left alone, and so are those without bars when bars were counted.
 * Roots come in the order of their names. */
int front_add_symbols(struct front *front, struct symbols *symbols,
                      const char *only, bool counted, struct m2_error *err);

enum front_answer { FRONT_NO, FRONT_YES, FRONT_UNKNOWN, FRONT_PAST };

/* Does the symbol, which has a root, lead on that day?  A new day is begun by
 * its first bar.  FRONT_UNKNOWN: the root's first day; give the day's volumes
 * with front_add_volume, then front_begin.  FRONT_PAST: the day is over and no
 * choice was made for it: the files are not in time order.  M2_E_MEMORY. */
int front_ask(struct front *front, struct symbols *symbols, uint32_t symbol,
              int64_t day, enum front_answer *out, struct m2_error *err);

/* Counts a bar's volume. */
void front_add_volume(struct symbols *symbols, uint32_t symbol, int64_t day,
                      uint64_t volume);

/* Makes the choice for a root's first day from that day's volumes, which are
 * counted again, from nothing, as its bars are read. */
int front_begin(struct front *front, struct symbols *symbols, uint32_t root,
                int64_t day, struct m2_error *err);

/* Days on which a front had no bar, all roots together. */
uint64_t front_absent_days(const struct front *front);

#endif
