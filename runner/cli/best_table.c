/* Columns and cells of the leaderboard. */
#include "cli/best_table.h"

#include <math.h>
#include <string.h>

#include "cli/best_scores.h"
#include "results/settings.h"
#include "util/number.h"
#include "util/terminal.h"

enum { MAX_KEYS = 24 };

/* ---- columns ------------------------------------------------------------- */

static bool is_shadow(const struct leaderboard *board, enum best_score_id id)
{
    enum best_score_id shadow = best_scores[id].shadow;

    for (size_t i = 0; shadow != id && i < board->n; i++) {
        double a = best_score(&board->rows[i], id);
        double b = best_score(&board->rows[i], shadow);

        if (!(a == b || (isnan(a) && isnan(b))))
            return false;
    }
    return shadow != id;
}

static bool has_something(const struct leaderboard *board,
                          enum best_score_id id)
{
    for (size_t i = 0; i < board->n; i++) {
        double value = best_score(&board->rows[i], id);

        if (!isnan(value) && (id != BEST_NOT_DONE || value != 0))
            return true;
    }
    return false;
}

static bool is_for_people(const struct leaderboard *board,
                          enum best_score_id id)
{
    return !best_scores[id].only_data && !is_shadow(board, id) &&
           has_something(board, id);
}

/* Columns of one table; the first is the rank. */
struct best_columns {
    struct table_column heads[2 + MAX_KEYS + N_BEST_SCORES];
    enum best_score_id scores[N_BEST_SCORES];
    size_t n, n_keys, n_scores;
    bool lossless, with_experiment;
    char test_title[64];
};

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
                      enum best_score_id id)
{
    const char *title = best_scores[id].title;

    if (id == BEST_METRIC)
        title = board->metric;
    else if (id == BEST_TEST && !out->lossless)
        title = out->test_title;
    out->heads[out->n++] =
        (struct table_column){best_scores[id].key, title, TABLE_RIGHT, true};
    out->scores[out->n_scores++] = id;
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
            key, best_short_key(key), TABLE_RIGHT, is_number_key(board, key)};
    }
    for (enum best_score_id id = 0; id < N_BEST_SCORES; id++)
        if (lossless || is_for_people(board, id))
            add_score(out, board, id);
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
    enum best_score_id id = columns->scores[i];

    if (!columns->lossless && id == BEST_N &&
        row->metric.n != row->n_expected) {
        snprintf(out, NUMBER_TEXT_SIZE, "%zu of %zu", row->metric.n,
                 row->n_expected);
        return out;
    }
    if (!columns->lossless && id == BEST_NOT_DONE && row->n_other == 0)
        return NULL;
    return cell(best_score(row, id), columns->lossless, out);
}

static int add_row(struct table *table, const struct best_columns *columns,
                   const struct leaderboard *board, size_t i,
                   struct m2_error *err)
{
    const struct leaderboard_row *row = &board->rows[i];
    char numbers[N_BEST_SCORES + 1][NUMBER_TEXT_SIZE];
    const char *cells[2 + MAX_KEYS + N_BEST_SCORES];
    size_t n = 0;

    cells[n++] = cell(best_score(row, BEST_RANK), true, numbers[N_BEST_SCORES]);
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
