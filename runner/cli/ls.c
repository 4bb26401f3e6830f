/* m2run ls: the table of runs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/ls_table.h"
#include "cli/run_select.h"
#include "cli/screen.h"
#include "results/query.h"
#include "results/store.h"
#include "train/stale.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/terminal.h"

enum { WATCH_S = 2 };

struct ls_options {
    const char *results, *sort;
    int64_t limit;
    bool json, csv, watch;
    const char *root; /* resolved */
    const char *name; /* experiment, or NULL */
    struct run_selection selection;
};

static enum ls_format table_format(const struct ls_options *options)
{
    if (options->json)
        return LS_JSON;
    return options->csv ? LS_CSV : LS_TEXT;
}

static int apply_sort(const char *sort, struct run_list *list,
                      struct m2_error *err)
{
    bool descending = sort[0] == '-';
    struct run_key key;
    int code = run_key_find(list, sort + descending, &key, err);

    return code != 0 ? code : run_list_sort(list, &key, descending, err);
}

/* Words that no run knows are no mistake while there is no run. */
static int load_list(const struct ls_options *options, struct run_list *list,
                     struct m2_error *err)
{
    int code = run_list_load(options->root, options->name, list, err);

    if (code == 0)
        code = stale_mark(list->entries, list->n, err);
    if (code == 0 && list->n > 0 && options->sort != NULL)
        code = apply_sort(options->sort, list, err);
    if (code == 0)
        code = run_selection_apply(&options->selection, list, err);
    return code;
}

static void write_summary(const struct run_list *list, struct text *out)
{
    static const char *const states[] = {
        "running", "done",        "stopped", "failed", "diverged",
        "oom",     "interrupted", "pending", "stale",  "damaged"};
    bool any = false;

    text_addf(out, "%zu run%s", list->n, list->n == 1 ? "" : "s");
    for (size_t s = 0; s < sizeof states / sizeof states[0]; s++) {
        size_t n = 0;

        for (size_t i = 0; i < list->n; i++)
            n += strcmp(list->entries[i].state, states[s]) == 0;
        if (n > 0)
            text_addf(out, "%s %zu %s", any ? "," : ":", n, states[s]);
        any = any || n > 0;
    }
}

static int print_list(const struct ls_options *options, bool redraw,
                      struct m2_error *err)
{
    struct run_list list = {0};
    struct text text = {0}, summary = {0};
    int code = load_list(options, &list, err);

    if (code == 0)
        code = ls_table_write(&list, table_format(options),
                              (size_t)options->limit, &text, err);
    if (code == 0) {
        write_summary(&list, &summary);
        if (list.n == 0 && !redraw)
            text_addf(&summary, " in %s", options->root);
        if (redraw) {
            struct text screen = {0};

            text_addf(&screen, "%s in %s\n\n%s", text_string(&summary),
                      options->root, text_string(&text));
            screen_redraw(&screen);
            text_free(&screen);
        } else if (options->json || options->csv) {
            fputs(text_string(&text), stdout);
        } else {
            screen_print(&text);
            fflush(stdout);
            log_info("%s", text_string(&summary));
        }
        if (!redraw)
            report_damaged(&list);
    }
    text_free(&summary);
    text_free(&text);
    run_list_free(&list);
    return code;
}

/* Until it is interrupted, where the screen can be redrawn. */
static int show(const struct ls_options *options, struct m2_error *err)
{
    const struct timespec pause = {.tv_sec = WATCH_S};
    bool redraw = options->watch && !options->json && !options->csv &&
                  terminal_can_redraw(STDOUT_FILENO);
    int code = print_list(options, redraw, err);

    while (code == 0 && redraw) {
        nanosleep(&pause, NULL);
        code = print_list(options, true, err);
    }
    return code;
}

static int check_name(const struct ls_options *options, struct m2_error *err)
{
    char *dir = path_join(options->root, options->name, err);
    int code = dir == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && !file_is_dir(dir))
        code = m2_fail(err, M2_E_USAGE,
                       "ls: no experiment '%s' in %s; a condition is "
                       "KEY=VALUE",
                       options->name, options->root);
    free(dir);
    return code;
}

static int list_runs(struct ls_options *options, struct m2_error *err)
{
    char *root = store_root(options->results), *name = NULL;
    int code = root == NULL ? m2_fail(err, M2_E_MEMORY, "out of memory") : 0;

    options->root = root;
    if (code == 0 && options->selection.word != NULL) {
        code = experiment_name(options->selection.word, &name, err);
        options->name = name;
        if (code == 0)
            code = check_name(options, err);
    }
    if (code == 0)
        code = show(options, err);
    free(name);
    free(root);
    return code;
}

int command_ls(int argc, char **argv)
{
    static const struct command_help help = {
        "ls", "[FILE|NAME] [KEY=VALUE ...]",
        "Lists runs with state, steps, best value and a column for every key\n"
        "in which they differ. Conditions (= != < <= > >=) keep runs by any\n"
        "key, metric (val/mse, test/mse, train/loss) or fact: state, best,\n"
        "step, seconds, started, run, ... With = and !=, * and ? are\n"
        "patterns.",
        "  m2run ls state=done 'lr<1e-3' --sort best -n 10\n"
        "  m2run ls quickstart --watch\n  m2run ls --csv > runs.csv"};
    struct ls_options options = {0};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder [results]",
         &options.results},
        {"sort", 's', OPTION_TEXT, "KEY", "order by a value; -KEY: falling",
         &options.sort},
        {"limit", 'n', OPTION_INT, "N", "only the first N runs",
         &options.limit},
        {"watch", 'w', OPTION_FLAG, NULL,
         "draw again every 2 seconds, on a terminal", &options.watch},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {"csv", 0, OPTION_FLAG, NULL, "as CSV", &options.csv},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && options.limit < 0)
        code = m2_fail(&err, M2_E_USAGE, "ls: --limit cannot be negative");
    if (code == 0)
        code = run_selection_make(&arguments, "ls", &options.selection, &err);
    if (code == 0)
        code = list_runs(&options, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
