/* m2run schema: every key of an experiment file, for editors and readers. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "config/reference.h"
#include "loader.h"
#include "util/log.h"
#include "util/memory.h"

struct source_list {
    struct reference_source *items;
    size_t count, capacity;
    struct m2_error *err;
};

/* A data plugin that cannot be loaded has no options to describe. */
static int add_source(const char *name, const char *path,
                      const struct plugin *plugin, const char *err_text,
                      void *context)
{
    struct source_list *list = context;
    int code;

    (void)path;
    if (plugin == NULL) {
        log_warning("%s is left out: %s", name, err_text);
        return 0;
    }
    code = array_reserve(&list->items, &list->capacity, list->count + 1,
                         sizeof *list->items, list->err);
    if (code == 0)
        list->items[list->count++] = (struct reference_source){
            .name = plugin->descriptor->name,
            .help = plugin->descriptor->help,
            .options = plugin->descriptor->options,
        };
    return code;
}

/* Full names of the keys that one source knows. */
static int add_keys(const struct m2_option *options, struct string_list *keys,
                    struct m2_error *err)
{
    struct schema schema;
    int code = schema_init(&schema, "mamba2", options, err);

    for (size_t i = 0; code == 0 && i < schema.n_rows; i++) {
        const char *path = schema.rows[i].path;

        if (schema.rows[i].key->type != KEY_BLOCK &&
            string_list_find(keys, path) == keys->count)
            code = string_list_add(keys, path, err);
    }
    schema_free(&schema);
    return code;
}

static int write_keys(const struct reference_source *sources, size_t count,
                      struct text *out, struct m2_error *err)
{
    struct string_list keys = {0};
    int code = add_keys(NULL, &keys, err);

    for (size_t i = 0; code == 0 && i < count; i++)
        code = add_keys(sources[i].options, &keys, err);
    for (size_t i = 0; code == 0 && i < keys.count; i++)
        text_addf(out, "%s\n", keys.items[i]);
    string_list_free(&keys);
    return code;
}

struct format {
    const char *name;
    int (*write)(const struct reference_source *sources, size_t count,
                 struct text *out, struct m2_error *err);
};

static const struct format formats[] = {
    {"json", reference_write_json},
    {"markdown", reference_write_markdown},
    {"man", reference_write_man},
    {"keys", write_keys},
};

static const struct format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static int print_schema(const struct format *format, struct m2_error *err)
{
    struct source_list list = {.err = err};
    struct text text = {0};
    int code = plugin_each(M2_PLUGIN_DATA, add_source, &list, err);

    if (code == 0)
        code = format->write(list.items, list.count, &text, err);
    if (code == 0)
        code = text_check(&text, err);
    if (code == 0)
        fputs(text_string(&text), stdout);
    text_free(&text);
    free(list.items);
    return code;
}

int command_schema(int argc, char **argv)
{
    static const struct command_help help = {
        "schema", "",
        "Describes every key of an experiment file, with the options of every\n"
        "data plugin that is found: as JSON Schema for editors, as a Markdown\n"
        "page, as the manual page m2run-config(5), or as a plain list.",
        "  m2run schema > m2run.schema.json\n"
        "  m2run schema --format man | man -l -"};
    const char *name = "json";
    const struct option_spec specs[] = {
        {"format", 'f', OPTION_TEXT, "NAME",
         "json, markdown, man or keys [json]", &name},
        {0},
    };
    const struct format *format = NULL;
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n > 0)
        code = m2_fail(&err, M2_E_USAGE, "schema: no argument expected: '%s'",
                       arguments.items[0]);
    if (code == 0 && (format = find_format(name)) == NULL)
        code = m2_fail(&err, M2_E_USAGE,
                       "schema: --format is json, markdown, man or keys, "
                       "not '%s'",
                       name);
    if (code == 0)
        code = print_schema(format, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
