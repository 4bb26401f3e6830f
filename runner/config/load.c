/* From an experiment file and overrides to a checked config. */
#include "config/load.h"

#include <stdlib.h>
#include <string.h>

#include "config/include.h"
#include "config/override.h"
#include "config/scalar.h"
#include "config/value.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/suggest.h"

struct loading {
    const struct experiment_request *request;
    struct experiment *experiment;
    struct messages *messages;
    struct m2_error *err;
    struct place whole;                /* the file as a whole */
    const struct source *command_line; /* NULL: no overrides */
};

/* ---- data source -------------------------------------------------------- */

/* The node that sets a key of a block, however wrong the rest is. */
static const struct node *peek(const struct node *root, const char *block,
                               const char *key)
{
    const struct node *map = root == NULL ? NULL : node_get(root, block);

    return map == NULL ? NULL : node_get(map, key);
}

/* Name or file of the data source: of the command line, the file, or the
 * default.  NULL when it is no string.  The caller frees *owned. */
static const char *find_source(const struct loading *loading, char **owned,
                               struct place *place)
{
    struct experiment *experiment = loading->experiment;
    const struct node *node = peek(experiment->root, "data", "source");
    const struct node *over = NULL;

    if (loading->command_line != NULL)
        over = override_find_source(&experiment->tree, loading->command_line,
                                    loading->request);
    node = over != NULL ? over : node;
    *place = node != NULL ? node->place : loading->whole;
    if (node == NULL)
        return "synthetic";
    if (node->kind != NODE_SCALAR || node->text[0] == '\0')
        return NULL;
    *owned = value_is_path(node->text) ? value_resolve_path(node, node->text)
                                       : memory_string(node->text, NULL);
    loading->messages->failed = loading->messages->failed || *owned == NULL;
    return *owned;
}

/* The name that was meant: the loader only says where it looked. */
static const char *suggest_source(const char *source)
{
    static const struct {
        const char *name, *habits;
    } known[] = {
        {"csv", "tsv txt text pandas dataframe yahoo file"},
        {"dbn", "databento zst dbn.zst"},
        {"synthetic", "synth random generated generator fake toy"},
    };
    struct suggestion near = suggest_start(source);

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (suggest_is_listed(known[i].habits, source))
            return known[i].name;
        suggest_try(&near, known[i].name);
    }
    return near.best;
}

static void report_source(const struct loading *loading, const char *source,
                          struct place place, const struct m2_error *reason)
{
    const char *meant = suggest_source(source);

    if (meant != NULL && strcmp(meant, source) != 0)
        message_error(loading->messages, place,
                      "'data.source' cannot be '%s'; did you mean '%s'?",
                      source, meant);
    else
        message_error_code(loading->messages, reason->code, place, "%s",
                           reason->text);
}

/* The schema with the options of the data source.  When the source cannot be
 * found, that is a message, and its options are not checked. */
static int make_schema(struct loading *loading, bool *skip_options)
{
    const struct source_lookup *lookup = loading->request->lookup;
    const struct m2_option *options = NULL;
    struct m2_error reason = {0};
    struct place place;
    char *owned = NULL;
    const char *source = find_source(loading, &owned, &place);
    int code;

    *skip_options = source == NULL;
    if (source != NULL && lookup != NULL &&
        lookup->find(lookup->context, source, &options, &reason) != 0) {
        report_source(loading, source, place, &reason);
        options = NULL;
        *skip_options = true;
    }
    code = schema_init(&loading->experiment->schema, "mamba2", options,
                       loading->err);
    free(owned);
    return code;
}

/* ---- steps -------------------------------------------------------------- */

static void read_root(struct loading *loading)
{
    const struct experiment_request *request = loading->request;
    struct experiment *experiment = loading->experiment;

    if (request->text != NULL)
        experiment->root =
            include_read_text(&experiment->tree, request->path, request->text,
                              request->size, loading->messages);
    else
        experiment->root =
            include_read(&experiment->tree, request->path, loading->messages);
    if (experiment->root == NULL)
        return;
    experiment->sweep = node_get(experiment->root, "sweep");
    node_remove(experiment->root, "sweep");
    if (experiment->sweep != NULL && scalar_is_null(experiment->sweep))
        experiment->sweep = NULL;
}

