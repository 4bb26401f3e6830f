/* m2run data: what the data of an experiment is, before any training. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "data/report.h"
#include "sweep/sweep.h"
#include "util/log.h"

/* The report is printed even when no dataset can be made of the config: it is
 * what shows why. */
static int print_report(const struct report *report, bool json,
                        struct m2_error *err)
{
    struct text text = {0};
    int code = json ? report_print_json(report, &text, err)
                    : report_print_text(report, &text, err);

    if (code == 0)
        fputs(text_string(&text), stdout);
    text_free(&text);
    if (code == 0 && report->problem_code != 0) {
        *err = report->problem;
        code = report->problem_code;
    }
    return code;
}

/* Runs of a sweep may differ in their data: the first one's are shown. */
static void tell_choice(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_axes; i++) {
        const struct sweep_setting *setting = &sweep->runs[0].settings[i];

        if (setting->value != NULL &&
            strncmp(setting->key, "data.", strlen("data.")) == 0)
            log_info("%s is swept: shown for its first value, %s", setting->key,
                     setting->value);
    }
}

static int show_data(const struct arguments *arguments, bool json,
                     struct m2_error *err)
{
    const struct experiment_request request = {
        .path = arguments->items[0],
        .overrides = arguments->items + 1,
        .n_overrides = arguments->n - 1,
        .lookup = &source_lookup_plugins,
    };
    struct experiment experiment;
    struct sweep sweep;
    struct messages messages = {0};
    struct text text = {0};
    struct report report;
    int code = sweep_load(&request, &experiment, &sweep, &messages, err);

    messages_print(&messages, &text);
    fputs(text_string(&text), stderr);
    text_free(&text);
    messages_free(&messages);
    if (code == 0)
        code = report_make(&sweep.runs[0].config, &report, err);
    if (code == 0) {
        tell_choice(&sweep);
        code = print_report(&report, json, err);
        report_free(&report);
    }
    sweep_free(&sweep);
    experiment_free(&experiment);
    return code;
}

int command_data(int argc, char **argv)
{
    static const struct command_help help = {
        "data", "FILE [KEY=VALUE ...]",
        "Reads the data of an experiment and shows files, series, rows, time\n"
        "range, gaps, changes of contract, statistics of every column, what\n"
        "was dropped or repaired, and the windows of each part. Nothing is\n"
        "trained.",
        "  m2run data experiments/quickstart.yaml\n"
        "  m2run data my.yaml data.path=bars.csv window=120 --json"};
    bool json = false;
    const struct option_spec specs[] = {
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &json},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n == 0)
        code = m2_fail(&err, M2_E_USAGE, "data: which experiment file?");
    if (code == 0)
        code = show_data(&arguments, json, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
