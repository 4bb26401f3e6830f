/* Nearest words by edit distance. */
#include "util/suggest.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORD = 40 };

static char fold(char c)
{
    return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance where swapping two neighbours is one edit (optimal string
 * alignment); letter case and - against _ cost nothing. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][MAX_WORD + 1];
    size_t n = strlen(a), m = strlen(b);

    if (n > MAX_WORD || m > MAX_WORD)
        return MAX_WORD;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *up = rows[(i + 2) % 3];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            bool same = fold(a[i - 1]) == fold(b[j - 1]);

            row[j] = smaller(smaller(up[j], row[j - 1]) + 1,
                             up[j - 1] + (same ? 0 : 1));
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1]))
                row[j] = smaller(row[j], rows[(i + 1) % 3][j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

struct suggestion suggest_start(const char *word)
{
    return (struct suggestion){.word = word, .distance = MAX_WORD};
}

void suggest_try(struct suggestion *suggestion, const char *candidate)
{
    size_t near = distance(suggestion->word, candidate);
    size_t limit = (strlen(suggestion->word) + 1) / 4;

    if (limit == 0)
        limit = 1;
    if (near <= limit && near < suggestion->distance &&
        near < strlen(candidate)) {
        suggestion->distance = near;
        suggestion->best = candidate;
    }
}

bool suggest_is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);

    if (list == NULL || length == 0)
        return false;
    for (const char *p = list; *p != '\0';) {
        size_t size = strcspn(p, " "), i = 0;

        while (size == length && i < size && fold(p[i]) == fold(word[i]))
            i++;
        if (size == length && i == size)
            return true;
        p += size + strspn(p + size, " ");
    }
    return false;
}
