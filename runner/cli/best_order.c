/* The order of the leaderboard's rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/best_scores.h"
#include "cli/best_table.h"
#include "results/settings.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/suggest.h"

struct ordered_row {
    struct leaderboard_row row;
    double number;    /* NaN: none */
    const char *text; /* NULL: none */
    size_t index;
    bool descending;
};

static int compare_rows(const void *left, const void *right)
{
    const struct ordered_row *a = left, *b = right;
    int order = isnan(a->number) - isnan(b->number);

    if (order != 0)
        return order; /* numbers before texts and nothing */
    if (!isnan(a->number)) {
        order = (a->number > b->number) - (a->number < b->number);
    } else if (a->text == NULL || b->text == NULL) {
        order = (a->text == NULL) - (b->text == NULL);
        if (order != 0)
            return order;
    } else {
        order = strcmp(a->text, b->text);
    }
    if (order != 0)
        return a->descending ? -order : order;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool names_score(const char *word, const char *key)
{
    for (; *word != '\0' && (*word == '/' ? '_' : *word) == *key; word++)
        key++;
    return *word == *key;
}

/* "test/loss" for the metric "val/loss": what text calls the column. */
static bool is_test_title(const struct leaderboard *board, const char *word)
{
    const char *slash = strchr(board->metric, '/');

    return slash != NULL && strncmp(word, "test/", 5) == 0 &&
           strcmp(word + 5, slash + 1) == 0;
}

/* N_BEST_SCORES: it names none. */
static enum best_score_id find_score(const struct leaderboard *board,
                                     const char *word)
{
    enum best_score_id id = 0;

    if (strcmp(word, "rank") == 0)
        return BEST_RANK;
    if (strcmp(word, board->metric) == 0)
        return BEST_METRIC;
    if (is_test_title(board, word))
        return BEST_TEST;
    while (id < N_BEST_SCORES && !names_score(word, best_scores[id].key))
        id++;
    return id;
}

static bool ends_with(const char *key, const char *ending)
{
    size_t length = strlen(key), size = strlen(ending);

    return length == size ? strcmp(key, ending) == 0
                          : length > size && key[length - size - 1] == '.' &&
                                strcmp(key + length - size, ending) == 0;
}

/* Keys that are the same everywhere put nothing in order, so only those that
 * differ are known. */
static int find_key(const struct leaderboard *board, const char *word,
                    const char **key, struct m2_error *err)
{
    struct suggestion near = suggest_start(word);
    size_t n = 0;

    for (size_t i = 0; i < board->keys.count; i++) {
        suggest_try(&near, best_short_key(board->keys.items[i]));
        if (!ends_with(board->keys.items[i], word))
            continue;
        *key = board->keys.items[i];
        n++;
    }
    for (size_t i = 0; i < N_BEST_SCORES; i++)
        suggest_try(&near, best_scores[i].key);
    if (n == 1)
        return 0;
    return m2_fail(err, M2_E_USAGE, "best: '%s' %s%s%s%s", word,
                   n > 1 ? "fits several keys: write more of the name"
                         : "is no column and no setting that differs",
                   n == 0 && near.best != NULL ? "; did you mean '" : "",
                   n == 0 && near.best != NULL ? near.best : "",
                   n == 0 && near.best != NULL ? "'?" : "");
}

static void set_value(struct ordered_row *item, const char *key)
{
    const char *text = setting_value(item->row.example, key);

    item->number = NAN;
    if (text == NULL || strcmp(text, "null") == 0)
        return;
    item->text = text;
    if (!number_parse_double(text, &item->number))
        item->number = NAN;
}

int best_sort(struct leaderboard *board, const char *word, struct m2_error *err)
{
    bool descending = word[0] == '-';
    enum best_score_id id = find_score(board, word + descending);
    struct ordered_row *items;
    const char *key = NULL;
    int code = 0;

    if (id == N_BEST_SCORES)
        code = find_key(board, word + descending, &key, err);
    if (code != 0 || board->n == 0)
        return code;
    items = memory_zeroed(board->n, sizeof *items, err);
    if (items == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < board->n; i++) {
        items[i].row = board->rows[i];
        items[i].index = i;
        items[i].descending = descending;
        if (key != NULL)
            set_value(&items[i], key);
        else
            items[i].number = best_score(&items[i].row, id);
    }
    qsort(items, board->n, sizeof *items, compare_rows);
    for (size_t i = 0; i < board->n; i++)
        board->rows[i] = items[i].row;
    free(items);
    return 0;
}

bool best_sorts_by_test(const struct leaderboard *board, const char *word)
{
    enum best_score_id id = find_score(board, word + (word[0] == '-'));

    return id == BEST_TEST || id == BEST_TEST_MSE;
}
