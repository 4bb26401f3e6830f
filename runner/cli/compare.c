/* m2run compare: runs side by side. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/compare.h"
#include "cli/json_output.h"
#include "results/store.h"
#include "train/stale.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/terminal.h"

struct compare_options {
    const char *results;
    bool all, json, csv;
};

static int check_distinct(const struct string_list *paths,
                          const struct arguments *runs, struct m2_error *err)
{
    for (size_t i = 0; i < paths->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(paths->items[i], paths->items[j]) == 0)
                return m2_fail(err, M2_E_USAGE,
                               "compare: '%s' and '%s' are the same run",
                               runs->items[j], runs->items[i]);
    return 0;
}

/* Runs that cannot be read are reported and counted, and left out. */
static int load_runs(const struct string_list *paths, struct run_list *list,
                     size_t *n_damaged, struct m2_error *err)
{
    int code = 0;

    list->entries = memory_zeroed(paths->count, sizeof *list->entries, err);
    if (list->entries == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; code == 0 && i < paths->count; i++) {
        struct run_entry *entry = &list->entries[list->n];

        code = run_entry_load(paths->items[i], entry, err);
        if (code != 0)
            break;
        if (entry->damage != NULL ||
            (entry->published && entry->record == NULL)) {
            log_warning("left out: %s%s",
                        entry->damage != NULL ? entry->damage : entry->path,
                        entry->damage != NULL ? "" : ": has no run.json");
            run_entry_free(entry);
            ++*n_damaged;
            continue;
        }
        list->n++;
        code = compare_add_scores(entry, err);
    }
    return code != 0 ? code : stale_mark(list->entries, list->n, err);
}

/* Naive forecasts score the same on the same windows; another loss is another
 * score. */
static bool are_comparable(const struct comparison *comparison)
{
    for (size_t r = 0; r < comparison->n; r++) {
        const struct compare_row *row = &comparison->rows[r];

        if (row->differs && (row->section == COMPARE_BASELINES ||
                             strcmp(row->key, "train.loss") == 0 ||
                             strcmp(row->key, "train.huber_delta") == 0))
            return false;
    }
    return true;
}

static int print_comparison(const struct compare_options *options,
                            const struct comparison *comparison,
                            struct m2_error *err)
{
    bool narrow = terminal_is_tty(STDOUT_FILENO) || getenv("COLUMNS") != NULL;
    struct text text = {0};
    int code;

    if (options->json)
        return print_json(compare_json(comparison), err);
    if (options->csv)
        code = compare_csv(comparison, &text, err);
    else
        code = compare_print(comparison,
                             narrow ? (size_t)terminal_width(STDOUT_FILENO) : 0,
                             &text, err);
    if (code == 0)
        fputs(text_string(&text), stdout);
    fflush(stdout);
    text_free(&text);
    if (code == 0 && !are_comparable(comparison))
        log_info(
            "data or loss differ: these scores are not of the same windows, "
            "or not the same score");
    return code;
}

static int compare_paths(const struct compare_options *options,
                         const struct string_list *paths, struct m2_error *err)
{
    struct run_list list = {0};
    struct comparison comparison = {0};
    size_t n_damaged = 0;
    int code = load_runs(paths, &list, &n_damaged, err);

    if (code == 0 && list.n == 0)
        code = m2_fail(err, M2_E_RESULTS, "none of the runs can be read");
    if (code == 0)
        code = comparison_make(&list, options->all, &comparison, err);
    if (code == 0)
        code = print_comparison(options, &comparison, err);
    if (code == 0 && n_damaged > 0)
        code = m2_fail(err, M2_E_RESULTS, "%zu of %zu runs could not be read",
                       n_damaged, paths->count);
    comparison_free(&comparison);
    run_list_free(&list);
    return code;
}

static int compare(const struct compare_options *options,
                   const struct arguments *runs, struct m2_error *err)
{
    struct string_list paths = {0};
    char *root = store_root(options->results);
    int code = root == NULL
                   ? m2_fail(err, M2_E_MEMORY, "out of memory")
                   : store_resolve_all(root, runs->items, runs->n, &paths, err);

    if (code == 0)
        code = check_distinct(&paths, runs, err);
    if (code == 0)
        code = compare_paths(options, &paths, err);
    string_list_free(&paths);
    free(root);
    return code;
}

int command_compare(int argc, char **argv)
{
    static const struct command_help help = {
        "compare", "RUN RUN ...",
        "Shows 2 to 20 runs side by side: settings and facts (build, backend,\n"
        "libraries, processor, data) that differ, scores with the best of each\n"
        "row marked *, and those of the naive baselines. A RUN is a directory,\n"
        "a unique prefix of a run's name, its hash, or @last.",
        "  m2run compare lr-0.001_s0 lr-0.003_s0\n"
        "  m2run compare results/quickstart/*/ --all --csv"};
    struct compare_options options = {0};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder [results]",
         &options.results},
        {"all", 'a', OPTION_FLAG, NULL,
         "settings and facts that are equal, too", &options.all},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {"csv", 0, OPTION_FLAG, NULL, "as CSV", &options.csv},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && (arguments.n < 2 || arguments.n > COMPARE_MAX_RUNS))
        code = m2_fail(&err, M2_E_USAGE,
                       "compare: 2 to %d runs, not %zu; `m2run ls` lists them",
                       COMPARE_MAX_RUNS, arguments.n);
    if (code == 0)
        code = compare(&options, &arguments, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
