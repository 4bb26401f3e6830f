/* Rows of the case tables into trials and labels. */
#include "backends/conformance/case.h"

#include <string.h>

#include "backends/conformance/pairs.h"

/* The next blank-separated word from *list into word; false at the end. */
static bool next_word(const char **list, char *word, size_t size)
{
    size_t length;
    *list += strspn(*list, " ");
    length = strcspn(*list, " ");
    if (length == 0 || length >= size)
        return false;
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length;
    return true;
}

void case_label(const struct case_family *family, const struct case_row *row,
                char *text, size_t size)
{
    const char *names = family->parameters;
    char word[24];
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; next_word(&names, word, sizeof word) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%lld",
                                 i ? " " : "", word, (long long)row->p[i]);
    if (row->without && used < size)
        used += (size_t)snprintf(text + used, size - used, " without %s",
                                 row->without);
    if (row->backward_without && used < size)
        used += (size_t)snprintf(text + used, size - used, " without %s",
                                 row->backward_without);
    if (row->share[0] && used < size)
        snprintf(text + used, size - used, " %s in %s", row->share[0],
                 row->share[1]);
}

static void drop(struct trial *trial, const char *names)
{
    char word[24];
    while (names && next_word(&names, word, sizeof word))
        trial_drop(trial, word);
}

void case_build(const struct case_family *family, const struct case_row *row,
                struct trial *out)
{
    uint64_t seed =
        1000u * (uint64_t)family->op + (uint64_t)(row - family->rows) + 1u;
    trial_init(out, family->op, seed);
    family->build(out, row->p);
    drop(out, row->without);
    if (row->share[0])
        trial_share(out, row->share[0], row->share[1]);
}

void case_build_backward(const struct case_row *row,
                         const struct trial *forward, struct trial *out)
{
    pair_derive(forward, out);
    drop(out, row->backward_without);
}