/* The command line as a source, behind those of the files. */
static int add_command_line(struct loading *loading)
{
    const struct experiment_request *request = loading->request;

    if (loading->experiment->root == NULL || request->n_overrides == 0)
        return 0;
    loading->command_line = override_add_source(
        &loading->experiment->tree, request->overrides, request->n_overrides);
    return loading->command_line != NULL
               ? 0
               : m2_fail(loading->err, M2_E_MEMORY, "out of memory");
}

/* Without `name`: that of the file, without folder and .yaml. */
static int set_name(struct loading *loading)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    struct experiment *experiment = loading->experiment;
    const char *base = path_basename(loading->request->path);
    const char *dot = strrchr(base, '.');
    size_t length = dot != NULL ? (size_t)(dot - base) : strlen(base);
    struct text name = {0};
    char *stolen;

    for (size_t i = 0; i < length && i < 80; i++)
        text_add_char(&name, strchr(allowed, base[i]) != NULL ? base[i] : '_');
    if (length == 0 || base[0] == '.' || base[0] == '-') {
        text_clear(&name);
        text_add(&name, "experiment");
    }
    stolen = text_steal(&name, loading->err);
    text_free(&name);
    if (stolen == NULL)
        return M2_E_MEMORY;
    free(experiment->config.name);
    experiment->config.name = stolen;
    return 0;
}

static int read_config(struct loading *loading, bool skip_options)
{
    struct experiment *experiment = loading->experiment;
    int code = value_set_defaults(&experiment->schema, &experiment->config,
                                  loading->err);

    if (code == 0)
        code = set_name(loading);
    if (code == 0)
        code = binding_init(&experiment->binding, &experiment->schema,
                            loading->whole, loading->err);
    if (code != 0 || experiment->root == NULL)
        return code;
    experiment->binding.skip_options = skip_options;
    binding_read(&experiment->binding, experiment->root, &experiment->config,
                 loading->messages);
    if (experiment->sweep == NULL && experiment->n_axes == 0)
        binding_check_rules(&experiment->binding, &experiment->config,
                            loading->messages);
    return 0;
}

static int load(struct loading *loading)
{
    struct experiment *experiment = loading->experiment;
    bool skip_options = false;
    int code;

    read_root(loading);
    if (experiment->tree.n_sources > 0)
        loading->whole.source = experiment->tree.sources[0];
    code = add_command_line(loading);
    if (code == 0)
        code = make_schema(loading, &skip_options);
    if (code == 0 && loading->command_line != NULL)
        override_apply(experiment, loading->command_line, loading->request,
                       loading->messages);
    if (code == 0)
        code = read_config(loading, skip_options);
    if (code == 0 && experiment->tree.failed)
        code = m2_fail(loading->err, M2_E_MEMORY, "out of memory");
    return code;
}

int experiment_load(const struct experiment_request *request,
                    struct experiment *out, struct messages *messages,
                    struct m2_error *err)
{
    struct source unread = {.name = request->path, .bytes = ""};
    struct loading loading = {
        .request = request,
        .experiment = out,
        .messages = messages,
        .err = err,
        .whole = {.source = &unread},
    };
    int code;

    *out = (struct experiment){0};
    tree_init(&out->tree);
    code = load(&loading);
    /* `unread` ends here */
    if (out->tree.n_sources == 0)
        out->binding.whole.source = NULL;
    return code != 0 ? code : messages_result(messages, request->path, err);
}

void experiment_free(struct experiment *experiment)
{
    config_free(&experiment->config);
    binding_free(&experiment->binding);
    schema_free(&experiment->schema);
    tree_free(&experiment->tree);
    free(experiment->axes);
    free(experiment->resets);
    *experiment = (struct experiment){0};
}

void experiment_write_sources(const struct experiment *experiment,
                              struct text *out)
{
    for (size_t i = 0; i < experiment->tree.n_sources; i++) {
        const struct source *source = experiment->tree.sources[i];

        if (source->rank == RANK_COMMAND_LINE)
            continue; /* the command line is recorded apart */
        text_addf(out, "# ---- %s\n", source->name);
        text_add_bytes(out, source->bytes, source->size);
        if (source->size > 0 && source->bytes[source->size - 1] != '\n')
            text_add_char(out, '\n');
    }
}
