/* Columns and order of the leaderboard. */
#include "cli/best_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/settings.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/suggest.h"
#include "util/terminal.h"

enum { MAX_KEYS = 24 };

/* ---- columns ------------------------------------------------------------- */

static double rank_of(const struct leaderboard_row *row)
{
    return row->rank > 0 ? (double)row->rank : NAN;
}

static double n_of(const struct leaderboard_row *row)
{
    return (double)row->metric.n;
}

static double expected_of(const struct leaderboard_row *row)
{
    return (double)row->n_expected;
}

static double metric_mean(const struct leaderboard_row *row)
{
    return statistic_mean(&row->metric);
}

static double metric_std(const struct leaderboard_row *row)
{
    return statistic_std(&row->metric);
}

static double metric_interval(const struct leaderboard_row *row)
{
    return statistic_interval(&row->metric);
}

static double val_mse(const struct leaderboard_row *row)
{
    return statistic_mean(&row->val_mse);
}

static double naive_mse(const struct leaderboard_row *row)
{
    return statistic_mean(&row->naive);
}

static double skill(const struct leaderboard_row *row)
{
    return statistic_mean(&row->skill);
}

static double hit_rate(const struct leaderboard_row *row)
{
    return statistic_mean(&row->hit_rate);
}

static double test_mean(const struct leaderboard_row *row)
{
    return statistic_mean(&row->test);
}

static double test_mse(const struct leaderboard_row *row)
{
    return statistic_mean(&row->test_mse);
}

static double diverged(const struct leaderboard_row *row)
{
    return (double)row->n_diverged;
}

static double not_done(const struct leaderboard_row *row)
{
    return (double)row->n_other;
}

/* For people a column is left out where it has nothing to tell: `shadow` is
 * the column that it then repeats. */
static const struct score {
    const char *key, *title;
    double (*value)(const struct leaderboard_row *row);
    double (*shadow)(const struct leaderboard_row *row);
    bool only_data;
} scores[] = {
    {"n", NULL, n_of, NULL, false},
    {"n_expected", NULL, expected_of, NULL, true},
    {"metric", NULL, metric_mean, NULL, false},
    {"std", "+/-", metric_std, NULL, false},
    {"ci95", "95 %", metric_interval, NULL, false},
    {"val_mse", "val/mse", val_mse, metric_mean, false},
    {"naive_mse", "naive mse", naive_mse, NULL, false},
    {"skill", NULL, skill, NULL, false},
    {"hit_rate", "hit rate", hit_rate, NULL, false},
    {"test", "test", test_mean, NULL, false},
    {"test_mse", "test/mse", test_mse, test_mean, false},
    {"diverged", NULL, diverged, NULL, true},
    {"not_done", "not done", not_done, NULL, false},
};
enum { N_SCORES = sizeof scores / sizeof scores[0] };

static bool is_shadow(const struct leaderboard *board,
                      const struct score *score)
{
    for (size_t i = 0; score->shadow != NULL && i < board->n; i++) {
        double a = score->value(&board->rows[i]);
        double b = score->shadow(&board->rows[i]);

        if (!(a == b || (isnan(a) && isnan(b))))
            return false;
    }
    return score->shadow != NULL;
}

static bool has_something(const struct leaderboard *board,
                          const struct score *score)
{
    for (size_t i = 0; i < board->n; i++) {
        double value = score->value(&board->rows[i]);

        if (!isnan(value) && (score->value != not_done || value != 0))
            return true;
    }
    return false;
}

/* Columns of one table; the first is the rank. */
struct best_columns {
    struct table_column heads[2 + MAX_KEYS + N_SCORES];
    const struct score *scores[N_SCORES];
    size_t n, n_keys, n_scores;
    bool lossless, with_experiment;
    char test_title[64];
};

/* Last part of a key: "train.optimizer.lr" -> "lr". */
static const char *short_key(const char *key)
{
    const char *dot = strrchr(key, '.');

    return dot != NULL ? dot + 1 : key;
}

static bool has_one_experiment(const struct leaderboard *board)
{
    for (size_t i = 1; i < board->n; i++)
        if (strcmp(board->rows[0].example->experiment,
                   board->rows[i].example->experiment) != 0)
            return false;
    return true;
}

static bool is_number_key(const struct leaderboard *board, const char *key)
{
    bool any = false;

    for (size_t i = 0; i < board->n; i++) {
        const char *text = setting_value(board->rows[i].example, key);
        double value;

        if (text == NULL || strcmp(text, "null") == 0)
            continue;
        if (!number_parse_double(text, &value))
            return false;
        any = true;
    }
    return any;
}

static void add_score(struct best_columns *out, const struct leaderboard *board,
                      const struct score *score)
{
    const char *title = score->title;

    if (score->value == metric_mean)
        title = board->metric;
    else if (score->value == test_mean && !out->lossless)
        title = out->test_title;
    out->heads[out->n++] =
        (struct table_column){score->key, title, TABLE_RIGHT, true};
    out->scores[out->n_scores++] = score;
}

static void make_columns(const struct leaderboard *board, bool lossless,
                         struct best_columns *out)
{
    const char *slash = strchr(board->metric, '/');

