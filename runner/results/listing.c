/* Reading runs back: the directories are the only truth. */
#include "results/listing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/owner.h"
#include "results/store.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

#define RECORD_LIMIT (16u << 20)

void run_entry_free(struct run_entry *entry)
{
    free(entry->path);
    free(entry->experiment);
    free(entry->run);
    free(entry->damage);
    json_decref(entry->record);
    *entry = (struct run_entry){0};
}

void run_list_free(struct run_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        run_entry_free(&list->entries[i]);
    free(list->entries);
    *list = (struct run_list){0};
}

json_t *run_value(const struct run_entry *entry, const char *group,
                  const char *key)
{
    const json_t *object = entry->record;

    if (group != NULL)
        object = json_object_get(object, group);
    return json_object_get(object, key);
}

void run_entry_parse(struct run_entry *entry, const char *bytes, size_t size)
{
    struct text reason = {0};
    json_error_t error;
    json_t *record = json_loadb(bytes, size, 0, &error);

    if (json_is_object(record)) {
        entry->record = record;
        return;
    }
    if (record == NULL)
        text_addf(&reason, "%s/run.json:%d:%d: not a run.json: %s", entry->path,
                  error.line, error.column, error.text);
    else
        text_addf(&reason, "%s/run.json: not a run.json: no object",
                  entry->path);
    entry->damage = text_steal(&reason, NULL);
    json_decref(record);
}

/* run.json may be missing (a run that has just begun) or damaged; neither
 * hides the run. */
static int load_record(struct run_entry *entry, struct m2_error *err)
{
    struct text text = {0};
    struct m2_error cause;
    char *path = path_join(entry->path, "run.json", err);
    int code = path == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && file_exists(path)) {
        if (file_check_regular(path, M2_E_RESULTS, &cause) == 0 &&
            file_read(path, RECORD_LIMIT, M2_E_RESULTS, &text, &cause) == 0)
            run_entry_parse(entry, text_string(&text), text.length);
        else
            entry->damage = memory_string(cause.text, NULL);
        if (entry->record == NULL && entry->damage == NULL)
            code = m2_fail(err, M2_E_MEMORY, "%s: out of memory", path);
    }
    text_free(&text);
    free(path);
    return code;
}

/* One look cannot tell whether a heartbeat stands still, so its age must do:
 * good enough to show, never to act on. */
static bool was_touched_lately(const char *dir)
{
    char *path = path_join(dir, "owner.json", NULL);
    struct file_facts facts;
    bool lately =
        path != NULL && file_get_facts(path, M2_E_RESULTS, &facts, NULL) == 0 &&
        time_now() - facts.mtime_ns < OWNER_SILENCE_S * M2_NS_PER_SECOND;

    free(path);
    return lately;
}

static bool is_running(const struct run_entry *entry, const char *written)
{
    struct owner owner;
    bool locked = false, read = false;
    int dirfd = open(entry->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dirfd >= 0) {
        read = owner_read(dirfd, &owner, &locked, NULL) == 0;
        close(dirfd);
    }
    if (!read)
        return false;
    switch (owner_judge(&owner, locked, NULL)) {
    case OWNER_ALIVE:
        return true;
    case OWNER_DEAD:
        return false;
    case OWNER_UNSURE: /* of another host, or from before a restart */
        return (written == NULL || strcmp(written, "running") == 0) &&
               was_touched_lately(entry->path);
    }
    return false;
}

/* An attempt that does not run was stopped on request, or died: perhaps with
 * its last word written, but not published. */
static void derive_state(struct run_entry *entry)
{
    const char *written = json_string_value(run_value(entry, NULL, "state"));

    if (entry->published)
        written = written != NULL ? written : "damaged";
    else if (is_running(entry, written))
        written = "running";
    else if (written == NULL || strcmp(written, "stopped") != 0)
        written = "interrupted";
    snprintf(entry->state, sizeof entry->state, "%s", written);
}

/* "<label>-<12 hex>": what a published run is called, and no attempt. */
static bool is_run_name(const char *name)
{
    size_t length = strlen(name), end = length - RUN_HASH_LENGTH;

    return length > RUN_HASH_LENGTH + 1 && name[0] != '.' &&
           name[end - 1] == '-' &&
           strspn(name + end, "0123456789abcdef") == RUN_HASH_LENGTH;
}

int run_entry_load(const char *path, struct run_entry *out,
                   struct m2_error *err)
{
    char *owner;
    int code;

    *out = (struct run_entry){.path = memory_string(path, err)};
    if (out->path == NULL)
        return M2_E_MEMORY;
    code = load_record(out, err);
    owner = path_join(path, "owner.json", err);
    if (code == 0 && owner != NULL) {
        const char *name = json_string_value(run_value(out, NULL, "name"));
        const char *run = json_string_value(run_value(out, NULL, "run"));

        /* Whoever has just published removes owner.json a moment later. */
        out->published =
            is_run_name(path_basename(path)) || !file_exists(owner);
        out->experiment = memory_string(name != NULL ? name : "", err);
        out->run = memory_string(run != NULL ? run : path_basename(path), err);
        derive_state(out);
    }
    free(owner);
    if (code == 0 && (out->experiment == NULL || out->run == NULL))
        code = M2_E_MEMORY;
    if (code != 0)
        run_entry_free(out);
    return code;
}

