/* m2run devices: every backend of the search path, its devices, or why it
 * cannot be used. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ops.h"
#include "backends/select.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "loader.h"
#include "util/json.h"
#include "util/number.h"

struct devices_output {
    bool json;
    json_t *backends;     /* as JSON */
    struct text text;     /* as text */
    int wanted;           /* the device that was asked for; -1: all */
    struct text unusable; /* of these, separated by ", " */
    struct m2_error *err;
};

/* One backend: what is known of it, and why it cannot be used if so. */
struct backend_entry {
    const char *name, *path;
    const struct plugin *plugin; /* NULL: not loaded */
    const char *error;           /* or NULL */
    int count;
};

/* A device as an experiment file names it: an only one without number. */
static void device_word(const struct backend_entry *entry, int index,
                        struct text *out)
{
    text_add(out, entry->name);
    if (entry->count > 1 || index > 0)
        text_addf(out, ":%d", index);
}

static void add_unusable(struct devices_output *out,
                         const struct backend_entry *entry, int index)
{
    if (out->unusable.length > 0)
        text_add(&out->unusable, ", ");
    device_word(entry, index, &out->unusable);
}

/* What is known of a device; false: why it cannot be used. */
static bool find_facts(struct devices_output *out,
                       const struct backend_entry *entry, int index,
                       struct m2_device_facts *facts, struct m2_error *why)
{
    bool found = device_facts(entry->plugin, index, facts, why) == 0;

    if (!found && (out->wanted < 0 || index == out->wanted))
        add_unusable(out, entry, index);
    return found;
}

/* ---- as text ------------------------------------------------------------- */

static void add_memory(struct text *text, const struct m2_device_facts *facts)
{
    char total[NUMBER_TEXT_SIZE], unused[NUMBER_TEXT_SIZE];

    if (facts->memory_bytes > 0)
        text_addf(text, "  memory   %s, %s free\n",
                  number_print_bytes(facts->memory_bytes, total),
                  number_print_bytes(facts->memory_free_bytes, unused));
}

static void add_device_text(struct devices_output *out,
                            const struct backend_entry *entry, int index)
{
    struct m2_device_facts facts;
    struct m2_error err = {0};
    struct text *text = &out->text;

    device_word(entry, index, text);
    text_add_char(text, '\n');
    if (find_facts(out, entry, index, &facts, &err)) {
        text_addf(text, "  device   %s\n", facts.name);
        add_memory(text, &facts);
        if (facts.facts[0] != '\0')
            text_addf(text, "  facts    %s\n", facts.facts);
    } else {
        text_addf(text, "  cannot be used: %s\n", err.text);
    }
    text_addf(text, "  build    %s, numerics %u\n",
              entry->plugin->descriptor->build,
              entry->plugin->descriptor->numerics);
    text_addf(text, "  file     %s\n", entry->path);
}

static int add_text(struct devices_output *out,
                    const struct backend_entry *entry)
{
    for (int i = 0; i < entry->count; i++)
        add_device_text(out, entry, i);
    if (entry->error != NULL)
        text_addf(&out->text, "%s\n  cannot be used: %s\n  file     %s\n",
                  entry->name, entry->error, entry->path);
    return text_check(&out->text, out->err);
}

/* ---- as JSON ------------------------------------------------------------- */

static json_t *device_object(struct devices_output *out,
                             const struct backend_entry *entry, int index)
{
    struct json_builder builder = json_build();
    struct m2_device_facts facts = {0};
    struct m2_error err = {0};
    struct text word = {0};
    bool usable = find_facts(out, entry, index, &facts, &err);

    device_word(entry, index, &word);
    json_add_text(&builder, "device", text_string(&word));
    json_add_integer(&builder, "index", index);
    json_add_text(&builder, "name", facts.name);
    json_add_text(&builder, "facts", facts.facts);
    json_add_integer(&builder, "memory_bytes", (int64_t)facts.memory_bytes);
    json_add_integer(&builder, "memory_free_bytes",
                     (int64_t)facts.memory_free_bytes);
    json_add_text(&builder, "error", usable ? NULL : err.text);
    text_free(&word);
    return json_built(&builder);
}

static json_t *devices_list(struct devices_output *out,
                            const struct backend_entry *entry)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (int i = 0; ok && i < entry->count; i++)
        ok = json_append(list, device_object(out, entry, i));
    return ok ? list : json_drop(list);
}

static int add_json(struct devices_output *out,
                    const struct backend_entry *entry)
{
    struct json_builder builder = json_build();

    json_add_text(&builder, "backend", entry->name);
    json_add_text(&builder, "path", entry->path);
    if (entry->plugin != NULL) {
        json_add_text(&builder, "build", entry->plugin->descriptor->build);
        json_add_integer(&builder, "numerics",
                         entry->plugin->descriptor->numerics);
    }
    json_add_text(&builder, "error", entry->error);
    json_add(&builder, "devices", devices_list(out, entry));
    if (json_append(out->backends, json_built(&builder)))
        return 0;
    return m2_fail(out->err, M2_E_MEMORY, "out of memory");
}

