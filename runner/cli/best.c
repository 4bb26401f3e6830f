/* m2run best: the leaderboard of one experiment, or of all. */
#include <stdlib.h>
#include <string.h>

#include "cli/best_table.h"
#include "cli/command.h"
#include "cli/run_list.h"
#include "cli/run_select.h"
#include "cli/screen.h"
#include "results/store.h"
#include "util/log.h"
#include "util/memory.h"

struct best_options {
    const char *results, *sort;
    int64_t limit;
    bool json, csv;
    struct run_selection selection;
};

/* What the word of the command line stands for. */
struct best_scope {
    char *root;
    char *name;                          /* experiment; NULL: all */
    bool is_sweep;                       /* only the runs of a file's sweep */
    char (*hashes)[RUN_HASH_LENGTH + 1]; /* sorted, of these runs */
    size_t n_hashes;
    size_t n_seeds; /* that differ in the sweep */
};

static void scope_free(struct best_scope *scope)
{
    free(scope->root);
    free(scope->name);
    free(scope->hashes);
}

/* ---- the runs of a file -------------------------------------------------- */

static int compare_hashes(const void *left, const void *right)
{
    return strcmp(left, right);
}

static int compare_seeds(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static int count_seeds(const struct sweep *sweep, size_t *out,
                       struct m2_error *err)
{
    uint64_t *seeds = memory_zeroed(sweep->n_runs, sizeof *seeds, err);

    if (seeds == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < sweep->n_runs; i++)
        seeds[i] = sweep->runs[i].config.seed;
    qsort(seeds, sweep->n_runs, sizeof *seeds, compare_seeds);
    *out = 0;
    for (size_t i = 0; i < sweep->n_runs; i++)
        *out += i == 0 || seeds[i] != seeds[i - 1];
    free(seeds);
    return 0;
}

static int take_hashes(const struct resolved_sweep *resolved,
                       struct best_scope *scope, struct m2_error *err)
{
    const struct sweep_record *record = &resolved->record;

    scope->hashes = memory_zeroed(record->n_runs, sizeof *scope->hashes, err);
    if (scope->hashes == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < record->n_runs; i++)
        snprintf(scope->hashes[i], sizeof *scope->hashes, "%.*s",
                 RUN_HASH_LENGTH, record->runs[i].identity);
    qsort(scope->hashes, record->n_runs, sizeof *scope->hashes, compare_hashes);
    scope->n_hashes = record->n_runs;
    scope->is_sweep = true;
    return count_seeds(&resolved->sweep, &scope->n_seeds, err);
}

/* Without the data nobody can tell which runs are those of the file. */
static int resolve_file(const char *path, struct best_scope *scope,
                        struct m2_error *err)
{
    struct resolved_sweep resolved;
    struct m2_error cause;
    int code = resolve_sweep(path, NULL, 0, scope->root, &resolved, &cause);
    const char *name = resolved.experiment.config.name;

    if (code == M2_E_CONFIG || code == M2_E_MEMORY || name == NULL) {
        *err = cause;
    } else {
        if (code != 0)
            log_warning("%s; all runs of %s are shown", cause.text, name);
        scope->name = memory_string(name, err);
        code = scope->name == NULL ? M2_E_MEMORY
               : code != 0         ? 0
                                   : take_hashes(&resolved, scope, err);
    }
    resolved_sweep_free(&resolved);
    return code;
}

static int find_scope(const struct best_options *options,
                      struct best_scope *out, struct m2_error *err)
{
    const char *word = options->selection.word;
    size_t length = word != NULL ? strlen(word) : 0;

    *out = (struct best_scope){.root = store_root(options->results)};
    if (out->root == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    if (length >= 5 && strcmp(word + length - 5, ".yaml") == 0)
        return resolve_file(word, out, err);
    if (word == NULL)
        return 0;
    out->name = memory_string(word, err);
    return out->name == NULL ? M2_E_MEMORY : 0;
}

static bool is_in_scope(const struct best_scope *scope,
                        const struct run_entry *entry)
{
    return bsearch(run_name_hash(entry->run), scope->hashes, scope->n_hashes,
                   sizeof *scope->hashes, compare_hashes) != NULL;
}

static void keep_scope(const struct best_scope *scope, struct run_list *list)
{
    size_t kept = 0;

    if (!scope->is_sweep)
        return;
    for (size_t i = 0; i < list->n; i++)
        if (is_in_scope(scope, &list->entries[i]))
            list->entries[kept++] = list->entries[i];
        else
            run_entry_free(&list->entries[i]);
    list->n = kept;
    if (kept < scope->n_hashes)
        log_info("%zu of the %zu runs of the sweep have not begun",
                 scope->n_hashes - kept, scope->n_hashes);
}

/* ---- the board ----------------------------------------------------------- */

static int load_board(const struct best_options *options,
                      const struct best_scope *scope, struct run_list *list,
                      struct leaderboard *board, struct m2_error *err)
{
    int code = run_list_load(scope->root, scope->name, list, err);

    if (code == 0) {
        report_damaged(list);
        keep_scope(scope, list);
        code = run_selection_apply(&options->selection, list, err);
    }
    if (code == 0)
        code = leaderboard_make(list, board, err);
    if (code == 0 && board->n == 0)
        code = m2_fail(
            err, M2_E_RESULTS, "no runs of %s in %s%s",
            scope->name != NULL ? scope->name : "any experiment", scope->root,
            options->selection.n_conditions > 0 ? " that meet the conditions"
                                                : "");
    for (size_t i = 0; code == 0 && i < board->n; i++)
        if (options->selection.n_conditions == 0 &&
            board->rows[i].n_expected < scope->n_seeds)
            board->rows[i].n_expected = scope->n_seeds;
    return code;
}

/* What a reader of the table must not overlook. */
static void print_notes(const struct leaderboard *board,
                        const struct best_options *options)
{
    size_t n_short = 0, n_diverged = 0;

    for (size_t i = 0; i < board->n; i++) {
        n_short += board->rows[i].metric.n < board->rows[i].n_expected;
        n_diverged += board->rows[i].n_diverged;
    }
    if (n_short > 0)
        log_info("%zu configuration%s fewer results than expected (n): a mean "
                 "is over those that are there",
                 n_short, n_short == 1 ? " has" : "s have");
    if (n_diverged > 0)
        log_info("%zu run%s diverged: in no mean", n_diverged,
                 n_diverged == 1 ? "" : "s");
    if (strncmp(board->metric, "train/", 6) == 0)
        log_warning("ranked by %s: that is no score on data the model has not "
                    "seen",
                    board->metric);
    if (options->sort != NULL && best_sorts_by_test(board, options->sort))
        log_warning("sorted by the test part: who chooses by it has no test "
                    "left; ranks are those of the validation part");
}

static int show_best(const struct best_options *options, struct m2_error *err)
{
    struct run_list list = {0};
    struct leaderboard board = {0};
    struct best_scope scope;
    struct text text = {0};
    enum best_format format = options->json  ? BEST_JSON
                              : options->csv ? BEST_CSV
                                             : BEST_TEXT;
    int code = find_scope(options, &scope, err);

    if (code == 0)
        code = load_board(options, &scope, &list, &board, err);
    if (code == 0 && options->sort != NULL)
        code = best_sort(&board, options->sort, err);
    if (code == 0)
        code = best_table_write(&board, format, (size_t)options->limit, &text,
                                err);
    if (code == 0 && format == BEST_TEXT)
        screen_print(&text);
    else if (code == 0)
        fputs(text_string(&text), stdout);
    if (code == 0) {
        fflush(stdout);
        print_notes(&board, options);
    }
    text_free(&text);
    leaderboard_free(&board);
    run_list_free(&list);
    scope_free(&scope);
    return code;
}

int command_best(int argc, char **argv)
{
    static const struct command_help help = {
        "best", "[FILE|NAME] [KEY=VALUE ...]",
        "Prints the leaderboard: one row per configuration, mean, standard\n"
        "deviation and half the 95 % interval over its seeds (n of them), the\n"
        "best naive baseline on the same windows and the test score beside.\n"
        "Ranked by the experiment's metric on the validation part. With FILE\n"
        "only the runs of its sweep. Conditions keep runs, as in `m2run ls`.",
        "  m2run best quickstart\n  m2run best experiments/etth1.yaml --csv\n"
        "  m2run best 'lr<1e-3' state=done --sort -skill"};
    struct best_options options = {0};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder [results]",
         &options.results},
        {"sort", 's', OPTION_TEXT, "KEY",
         "order by a column or a setting; -KEY: falling", &options.sort},
        {"limit", 'n', OPTION_INT, "N", "only the first N rows",
         &options.limit},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {"csv", 0, OPTION_FLAG, NULL, "as CSV", &options.csv},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && options.limit < 0)
        code = m2_fail(&err, M2_E_USAGE, "best: --limit cannot be negative");
    if (code == 0)
        code = run_selection_make(&arguments, "best", &options.selection, &err);
    if (code == 0)
        code = show_best(&options, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