struct loading {
    struct run_list *list;
    size_t capacity;
    bool unfinished_only;
    struct m2_error *err;
};

/* Adds a run; the folder's own name and place win over what run.json says, so
 * that a copied results folder lists what is seen in it. */
static int add_run(struct loading *loading, const char *path,
                   const char *experiment, const char *run, bool published)
{
    struct run_list *list = loading->list;
    struct run_entry *entry;
    int code = array_reserve(&list->entries, &loading->capacity, list->n + 1,
                             sizeof *list->entries, loading->err);

    if (code != 0)
        return code;
    entry = &list->entries[list->n];
    *entry = (struct run_entry){
        .path = memory_string(path, loading->err),
        .experiment = memory_string(experiment, loading->err),
        .run = memory_string(run, loading->err),
        .published = published,
    };
    list->n++;
    if (entry->path == NULL || entry->experiment == NULL || entry->run == NULL)
        return M2_E_MEMORY;
    code = load_record(entry, loading->err);
    if (code == 0)
        derive_state(entry);
    return code;
}

static bool is_attempt_name(const char *name)
{
    return strlen(name) == 4 && strspn(name, "0123456789") == 4;
}

/* Name of an unfinished run: its label as fixed by the first claim. */
static int add_active(struct loading *loading, const char *active,
                      const char *experiment, const char *hash)
{
    struct string_list names = {0};
    struct text run = {0};
    char *label = path_join(active, "label", loading->err);
    char *path = NULL;
    int code = label == NULL ? M2_E_MEMORY
                             : path_list(active, M2_E_RESULTS, &names, NULL);
    size_t i = names.count;

    if (code == 0 && file_check_regular(label, M2_E_RESULTS, NULL) == 0)
        code = file_read(label, 2 * RUN_LABEL_MAX, M2_E_RESULTS, &run, NULL);
    if (code == 0 && !run_label_is_valid(text_string(&run)))
        text_clear(&run);
    text_addf(&run, "-%s", hash);
    /* The newest attempt stands for the run. */
    while (code == 0 && i > 0 && !is_attempt_name(names.items[i - 1]))
        i--;
    if (code == 0 && i > 0) {
        path = path_join(active, names.items[i - 1], loading->err);
        code = path == NULL ? M2_E_MEMORY
                            : add_run(loading, path, experiment,
                                      text_string(&run), false);
    }
    free(path);
    free(label);
    text_free(&run);
    string_list_free(&names);
    return code == M2_E_RESULTS ? 0 : code; /* gone meanwhile */
}

static int add_actives(struct loading *loading, const char *dir,
                       const char *experiment)
{
    struct string_list names = {0};
    char *active = path_join(dir, ".active", loading->err);
    int code = active == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && file_is_dir(active))
        code = path_list(active, M2_E_RESULTS, &names, loading->err);
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *path;

        if (names.items[i][0] == '.') /* a driver's mark */
            continue;
        path = path_join(active, names.items[i], loading->err);
        code = path == NULL
                   ? M2_E_MEMORY
                   : add_active(loading, path, experiment, names.items[i]);
        free(path);
    }
    string_list_free(&names);
    free(active);
    return code;
}

static int add_experiment(struct loading *loading, const char *dir,
                          const char *experiment)
{
    struct string_list names = {0};
    int code = loading->unfinished_only
                   ? 0
                   : path_list(dir, M2_E_RESULTS, &names, loading->err);

    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *path;

        if (!is_run_name(names.items[i]))
            continue;
        path = path_join(dir, names.items[i], loading->err);
        code = path == NULL
                   ? M2_E_MEMORY
                   : add_run(loading, path, experiment, names.items[i], true);
        free(path);
    }
    string_list_free(&names);
    return code != 0 ? code : add_actives(loading, dir, experiment);
}

static int load(struct loading *loading, const char *root, const char *name)
{
    struct m2_error *err = loading->err;
    struct string_list names = {0};
    int code = 0;

    *loading->list = (struct run_list){0};
    if (name != NULL)
        code = string_list_add(&names, name, err);
    else if (file_exists(root))
        code = path_list(root, M2_E_RESULTS, &names, err);
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *dir = path_join(root, names.items[i], err);

        if (dir == NULL)
            code = M2_E_MEMORY;
        else if (names.items[i][0] != '.' && file_is_dir(dir))
            code = add_experiment(loading, dir, names.items[i]);
        free(dir);
    }
    string_list_free(&names);
    if (code != 0)
        run_list_free(loading->list);
    return code;
}

int run_list_load(const char *root, const char *name, struct run_list *out,
                  struct m2_error *err)
{
    struct loading loading = {.list = out, .err = err};

    return load(&loading, root, name);
}

int run_list_load_unfinished(const char *root, const char *name,
                             struct run_list *out, struct m2_error *err)
{
    struct loading loading = {.list = out, .unfinished_only = true, .err = err};

    return load(&loading, root, name);
}
