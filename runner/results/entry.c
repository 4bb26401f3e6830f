/* One run directory: its record, and the state that follows from it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/owner.h"
#include "results/record_reader.h"
#include "results/store.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

void run_settings_free(struct run_settings *settings)
{
    for (size_t i = 0; settings != NULL && i < settings->n; i++) {
        json_decref(settings->items[i].key);
        json_decref(settings->items[i].value);
    }
    free(settings);
}

void run_entry_free(struct run_entry *entry)
{
    free(entry->path);
    free(entry->experiment);
    free(entry->run);
    free(entry->damage);
    json_decref(entry->record);
    run_settings_free(entry->settings);
    *entry = (struct run_entry){0};
}

static json_t *find_setting(const struct run_settings *settings,
                            const char *key)
{
    for (size_t i = 0; i < settings->n; i++)
        if (strcmp(json_string_value(settings->items[i].key), key) == 0)
            return settings->items[i].value;
    return NULL;
}

json_t *run_value(const struct run_entry *entry, const char *group,
                  const char *key)
{
    const json_t *object = entry->record;

    if (group != NULL && entry->settings != NULL &&
        strcmp(group, "config") == 0)
        return find_setting(entry->settings, key);
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

/* run.json may be missing (a run that has just begun) or damaged; neither
 * hides the run. */
static int load_record(struct run_entry *entry, struct record_reader *reader,
                       struct m2_error *err)
{
    char *path = path_join(entry->path, "run.json", err);
    int code = path == NULL ? M2_E_MEMORY
                            : record_reader_read(reader, path, entry, err);

    free(path);
    return code;
}

int run_entry_read(struct run_entry *entry, struct record_reader *reader,
                   struct m2_error *err)
{
    int code = load_record(entry, reader, err);

    if (code == 0)
        derive_state(entry);
    return code;
}

bool run_name_is_valid(const char *name)
{
    size_t length = strlen(name), end = length - RUN_HASH_LENGTH;

    return length > RUN_HASH_LENGTH + 1 && name[0] != '.' &&
           name[end - 1] == '-' &&
           strspn(name + end, "0123456789abcdef") == RUN_HASH_LENGTH;
}

int run_entry_load(const char *path, struct run_entry *out,
                   struct m2_error *err)
{
    struct record_reader reader = {0};
    char *owner;
    int code;

    *out = (struct run_entry){.path = memory_string(path, err)};
    if (out->path == NULL)
        return M2_E_MEMORY;
    code = load_record(out, &reader, err);
    record_reader_free(&reader);
    owner = path_join(path, "owner.json", err);
    if (code == 0 && owner != NULL) {
        const char *name = json_string_value(run_value(out, NULL, "name"));
        const char *run = json_string_value(run_value(out, NULL, "run"));

        /* Whoever has just published removes owner.json a moment later. */
        out->published =
            run_name_is_valid(path_basename(path)) || !file_exists(owner);
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