    *out = (struct best_columns){.lossless = lossless};
    snprintf(out->test_title, sizeof out->test_title, "test%s",
             slash != NULL ? slash : "");
    out->heads[out->n++] =
        (struct table_column){"rank", "#", TABLE_RIGHT, true};
    out->with_experiment = lossless || !has_one_experiment(board);
    if (out->with_experiment)
        out->heads[out->n++] =
            (struct table_column){"experiment", NULL, TABLE_LEFT, false};
    for (; out->n_keys < board->keys.count && out->n_keys < MAX_KEYS;
         out->n_keys++) {
        const char *key = board->keys.items[out->n_keys];

        out->heads[out->n++] = (struct table_column){
            key, short_key(key), TABLE_RIGHT, is_number_key(board, key)};
    }
    for (size_t i = 0; i < N_SCORES; i++)
        if (lossless ||
            (!scores[i].only_data && !is_shadow(board, &scores[i]) &&
             has_something(board, &scores[i])))
            add_score(out, board, &scores[i]);
}

/* ---- cells --------------------------------------------------------------- */

/* 5 significant digits for people, all of them for programs. */
static const char *cell(double value, bool lossless, char out[NUMBER_TEXT_SIZE])
{
    if (isnan(value))
        return NULL;
    if (lossless)
        return number_print_double(value, out);
    snprintf(out, NUMBER_TEXT_SIZE, "%.5g", value);
    return out;
}

/* A mean over fewer seeds than others have says so. */
static const char *score_cell(const struct best_columns *columns,
                              const struct leaderboard_row *row, size_t i,
                              char out[NUMBER_TEXT_SIZE])
{
    const struct score *score = columns->scores[i];

    if (!columns->lossless && score->value == n_of &&
        row->metric.n != row->n_expected) {
        snprintf(out, NUMBER_TEXT_SIZE, "%zu of %zu", row->metric.n,
                 row->n_expected);
        return out;
    }
    if (!columns->lossless && score->value == not_done && row->n_other == 0)
        return NULL;
    return cell(score->value(row), columns->lossless, out);
}

static int add_row(struct table *table, const struct best_columns *columns,
                   const struct leaderboard *board, size_t i,
                   struct m2_error *err)
{
    const struct leaderboard_row *row = &board->rows[i];
    char numbers[N_SCORES + 1][NUMBER_TEXT_SIZE];
    const char *cells[2 + MAX_KEYS + N_SCORES];
    size_t n = 0;

    cells[n++] = cell(rank_of(row), true, numbers[N_SCORES]);
    if (columns->with_experiment)
        cells[n++] = row->example->experiment;
    for (size_t k = 0; k < columns->n_keys; k++) {
        const char *value = setting_value(row->example, board->keys.items[k]);

        cells[n++] = value != NULL && strcmp(value, "null") == 0 ? NULL : value;
    }
    for (size_t k = 0; k < columns->n_scores; k++)
        cells[n++] = score_cell(columns, row, k, numbers[k]);
    return table_add_row(table, cells, err);
}

int best_table_write(const struct leaderboard *board, enum best_format format,
                     size_t limit, struct text *out, struct m2_error *err)
{
    struct best_columns columns;
    struct table table;
    int code;

    make_columns(board, format != BEST_TEXT, &columns);
    code = table_init(&table, columns.heads, columns.n, err);
    for (size_t i = 0; code == 0 && i < board->n; i++)
        if (limit == 0 || i < limit)
            code = add_row(&table, &columns, board, i, err);
    if (code == 0 && format == BEST_JSON)
        table_json(&table, out);
    else if (code == 0 && format == BEST_CSV)
        table_csv(&table, out);
    else if (code == 0)
        table_print(&table, out);
    table_free(&table);
    return code == 0 ? text_check(out, err) : code;
}

/* ---- order --------------------------------------------------------------- */

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

static const struct score *find_score(const char *word)
{
    for (size_t i = 0; i < N_SCORES; i++)
        if (names_score(word, scores[i].key))
            return &scores[i];
    return NULL;
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
        suggest_try(&near, short_key(board->keys.items[i]));
        if (!ends_with(board->keys.items[i], word))
            continue;
        *key = board->keys.items[i];
        n++;
    }
    for (size_t i = 0; i < N_SCORES; i++)
        suggest_try(&near, scores[i].key);
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
    const struct score *score = find_score(word + descending);
    bool by_rank = strcmp(word + descending, "rank") == 0;
    struct ordered_row *items;
    const char *key = NULL;
    int code = 0;

    if (score == NULL && !by_rank)
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
            items[i].number =
                by_rank ? rank_of(&items[i].row) : score->value(&items[i].row);
    }
    qsort(items, board->n, sizeof *items, compare_rows);
    for (size_t i = 0; i < board->n; i++)
        board->rows[i] = items[i].row;
    free(items);
    return 0;
}

bool best_sorts_by_test(const char *word)
{
    const struct score *score = find_score(word + (word[0] == '-'));

    return score != NULL &&
           (score->value == test_mean || score->value == test_mse);
}
