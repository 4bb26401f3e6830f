/* m2run compare-backends: do two backends compute the same? */
#include "cli/compare_backends.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json_output.h"
#include "schedule/pool.h"

enum { MAX_STEPS = 1000000, OP_BY_OP_STEPS = 5, FREE_STEPS = 20 };

struct compare_backends_options {
    int64_t steps;
    bool free_run, json;
};

#define NOT_GIVEN INT64_MIN

/* Prints a text that was written with this code, and lets go of it. */
static int print_text(int code, struct text *text)
{
    if (code == 0)
        fputs(text_string(text), stdout);
    text_free(text);
    return code;
}

static int compare_ops(const struct equality_request *request, bool json,
                       struct m2_error *err)
{
    struct op_by_op *found = calloc(1, sizeof *found);
    struct text text = {0};
    struct m2_error cause;
    int code, printed;

    if (found == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    code = op_by_op_run(request, found, err);
    if (code != 0 && code != M2_E_DIVERGED) {
        free(found);
        return code;
    }
    if (json)
        printed = print_json(op_by_op_json(request->config, found), &cause);
    else
        printed = print_text(
            op_by_op_write(request->config, found, &text, &cause), &text);
    if (printed != 0) {
        *err = cause;
        code = printed;
    }
    if (code == 0 && found->report.calls_over > 0)
        code = M2_E_DIFFERS;
    free(found);
    return code;
}

static int compare_free(const struct equality_request *request, bool json,
                        struct m2_error *err)
{
    struct free_run found;
    struct text text = {0};
    int code = free_run_make(request, &found, err);

    if (code != 0)
        return code;
    if (json)
        code = print_json(free_run_json(request->config, &found), err);
    else
        code = print_text(free_run_write(request->config, &found, &text, err),
                          &text);
    if (code == 0 && found.first_over > 0)
        code = M2_E_DIFFERS;
    free_run_free(&found);
    return code;
}

static int compare_backends(const struct compare_backends_options *options,
                            const struct arguments *arguments,
                            struct m2_error *err)
{
    struct experiment experiment;
    const struct config *config = &experiment.config;
    struct equality_request request = {
        .config = config,
        .devices = {arguments->items[1], arguments->items[2]},
        .steps = options->steps,
    };
    int code = load_experiment(arguments->items[0], arguments->items + 3,
                               arguments->n - 3, &experiment, err);

    if (code == 0) {
        request.threads =
            config->threads > 0 ? (int)config->threads : cores_allowed();
        if (request.steps == NOT_GIVEN)
            request.steps = options->free_run ? FREE_STEPS : OP_BY_OP_STEPS;
        code = options->free_run ? compare_free(&request, options->json, err)
                                 : compare_ops(&request, options->json, err);
    }
    experiment_free(&experiment);
    return code;
}

/* An override in place of a device; the name of a file may hold a '='. */
static bool is_override(const char *word)
{
    return word[0] == '~' ||
           (strchr(word, '=') != NULL && strchr(word, '/') == NULL);
}

static int check_arguments(const struct compare_backends_options *options,
                           const struct arguments *arguments,
                           struct m2_error *err)
{
    if (arguments->n == 0)
        return m2_fail(err, M2_E_USAGE,
                       "compare-backends: which experiment file?");
    for (size_t i = 1; i < 3; i++)
        if (arguments->n <= i || is_override(arguments->items[i]))
            return m2_fail(err, M2_E_USAGE,
                           "compare-backends: two devices must follow the "
                           "file, as cpu ref");
    for (size_t i = 3; i < arguments->n; i++)
        if (strncmp(arguments->items[i], "device=", 7) == 0)
            return m2_fail(err, M2_E_USAGE,
                           "compare-backends: %s: the devices are those that "
                           "follow the file",
                           arguments->items[i]);
    if (options->steps != NOT_GIVEN &&
        (options->steps < 1 || options->steps > MAX_STEPS))
        return m2_fail(err, M2_E_USAGE, "compare-backends: --steps is 1 to %d",
                       MAX_STEPS);
    return 0;
}

int command_compare_backends(int argc, char **argv)
{
    static const struct command_help help = {
        "compare-backends", "FILE A B [KEY=VALUE ...]",
        "Trains some steps of an experiment (without its sweep) on device A.\n"
        "Every op of them runs on device B, too, on equal inputs, and what\n"
        "both wrote is compared: the worst relative error of each op beside\n"
        "its limit, where it was met, and the first op over its limit. A and\n"
        "B are words as of the key `device`; the same one twice must agree in\n"
        "every bit. With --free-run both train by themselves, and their\n"
        "losses are compared: they may part by 1e-9 in f64 and by 1e-3 in\n"
        "f32. Ends with 7 above a limit. Nothing is kept.",
        "  m2run compare-backends experiments/quickstart.yaml cpu ref\n"
        "  m2run compare-backends exp.yaml cpu cuda:1 dtype=f64 --free-run"};
    struct compare_backends_options options = {.steps = NOT_GIVEN};
    const struct option_spec specs[] = {
        {"steps", 0, OPTION_INT, "N", "steps to make [5; 20 with --free-run]",
         &options.steps},
        {"free-run", 0, OPTION_FLAG, NULL, "train both, compare their losses",
         &options.free_run},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0)
        code = check_arguments(&options, &arguments, &err);
    if (code == 0)
        code = compare_backends(&options, &arguments, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    if (code == M2_E_DIFFERS) /* which has been printed */
        return exit_code_of(code);
    return code == 0 ? 0 : report_error(code, &err);
}
