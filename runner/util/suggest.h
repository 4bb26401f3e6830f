/* "Did you mean": the nearest word by spelling. */
#ifndef M2_UTIL_SUGGEST_H
#define M2_UTIL_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Collects candidates; the nearest one within one edit for every four letters
 * wins, the first of equals. */
struct suggestion {
    const char *word;
    const char *best; /* NULL: nothing is near */
    size_t distance;
};

struct suggestion suggest_start(const char *word);
void suggest_try(struct suggestion *suggestion, const char *candidate);

/* True when `word` is one of the words of a list parted by blanks; letter case
 * and the difference between - and _ do not count. */
bool suggest_is_listed(const char *list, const char *word);

#endif
