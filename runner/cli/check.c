/* m2run check: is an experiment file valid, and what does it mean? */
#include <stdlib.h>

#include "cli/command.h"
#include "config/identity.h"
#include "data/expression.h"
#include "sweep/sweep.h"

struct check_options {
    bool print;
};

static void print_result(const struct check_options *options,
                         const struct experiment *experiment,
                         const struct sweep *sweep)
{
    struct text text = {0};

    if (options->print)
        config_write(&experiment->schema, &experiment->config, &text);
    else
        text_addf(&text, "%s: ok, %zu run%s", experiment->config.name,
                  sweep->n_runs, sweep->n_runs == 1 ? "" : "s");
    if (!options->print && sweep->n_runs > 1)
        text_addf(&text, " (%zu configuration%s, %zu seed%s)", sweep->n_points,
                  sweep->n_points == 1 ? "" : "s", sweep->n_seeds,
                  sweep->n_seeds == 1 ? "" : "s");
    if (!options->print)
        text_add_char(&text, '\n');
    fputs(text_string(&text), stdout);
    text_free(&text);
}

/* The place of item `index` of a list key: its own where the file has it. */
static struct place item_place(const struct experiment *experiment,
                               const char *key, size_t index)
{
    const struct binding *binding = &experiment->binding;
    const struct node *node = binding->nodes[schema_find(binding->schema, key)];
    const struct node *item = node == NULL ? NULL : node->first;

    for (size_t i = 0; i < index && item != NULL; i++)
        item = item->next;
    return item != NULL   ? item->place
           : node != NULL ? node->place
                          : binding->whole;
}

/* Warnings only: a column of the data may have any name, with brackets, too,
 * and data is not read here. */
static void check_expressions(const struct experiment *experiment,
                              const char *key, char *const *texts, size_t n,
                              struct messages *messages)
{
    for (size_t i = 0; i < n; i++) {
        const struct expression_scope scope = {.key = key};
        struct expression *expression = NULL;
        struct m2_error cause;

        if (expression_parse(texts[i], &scope, &expression, &cause) ==
            M2_E_CONFIG)
            message_warning(messages, item_place(experiment, key, i),
                            "%s (unless the data has a column of this name)",
                            cause.text);
        expression_free(expression);
    }
}

static void check_columns(const struct experiment *experiment,
                          const struct sweep *sweep, struct messages *messages)
{
    for (size_t i = 0; i < sweep->n_runs; i++) {
        const struct config_data *data = &sweep->runs[i].config.data;

        check_expressions(experiment, "data.features", data->features,
                          data->n_features, messages);
        check_expressions(experiment, "data.target", data->targets,
                          data->n_targets, messages);
    }
}

static int check_file(const struct check_options *options,
                      const struct arguments *arguments, struct m2_error *err)
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
    int code = sweep_load(&request, &experiment, &sweep, &messages, err);

    if (code == 0)
        check_columns(&experiment, &sweep, &messages);
    messages_print(&messages, &text);
    fputs(text_string(&text), stderr);
    text_free(&text);
    messages_free(&messages);
    if (code == 0)
        print_result(options, &experiment, &sweep);
    sweep_free(&sweep);
    experiment_free(&experiment);
    return code;
}

int command_check(int argc, char **argv)
{
    static const struct command_help help = {
        "check", "FILE [KEY=VALUE ...]",
        "Reads an experiment file with its includes and overrides, reports\n"
        "every error of it at once, and counts its runs. Neither data nor\n"
        "results are touched.",
        "  m2run check experiments/quickstart.yaml\n"
        "  m2run check my.yaml window=120 lr=1e-3,1e-4 --print"};
    struct check_options options = {0};
    const struct option_spec specs[] = {
        {"print", 'p', OPTION_FLAG, NULL,
         "print the resolved configuration, without the sweep", &options.print},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n == 0)
        code = m2_fail(&err, M2_E_USAGE, "check: which experiment file?");
    if (code == 0)
        code = check_file(&options, &arguments, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
