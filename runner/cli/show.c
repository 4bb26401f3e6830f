/* m2run show: everything about one run. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/show.h"
#include "results/store.h"
#include "train/stale.h"

struct show_options {
    const char *results;
    bool json, follow;
};

static int print_record(const struct run_entry *entry, struct m2_error *err)
{
    if (entry->damage != NULL)
        return m2_fail(err, M2_E_RESULTS, "%s", entry->damage);
    if (entry->record == NULL)
        return m2_fail(err, M2_E_RESULTS, "%s: no run.json yet", entry->path);
    return print_json(json_incref(entry->record), err);
}

static int print_run(const struct show_options *options, const char *path,
                     struct m2_error *err)
{
    struct run_entry entry;
    struct text text = {0};
    int code = run_entry_load(path, &entry, err);

    if (code != 0)
        return code;
    code = stale_mark(&entry, 1, err);
    if (code == 0 && options->json) {
        code = print_record(&entry, err);
    } else if (code == 0) {
        code = show_report(&entry, &text, err);
        if (code == 0)
            fputs(text_string(&text), stdout);
    }
    text_free(&text);
    run_entry_free(&entry);
    return code;
}

static int show(const struct show_options *options, const char *run,
                struct m2_error *err)
{
    char *root = store_root(options->results), *path = NULL;
    int code = root == NULL ? m2_fail(err, M2_E_MEMORY, "out of memory")
                            : store_resolve(root, run, &path, err);

    if (code == 0)
        code = options->follow ? show_follow(path, err)
                               : print_run(options, path, err);
    free(path);
    free(root);
    return code;
}

int command_show(int argc, char **argv)
{
    static const struct command_help help = {
        "show", "RUN",
        "Shows state, times, settings that are not at their default, data,\n"
        "scores beside the naive baselines, attempts, checkpoints and the\n"
        "last rows of metrics.csv. RUN is a directory, a unique prefix of a\n"
        "run's name, its hash, or @last.",
        "  m2run show @last\n  m2run show lr-0.001_s0 --json\n"
        "  m2run show quickstart/lr-0.001 -f"};
    struct show_options options = {0};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder [results]",
         &options.results},
        {"follow", 'f', OPTION_FLAG, NULL,
         "print log.txt as it grows, until the run ends", &options.follow},
        {"json", 0, OPTION_FLAG, NULL, "print run.json", &options.json},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n == 0)
        code =
            m2_fail(&err, M2_E_USAGE, "show: which run? `m2run ls` lists them");
    if (code == 0 && arguments.n > 1)
        code = m2_fail(&err, M2_E_USAGE, "show: one run, not %zu", arguments.n);
    if (code == 0 && options.json && options.follow)
        code = m2_fail(&err, M2_E_USAGE, "show: --json or --follow, not both");
    if (code == 0)
        code = show(&options, arguments.items[0], &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
