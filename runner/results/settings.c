/* The settings of many runs. */
#include "results/settings.h"

#include <stdlib.h>
#include <string.h>

#include "config/identity.h"
#include "util/memory.h"

void setting_list_free(struct setting_list *list)
{
    free(list->items);
    *list = (struct setting_list){0};
}

const char *setting_value(const struct run_entry *entry, const char *key)
{
    return json_string_value(run_value(entry, "config", key));
}

static bool is_plugin(const char *key)
{
    return strcmp(key, "device") == 0 || strcmp(key, "data.source") == 0;
}

void setting_write(const char *key, const char *value, struct text *out)
{
    if (is_plugin(key))
        identity_write_plugin(value, out);
    else
        text_add(out, value);
}

/* Runs of a sweep share most of their values. */
static bool are_equal(const char *key, const char *a, const char *b)
{
    struct text left = {0}, right = {0};
    bool equal = a == b || strcmp(a, b) == 0;

    if (equal || !is_plugin(key))
        return equal;
    setting_write(key, a, &left);
    setting_write(key, b, &right);
    equal = strcmp(text_string(&left), text_string(&right)) == 0;
    text_free(&left);
    text_free(&right);
    return equal;
}

/* Most runs have the keys of the one before in the same order: the search
 * begins where that has the key. */
static int find_setting(struct setting_list *list, const char *key, size_t from,
                        size_t *out, struct m2_error *err)
{
    size_t i = from;
    int code;

    if (i < list->n && strcmp(list->items[i].key, key) == 0) {
        *out = i;
        return 0;
    }
    for (i = 0; i < list->n && strcmp(list->items[i].key, key) != 0; i++)
        ;
    *out = i;
    if (i < list->n)
        return 0;
    code = array_reserve(&list->items, &list->capacity, list->n + 1,
                         sizeof *list->items, err);
    if (code == 0)
        list->items[list->n++] = (struct setting){
            .key = key, .changes_results = schema_changes_results(key)};
    return code;
}

/* *next: where the key is expected, and where the next one is. */
static int add_setting(struct setting_list *list, const char *key,
                       const json_t *value, size_t *next, struct m2_error *err)
{
    const char *text = json_string_value(value);
    struct setting *setting;
    int code;

    if (text == NULL)
        return 0;
    code = find_setting(list, key, *next, next, err);
    if (code != 0)
        return code;
    setting = &list->items[(*next)++];
    if (setting->n++ == 0)
        setting->first = text;
    else if (!setting->differs)
        setting->differs = !are_equal(key, setting->first, text);
    return 0;
}

/* Both forms of a run's settings; *n_runs counts the runs that have any. */
static int add_settings(struct setting_list *list,
                        const struct run_entry *entry, size_t *n_runs,
                        struct m2_error *err)
{
    const struct run_settings *settings = entry->settings;
    json_t *config = run_value(entry, NULL, "config");
    const char *key;
    json_t *value;
    size_t next = 0;
    int code = 0;

    *n_runs +=
        json_object_size(config) > 0 || (settings != NULL && settings->n > 0);
    for (size_t i = 0; code == 0 && settings != NULL && i < settings->n; i++)
        code = add_setting(list, json_string_value(settings->items[i].key),
                           settings->items[i].value, &next, err);
    json_object_foreach (config, key, value)
        if (code == 0)
            code = add_setting(list, key, value, &next, err);
    return code;
}

int setting_list_make(const struct run_list *runs, struct setting_list *out,
                      struct m2_error *err)
{
    size_t n_configs = 0;
    int code = 0;

    *out = (struct setting_list){0};
    for (size_t i = 0; code == 0 && i < runs->n; i++)
        code = add_settings(out, &runs->entries[i], &n_configs, err);
    if (code != 0) {
        setting_list_free(out);
        return code;
    }
    for (size_t i = 0; i < out->n; i++)
        if (out->items[i].n < n_configs &&
            strncmp(out->items[i].key, "data.options.", 13) != 0)
            out->items[i].differs = true;
    return 0;
}

int run_list_differing_keys(const struct run_list *list, bool with_seed,
                            struct string_list *out, struct m2_error *err)
{
    struct setting_list settings;
    int code = setting_list_make(list, &settings, err);

    *out = (struct string_list){0};
    for (size_t i = 0; code == 0 && i < settings.n; i++) {
        const struct setting *setting = &settings.items[i];

        if (setting->differs && setting->changes_results &&
            (with_seed || strcmp(setting->key, "seed") != 0))
            code = string_list_add(out, setting->key, err);
    }
    setting_list_free(&settings);
    return code;
}
