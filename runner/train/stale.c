/* Finding unfinished runs whose data have changed. */
#include "train/stale.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/digest_cache.h"
#include "data/source.h"
#include "util/file.h"
#include "util/json.h"
#include "util/memory.h"
#include "util/path.h"

/* ---- one set of files ---------------------------------------------------- */

static const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

/* The files that the recorded entries of data.path name now; false when they
 * name none, or cannot be looked at. */
static bool find_files(const json_t *paths, struct string_list *out)
{
    struct string_list words = {0};
    struct config_data config = {0};
    size_t i;
    json_t *path;
    bool ok = json_array_size(paths) > 0;

    json_array_foreach (paths, i, path)
        ok = ok && json_is_string(path) &&
             string_list_add(&words, json_string_value(path), NULL) == 0;
    config.paths = words.items;
    config.n_paths = words.count;
    ok = ok && source_files(&config, out, NULL, NULL) == 0;
    string_list_free(&words);
    return ok;
}

static const json_t *find_recorded(const json_t *files, const char *path)
{
    size_t i;
    json_t *file;

    json_array_foreach (files, i, file)
        if (strcmp(string_of(file, "path"), path) == 0)
            return file;
    return NULL;
}

static bool has_changed(const json_t *recorded, const char *path)
{
    const json_t *size = json_object_get(recorded, "size");
    const json_t *time = json_object_get(recorded, "mtime_ns");
    struct file_facts facts;
    char digest[SHA256_HEX_SIZE];

    if (file_get_facts(path, M2_E_DATA, &facts, NULL) != 0)
        return false;
    if (json_integer_value(size) != facts.size)
        return true;
    return json_integer_value(time) != facts.mtime_ns &&
           digest_file(path, digest, NULL) == 0 &&
           strcmp(digest, string_of(recorded, "sha256")) != 0;
}

/* Adds what differs first; nothing when the files are those of the record. */
static void describe_change(const json_t *data, struct text *out)
{
    const json_t *files = json_object_get(data, "files");
    struct string_list now = {0};
    size_t i;
    json_t *file;

    if (!find_files(json_object_get(data, "paths"), &now)) {
        string_list_free(&now);
        return;
    }
    for (i = 0; out->length == 0 && i < now.count; i++) {
        const json_t *recorded = find_recorded(files, now.items[i]);

        if (recorded == NULL)
            text_addf(out, "data file %s has been added since", now.items[i]);
        else if (has_changed(recorded, now.items[i]))
            text_addf(out, "data file %s has changed since", now.items[i]);
    }
    json_array_foreach (files, i, file) {
        const char *path = string_of(file, "path");

        if (out->length == 0 && string_list_find(&now, path) == now.count)
            text_addf(out, "data file %s has gone since", path);
    }
    string_list_free(&now);
}

/* ---- entries ------------------------------------------------------------- */

static bool can_be_stale(const struct run_entry *entry)
{
    return !entry->published && (strcmp(entry->state, "interrupted") == 0 ||
                                 strcmp(entry->state, "stopped") == 0);
}

static int set_stale(struct run_entry *entry, const struct text *reason,
                     struct m2_error *err)
{
    json_t *record = entry->record;

    snprintf(entry->state, sizeof entry->state, "stale");
    if (text_check(reason, err) != 0)
        return M2_E_MEMORY;
    if (json_object_set_new(record, "state", json_string("stale")) != 0 ||
        json_object_set_new(record, "reason",
                            json_any_text(text_string(reason))) != 0)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    return 0;
}

int stale_mark(struct run_entry *entries, size_t n, struct m2_error *err)
{
    const json_t *files = NULL; /* of the entry looked at last */
    struct text reason = {0};
    int code = 0;

    for (size_t i = 0; code == 0 && i < n; i++) {
        const json_t *data = run_value(&entries[i], NULL, "data");
        const json_t *mine = json_object_get(data, "files");

        if (!can_be_stale(&entries[i]) || json_array_size(mine) == 0)
            continue;
        /* the runs of a sweep share their data */
        if (files == NULL || !json_equal(files, mine)) {
            text_clear(&reason);
            describe_change(data, &reason);
            files = mine;
        }
        if (reason.length > 0)
            code = set_stale(&entries[i], &reason, err);
    }
    text_free(&reason);
    return code;
}

static void write_line(const struct run_list *list, size_t n_stale,
                       const struct run_entry *example, struct text *out)
{
    const char *reason = string_of(example->record, "reason");
    char *active = path_dirname(example->path, NULL);

    text_addf(
        out,
        "%zu unfinished run%s of %s stay%s stale: %s%s; what is begun now "
        "is another run. To be rid of %s, remove %s",
        n_stale, n_stale == 1 ? "" : "s", list->entries[0].experiment,
        n_stale == 1 ? "s" : "", n_stale == 1 ? "" : "for one, ", reason,
        n_stale == 1 ? "it" : "the first of them",
        active != NULL ? active : example->path);
    free(active);
}

int stale_describe(const char *root, const char *name, struct text *out,
                   struct m2_error *err)
{
    struct run_list list = {0};
    const struct run_entry *example = NULL;
    size_t n = 0;
    int code = run_list_load_unfinished(root, name, &list, err);

    if (code == 0)
        code = stale_mark(list.entries, list.n, err);
    for (size_t i = list.n; code == 0 && i-- > 0;)
        if (strcmp(list.entries[i].state, "stale") == 0) {
            example = &list.entries[i];
            n++;
        }
    if (n > 0)
        write_line(&list, n, example, out);
    run_list_free(&list);
    return code;
}
