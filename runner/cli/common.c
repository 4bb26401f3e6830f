/* What several subcommands need. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "train/stale.h"
#include "util/log.h"
#include "util/memory.h"

int exit_code_of(int code)
{
    switch (code) {
    case M2_OK:
        return 0;
    case M2_E_FAILED:
    case M2_E_DIVERGED:
    case M2_E_MEMORY:
        return 1;
    case M2_E_USAGE:
    case M2_E_CONFIG:
    case M2_E_DEVICE:
    case M2_E_DATA:
    case M2_E_RESULTS:
    case M2_E_DIFFERS:
        return -code;
    case M2_E_UNSUPPORTED:
        return -M2_E_DEVICE;
    case M2_E_STOPPED:
        return -M2_E_STOPPED;
    default:
        return -M2_E_INTERNAL;
    }
}

int report_error(int code, const struct m2_error *err)
{
    if (code == M2_E_INTERNAL || code == M2_E_ARGUMENT)
        log_error("internal error: %s; please report it", err->text);
    else
        log_error("%s", err->text);
    return exit_code_of(code);
}

int load_experiment(const char *path, const char *const *overrides,
                    size_t n_overrides, struct experiment *out,
                    struct m2_error *err)
{
    const struct experiment_request request = {
        .path = path,
        .overrides = overrides,
        .n_overrides = n_overrides,
        .lookup = &source_lookup_plugins,
    };
    struct messages messages = {0};
    struct text text = {0};
    int code = experiment_load(&request, out, &messages, err);

    messages_print(&messages, &text);
    fputs(text_string(&text), stderr);
    text_free(&text);
    messages_free(&messages);
    return code;
}

int experiment_name(const char *argument, char **out, struct m2_error *err)
{
    struct experiment experiment;
    size_t length = strlen(argument);
    int code;

    if (length < 5 || strcmp(argument + length - 5, ".yaml") != 0) {
        *out = memory_string(argument, err);
        return *out == NULL ? M2_E_MEMORY : 0;
    }
    code = load_experiment(argument, NULL, 0, &experiment, err);
    if (code == 0) {
        *out = memory_string(experiment.config.name, err);
        code = *out == NULL ? M2_E_MEMORY : 0;
    }
    experiment_free(&experiment);
    return code;
}

void warn_of_stale_runs(const char *root, const char *name)
{
    struct text text = {0};

    if (stale_describe(root, name, &text, NULL) == 0 && text.length > 0)
        log_warning("%s", text_string(&text));
    text_free(&text);
}
