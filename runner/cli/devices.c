/* m2run devices: every backend of the search path, its devices, or why it
 * cannot be used. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ops.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "loader.h"
#include "util/number.h"

struct devices_output {
    json_t *backends; /* NULL: as text */
    struct text text;
    struct m2_error *err;
};

static void add_memory(struct text *text, const struct m2_device_facts *facts)
{
    char total[NUMBER_TEXT_SIZE], unused[NUMBER_TEXT_SIZE];

    if (facts->memory_bytes > 0)
        text_addf(text, "  memory   %s, %s free\n",
                  number_print_bytes(facts->memory_bytes, total),
                  number_print_bytes(facts->memory_free_bytes, unused));
}

/* A device as an experiment file names it: the first one without number. */
static void device_word(const char *backend, int index, struct text *out)
{
    text_add(out, backend);
    if (index > 0)
        text_addf(out, ":%d", index);
}

static int text_of_device(const struct plugin *plugin, int index,
                          struct devices_output *out)
{
    struct m2_device_facts facts;
    int code = device_facts(plugin, index, &facts, out->err);

    if (code != 0)
        return code;
    device_word(plugin->descriptor->name, index, &out->text);
    text_addf(&out->text, "\n  device   %s\n", facts.name);
    add_memory(&out->text, &facts);
    if (facts.facts[0] != '\0')
        text_addf(&out->text, "  facts    %s\n", facts.facts);
    text_addf(&out->text, "  build    %s, numerics %u\n",
              plugin->descriptor->build, plugin->descriptor->numerics);
    text_addf(&out->text, "  file     %s\n", plugin->path);
    return 0;
}

static int json_of_device(const struct plugin *plugin, int index,
                          json_t *devices, struct m2_error *err)
{
    struct m2_device_facts facts;
    struct text word = {0};
    int code = device_facts(plugin, index, &facts, err);

    if (code != 0)
        return code;
    device_word(plugin->descriptor->name, index, &word);
    json_array_append_new(
        devices,
        json_pack("{s:s, s:s, s:s, s:I, s:I}", "device", text_string(&word),
                  "name", facts.name, "facts", facts.facts, "memory_bytes",
                  (json_int_t)facts.memory_bytes, "memory_free_bytes",
                  (json_int_t)facts.memory_free_bytes));
    text_free(&word);
    return 0;
}

static void add_unusable(struct devices_output *out, const char *name,
                         const char *path, const char *reason)
{
    if (out->backends != NULL) {
        json_array_append_new(
            out->backends, json_pack("{s:s, s:s, s:s, s:[]}", "backend", name,
                                     "path", path, "error", reason, "devices"));
        return;
    }
    text_addf(&out->text, "%s\n  cannot be used: %s\n  file     %s\n", name,
              reason, path);
}

static int add_devices(struct devices_output *out, const struct plugin *plugin,
                       int count)
{
    json_t *devices = json_array();
    int code = 0;

    for (int i = 0; code == 0 && i < count; i++)
        code = out->backends != NULL
                   ? json_of_device(plugin, i, devices, out->err)
                   : text_of_device(plugin, i, out);
    if (code != 0 || out->backends == NULL) {
        json_decref(devices);
        return code;
    }
    json_array_append_new(
        out->backends, json_pack("{s:s, s:s, s:s, s:i, s:n, s:o}", "backend",
                                 plugin->descriptor->name, "path", plugin->path,
                                 "build", plugin->descriptor->build, "numerics",
                                 (int)plugin->descriptor->numerics, "error",
                                 "devices", devices));
    return 0;
}

static int visit(const char *name, const char *path,
                 const struct plugin *plugin, const char *err_text,
                 void *context)
{
    struct devices_output *out = context;
    const struct plugin *builtin = plugin_builtin_ref();
    struct m2_error reason = {0};
    int count = 0, code = 0;

    /* a module that only a path can name: its word means the built-in one */
    if (plugin != builtin && strcmp(name, builtin->descriptor->name) == 0)
        return 0;

    if (plugin == NULL) {
        add_unusable(out, name, path, err_text);
        return 0;
    }
    code = device_count(plugin, &count, &reason);
    if (code == 0 && count > 0)
        code = add_devices(out, plugin, count);
    else
        add_unusable(out, name, path,
                     code != 0 ? reason.text : "it has no device");
    return code == M2_E_MEMORY ? code : 0;
}

/* "a:b" as a list. */
static json_t *path_json(const char *path)
{
    json_t *list = json_array();

    while (*path != '\0') {
        size_t length = strcspn(path, ":");

        json_array_append_new(list, json_stringn(path, length));
        path += length + (path[length] == ':');
    }
    return list;
}

static int print_devices(struct devices_output *out, const char *search_path)
{
    if (out->backends != NULL)
        return print_json(json_pack("{s:i, s:o, s:o}", "schema", 1,
                                    "search_path", path_json(search_path),
                                    "backends", json_incref(out->backends)),
                          out->err);
    fputs(text_string(&out->text), stdout);
    printf("searched: %s\n", search_path);
    return text_check(&out->text, out->err);
}

static int show_devices(bool json, struct m2_error *err)
{
    struct devices_output out = {.err = err};
    const struct plugin *ref = plugin_builtin_ref();
    char *search_path = plugin_search_path();
    int code;

    if (json)
        out.backends = json_array();
    code = search_path == NULL ? m2_fail(err, M2_E_MEMORY, "out of memory") : 0;
    if (code == 0)
        code = visit(ref->descriptor->name, ref->path, ref, NULL, &out);
    if (code == 0)
        code = plugin_each(M2_PLUGIN_BACKEND, visit, &out, err);
    if (code == 0)
        code = print_devices(&out, search_path);
    json_decref(out.backends);
    text_free(&out.text);
    free(search_path);
    return code;
}

int command_devices(int argc, char **argv)
{
    static const struct command_help help = {
        "devices", "",
        "Lists every backend that is found with its devices, their memory,\n"
        "instruction set and libraries - or why it cannot be used - and the\n"
        "directories that were searched. The first word of each entry is what\n"
        "`device:` of an experiment file takes.",
        "  m2run devices\n  m2run --plugin-dir ./build devices --json"};
    bool json = false;
    const struct option_spec specs[] = {
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &json},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n > 0)
        code = m2_fail(&err, M2_E_USAGE, "devices: no argument expected: '%s'",
                       arguments.items[0]);
    if (code == 0)
        code = show_devices(json, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