/* ---- all ----------------------------------------------------------------- */

static int visit(const char *name, const char *path,
                 const struct plugin *plugin, const char *err_text,
                 void *context)
{
    struct devices_output *out = context;
    const struct plugin *builtin = plugin_builtin_ref();
    struct backend_entry entry = {name, path, plugin, err_text, 0};
    struct m2_error reason = {0};

    /* a module that only a path can name: its word means the built-in one */
    if (plugin != builtin && strcmp(name, builtin->descriptor->name) == 0)
        return 0;
    if (plugin != NULL && device_count(plugin, &entry.count, &reason) != 0) {
        entry.count = 0;
        entry.error = reason.text;
    }
    if (entry.error != NULL)
        add_unusable(out, &entry, 0);
    else if (out->wanted >= entry.count)
        entry.count = out->wanted + 1; /* it says itself that it is not there */
    return out->json ? add_json(out, &entry) : add_text(out, &entry);
}

/* "a:b" as a list. */
static json_t *path_json(const char *path)
{
    json_t *list = json_array();
    struct text part = {0};
    bool ok = list != NULL;

    while (ok && *path != '\0') {
        size_t length = strcspn(path, ":");

        text_clear(&part);
        text_add_bytes(&part, path, length);
        ok = text_check(&part, NULL) == 0 &&
             json_append(list, json_any_text(text_string(&part)));
        path += length + (path[length] == ':');
    }
    text_free(&part);
    return ok ? list : json_drop(list);
}

static int print_devices(struct devices_output *out, const char *why,
                         const char *search_path)
{
    struct json_builder builder;

    if (!out->json) {
        fputs(text_string(&out->text), stdout);
        if (*why != '\0')
            printf("%s\n", why);
        printf("searched: %s\n", search_path);
        return text_check(&out->text, out->err);
    }
    builder = json_build();
    json_add_integer(&builder, "schema", 1);
    json_add(&builder, "search_path", path_json(search_path));
    if (*why != '\0')
        json_add_text(&builder, "chosen", why);
    json_add(&builder, "backends", json_incref(out->backends));
    return print_json(json_built(&builder), out->err);
}

/* The one that a word names, as experiment files have it. */
static int show_one(const char *word, struct devices_output *out, char why[256],
                    struct m2_error *err)
{
    const struct plugin *plugin = NULL;
    struct m2_error reason = {0};
    struct device_choice choice;
    int code = device_choose(word, &choice, why, err);

    if (code != 0)
        return code;
    out->wanted = choice.index;
    if (device_load(&choice, &plugin, &reason) != 0)
        return visit(choice.backend, "", NULL, reason.text, out);
    return visit(plugin->descriptor->name, plugin->path, plugin, NULL, out);
}

static int show_all(struct devices_output *out, struct m2_error *err)
{
    const struct plugin *ref = plugin_builtin_ref();
    int code = visit(ref->descriptor->name, ref->path, ref, NULL, out);

    return code != 0 ? code : plugin_each(M2_PLUGIN_BACKEND, visit, out, err);
}

static int show_devices(const char *word, bool json, struct m2_error *err)
{
    struct devices_output out = {.json = json, .wanted = -1, .err = err};
    char *search_path = plugin_search_path();
    char why[256] = "";
    int code = 0;

    if (json)
        out.backends = json_array();
    if (search_path == NULL || (json && out.backends == NULL))
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    if (code == 0)
        code =
            word != NULL ? show_one(word, &out, why, err) : show_all(&out, err);
    if (code == 0)
        code = print_devices(&out, why, search_path);
    if (code == 0)
        code = text_check(&out.unusable, err);
    if (code == 0 && out.unusable.length > 0)
        code = m2_fail(err, M2_E_DEVICE, "devices that cannot be used: %s",
                       text_string(&out.unusable));
    json_decref(out.backends);
    text_free(&out.unusable);
    text_free(&out.text);
    free(search_path);
    return code;
}

int command_devices(int argc, char **argv)
{
    static const struct command_help help = {
        "devices", "[DEVICE]",
        "Lists every backend that is found with its devices, their memory,\n"
        "instruction set and libraries - or why it cannot be used - and the\n"
        "directories that were searched. The first word of each entry is what\n"
        "`device:` of an experiment file takes. With DEVICE, as such a file\n"
        "names it, only its backend; `auto` says which one it stands for.\n"
        "Ends with 4 where DEVICE, or anything of the list, cannot be used.",
        "  m2run devices\n  m2run devices auto\n  m2run --plugin-dir ./build devices --json"};
    bool json = false;
    const struct option_spec specs[] = {
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &json},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n > 1)
        code = m2_fail(&err, M2_E_USAGE, "devices: one argument at most: '%s'",
                       arguments.items[1]);
    if (code == 0)
        code = show_devices(arguments.n > 0 ? arguments.items[0] : NULL, json,
                            &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
