/* m2run best: the leaderboard of one experiment, or of all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "results/leaderboard.h"
#include "results/store.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"
#include "util/terminal.h"

struct best_options {
    const char *results;
    int64_t limit;
    bool json, csv;
};

enum { AFTER_KEYS = 9, MAX_KEYS = 24 };

/* Last part of a key: "train.optimizer.lr" -> "lr". */
static const char *short_key(const char *key)
{
    const char *dot = strrchr(key, '.');

    return dot != NULL ? dot + 1 : key;
}

/* The last column; people are spared it while every run is done. */
static bool any_not_done(const struct leaderboard *board)
{
    for (size_t i = 0; i < board->n; i++)
        if (board->rows[i].n_other > 0)
            return true;
    return false;
}

static size_t make_columns(const struct leaderboard *board, bool lossless,
                           struct table_column *columns)
{
    const struct table_column after[AFTER_KEYS] = {
        {"n", NULL, TABLE_RIGHT, true},
        {"metric", board->metric, TABLE_RIGHT, true},
        {"std", "+/-", TABLE_RIGHT, true},
        {"val_mse", "val/mse", TABLE_RIGHT, true},
        {"naive_mse", "naive mse", TABLE_RIGHT, true},
        {"skill", NULL, TABLE_RIGHT, true},
        {"hit_rate", "hit rate", TABLE_RIGHT, true},
        {"test_mse", "test/mse", TABLE_RIGHT, true},
        {"not_done", "not done", TABLE_RIGHT, true},
    };
    size_t n = 0;

    columns[n++] = (struct table_column){"rank", "#", TABLE_RIGHT, true};
    columns[n++] = (struct table_column){"experiment", NULL, TABLE_LEFT, false};
    for (size_t i = 0; i < board->keys.count && i < MAX_KEYS; i++)
        columns[n++] = (struct table_column){board->keys.items[i],
                                             short_key(board->keys.items[i]),
                                             TABLE_RIGHT, false};
    memcpy(columns + n, after, sizeof after);
    return n + AFTER_KEYS - !(lossless || any_not_done(board));
}

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

static int add_row(struct table *table, const struct leaderboard *board,
                   size_t i, bool lossless, struct m2_error *err)
{
    const struct leaderboard_row *row = &board->rows[i];
    const double values[AFTER_KEYS] = {
        (double)row->n_done,
        statistic_mean(&row->metric),
        statistic_std(&row->metric),
        statistic_mean(&row->val_mse),
        statistic_mean(&row->naive),
        statistic_mean(&row->skill),
        statistic_mean(&row->hit_rate),
        statistic_mean(&row->test_mse),
        row->n_other > 0 ? (double)row->n_other : NAN,
    };
    char numbers[AFTER_KEYS + 1][NUMBER_TEXT_SIZE];
    const char *cells[2 + MAX_KEYS + AFTER_KEYS];
    size_t n = 0;

    snprintf(numbers[AFTER_KEYS], sizeof numbers[0], "%zu", row->rank);
    cells[n++] = row->rank > 0 ? numbers[AFTER_KEYS] : NULL;
    cells[n++] = row->example->experiment;
    for (size_t k = 0; k < board->keys.count && k < MAX_KEYS; k++)
        cells[n++] = json_string_value(
            run_value(row->example, "config", board->keys.items[k]));
    for (size_t k = 0; k < AFTER_KEYS; k++)
        cells[n++] = cell(values[k], lossless, numbers[k]);
    return table_add_row(table, cells, err);
}

static int print_board(const struct leaderboard *board,
                       const struct best_options *options, struct m2_error *err)
{
    struct table_column columns[2 + MAX_KEYS + AFTER_KEYS];
    struct table table;
    struct text text = {0};
    bool lossless = options->json || options->csv;
    int code = table_init(&table, columns,
                          make_columns(board, lossless, columns), err);

    for (size_t i = 0; code == 0 && i < board->n; i++)
        if (options->limit <= 0 || (int64_t)i < options->limit)
            code = add_row(&table, board, i, lossless, err);
    if (code == 0 && options->json)
        table_json(&table, &text);
    else if (code == 0 && options->csv)
        table_csv(&table, &text);
    else if (code == 0)
        table_print(&table, &text);
    fputs(text_string(&text), stdout);
    text_free(&text);
    table_free(&table);
    return code;
}

static int show_best(const struct best_options *options, const char *argument,
                     struct m2_error *err)
{
    struct run_list list = {0};
    struct leaderboard board = {0};
    char *root = store_root(options->results), *name = NULL;
    int code = root == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && argument != NULL)
        code = experiment_name(argument, &name, err);
    if (code == 0)
        code = run_list_load(root, name, &list, err);
    if (code == 0)
        code = leaderboard_make(&list, &board, err);
    if (code == 0 && board.n == 0)
        code = m2_fail(err, M2_E_RESULTS, "no runs of %s in %s",
                       name != NULL ? name : "any experiment", root);
    if (code == 0)
        code = print_board(&board, options, err);
    leaderboard_free(&board);
    run_list_free(&list);
    free(name);
    free(root);
    return code;
}

int command_best(int argc, char **argv)
{
    static const struct command_help help = {
        "best", "[FILE|NAME]",
        "Prints the leaderboard: one row per configuration, mean and standard\n"
        "deviation over its seeds, the best naive baseline on the same\n"
        "windows and the test score beside. Ranked by the experiment's\n"
        "metric on the validation part.",
        "  m2run best quickstart\n  m2run best experiments/etth1.yaml --csv"};
    struct best_options options = {0};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder", &options.results},
        {"limit", 'n', OPTION_INT, "N", "only the first N rows",
         &options.limit},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {"csv", 0, OPTION_FLAG, NULL, "as CSV", &options.csv},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n > 1)
        code = m2_fail(&err, M2_E_USAGE, "best: one experiment, not %zu",
                       arguments.n);
    if (code == 0)
        code = show_best(&options, arguments.n == 1 ? arguments.items[0] : NULL,
                         &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
