/* Names and paths of a results folder, and finding a run in it. */
#include "results/store.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/listing.h"
#include "results/owner.h"
#include "util/file.h"
#include "util/path.h"

bool run_label_is_valid(const char *label)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-";
    size_t length = strlen(label);

    return length > 0 && length <= RUN_LABEL_MAX && label[0] != '.' &&
           strspn(label, allowed) == length;
}

const char *run_name_print(const char *label, const char *identity,
                           char out[RUN_NAME_SIZE])
{
    snprintf(out, RUN_NAME_SIZE, "%s-%.*s", label, RUN_HASH_LENGTH, identity);
    return out;
}

const char *run_name_hash(const char *run)
{
    const char *dash = strrchr(run, '-');

    return dash != NULL ? dash + 1 : "";
}

int store_attempt_number(const char *name)
{
    if (strlen(name) != 4 || strspn(name, "0123456789") != 4)
        return 0;
    return atoi(name);
}

char *store_root(const char *option)
{
    const char *root = option;

    if (root == NULL)
        root = getenv("M2RUN_RESULTS");
    if (root == NULL || *root == '\0')
        root = "results";
    return path_absolute(root, NULL);
}

char *store_experiment_path(const struct run_place *place)
{
    return path_join(place->root, place->name, NULL);
}

char *store_active_path(const struct run_place *place)
{
    struct text text = {0};

    text_addf(&text, "%s/%s/.active/%.*s", place->root, place->name,
              RUN_HASH_LENGTH, place->identity);
    return text_steal(&text, NULL);
}

char *store_published_path(const struct run_place *place, const char *label)
{
    struct text text = {0};

    text_addf(&text, "%s/%s/%s-%.*s", place->root, place->name, label,
              RUN_HASH_LENGTH, place->identity);
    return text_steal(&text, NULL);
}

/* True when the folder's name ends in "-<hash12>" of this identity. */
static bool has_hash(const char *run, const char *identity)
{
    return run_name_is_valid(run) &&
           strncmp(run_name_hash(run), identity, RUN_HASH_LENGTH) == 0;
}

/* A prefix of the hash is how a run is found; the whole hash is what counts. */
static int check_identity(const char *path, const char *identity,
                          struct m2_error *err)
{
    struct run_entry entry;
    const char *found;
    int code = run_entry_load(path, &entry, err);

    if (code != 0)
        return code;
    found = json_string_value(run_value(&entry, NULL, "identity"));
    if (found == NULL)
        code = m2_fail(err, M2_E_RESULTS,
                       "%s: the folder has this run's name, but its run.json "
                       "names no identity (%s); move it away to run again",
                       path, entry.damage != NULL ? entry.damage : "missing");
    else if (strcmp(found, identity) != 0)
        code = m2_fail(err, M2_E_RESULTS,
                       "%s: holds another run: identity %s, expected %s", path,
                       found, identity);
    run_entry_free(&entry);
    return code;
}

/* The folder under the label that the run would have; NULL when it is not
 * there. */
static int find_by_label(const struct run_place *place, char **path_out,
                         struct m2_error *err)
{
    *path_out = NULL;
    if (place->label == NULL)
        return 0;
    *path_out = store_published_path(place, place->label);
    if (*path_out == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    if (!file_is_dir(*path_out)) {
        free(*path_out);
        *path_out = NULL;
    }
    return 0;
}

/* The folder under another label: whoever claims a run first chooses it. */
static int find_by_hash(const struct run_place *place, char **path_out,
                        struct m2_error *err)
{
    struct string_list names = {0};
    char *dir = store_experiment_path(place);
    int code = 0;

    if (dir == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    if (file_is_dir(dir))
        code = path_list(dir, M2_E_RESULTS, &names, err);
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        if (!has_hash(names.items[i], place->identity))
            continue;
        *path_out = path_join(dir, names.items[i], err);
        code = *path_out == NULL ? M2_E_MEMORY : 0;
        break;
    }
    string_list_free(&names);
    free(dir);
    return code;
}

int store_find_published(const struct run_place *place, char **path_out,
                         struct m2_error *err)
{
    int code = find_by_label(place, path_out, err);

    if (code == 0 && *path_out == NULL)
        code = find_by_hash(place, path_out, err);
    if (code == 0 && *path_out != NULL)
        code = check_identity(*path_out, place->identity, err);
    if (code != 0) {
        free(*path_out);
        *path_out = NULL;
    }
    return code;
}

int store_list_hashes(const char *root, const char *name,
                      struct string_list *out, struct m2_error *err)
{
    struct string_list names = {0};
    char *dir = path_join(root, name, err);
    int code = dir == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && file_is_dir(dir))
        code = path_list(dir, M2_E_RESULTS, &names, err);
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        const char *run = names.items[i];

        if (run_name_is_valid(run))
            code = string_list_add(out, run_name_hash(run), err);
    }
    string_list_sort(out);
    string_list_free(&names);
    free(dir);
    return code;
}

/* Its lock tells that the publisher is still at work on what it leaves. */
static void remove_owner(const char *published)
{
    struct owner owner;
    bool locked = false;
    int dirfd = open(published, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dirfd < 0)
        return;
    if (owner_read(dirfd, &owner, &locked, NULL) == 0 && !locked)
        unlinkat(dirfd, "owner.json", 0);
    close(dirfd);
}

void store_remove_leftovers(const struct run_place *place,
                            const char *published)
{
    char *active = store_active_path(place);

    if (active != NULL)
        file_remove_tree(active, M2_E_RESULTS, NULL);
    free(active);
    remove_owner(published);
}

void store_remove_if_idle(const struct run_place *place)
{
    struct string_list names = {0};
    char *active = store_active_path(place);
    char *label = active != NULL ? path_join(active, "label", NULL) : NULL;

    /* rmdir spares the folder when somebody has just begun to claim it. */
    if (label != NULL && path_list(active, M2_E_RESULTS, &names, NULL) == 0 &&
        (names.count == 0 ||
         (names.count == 1 && strcmp(names.items[0], "label") == 0))) {
        unlink(label);
        rmdir(active);
    }
    string_list_free(&names);
    free(label);
    free(active);
}

/* "name/run" or "run": prefix of the run's name, or its hash or a part of the
 * hash from its start. */
static bool entry_matches(const struct run_entry *entry, const char *run)
{
    const char *slash = strrchr(run, '/');
    size_t length;

    if (slash != NULL) {
        length = (size_t)(slash - run);
        if (strncmp(entry->experiment, run, length) != 0 ||
            entry->experiment[length] != '\0')
            return false;
        run = slash + 1;
    }
    length = strlen(run);
    return strncmp(entry->run, run, length) == 0 ||
           (length >= 4 &&
            strncmp(run_name_hash(entry->run), run, length) == 0);
}

static const char *started_at(const struct run_entry *entry)
{
    const char *text = json_string_value(run_value(entry, NULL, "started"));

    return text != NULL ? text : "";
}

static const struct run_entry *newest(const struct run_list *list)
{
    const struct run_entry *best = NULL;

    for (size_t i = 0; i < list->n; i++)
        if (best == NULL ||
            strcmp(started_at(&list->entries[i]), started_at(best)) >= 0)
            best = &list->entries[i];
    return best;
}

static const struct run_entry *unique_match(const struct run_list *list,
                                            const char *run, size_t *n_out,
                                            struct text *names)
{
    const struct run_entry *found = NULL;

    *n_out = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct run_entry *entry = &list->entries[i];

        if (!entry_matches(entry, run))
            continue;
        found = entry;
        if (++*n_out <= 8)
            text_addf(names, "\n  %s/%s", entry->experiment, entry->run);
    }
    return found;
}

static int pick(const char *root, const char *run, const struct run_list *list,
                char **path_out, struct m2_error *err)
{
    struct text names = {0};
    const struct run_entry *found;
    size_t n = 1;
    int code = 0;

    if (strcmp(run, "@last") == 0)
        found = newest(list);
    else
        found = unique_match(list, run, &n, &names);
    if (found == NULL)
        code = m2_fail(err, M2_E_USAGE,
                       "no run '%s' in %s (%zu runs); `m2run ls` lists them",
                       run, root, list->n);
    else if (n > 1)
        code = m2_fail(err, M2_E_USAGE, "'%s' fits %zu runs:%s%s", run, n,
                       text_string(&names), n > 8 ? "\n  ..." : "");
    else
        *path_out = path_absolute(found->path, err);
    text_free(&names);
    return code != 0 ? code : (*path_out == NULL ? M2_E_MEMORY : 0);
}

/* A folder that happens to have this name is none. */
static bool is_run_folder(const char *path)
{
    static const char *const files[] = {"run.json", "owner.json",
                                        "config.yaml"};
    bool found = false;

    for (size_t i = 0; !found && i < sizeof files / sizeof files[0]; i++) {
        char *file = path_join(path, files[i], NULL);

        found = file != NULL && file_exists(file);
        free(file);
    }
    return found;
}

static bool is_directory_of(const char *run)
{
    return strcmp(run, "@last") != 0 && is_run_folder(run);
}

static int resolve_one(const char *root, const char *run,
                       const struct run_list *list, char **path_out,
                       struct m2_error *err)
{
    *path_out = NULL;
    if (!is_directory_of(run))
        return pick(root, run, list, path_out, err);
    *path_out = path_absolute(run, err);
    return *path_out == NULL ? M2_E_MEMORY : 0;
}

int store_resolve_all(const char *root, const char *const *runs, size_t n,
                      struct string_list *paths, struct m2_error *err)
{
    struct run_list list = {0};
    bool listed = false;
    int code = 0;

    for (size_t i = 0; code == 0 && i < n; i++) {
        char *path;

        if (!listed && !is_directory_of(runs[i])) {
            code = run_list_load(root, NULL, &list, err);
            listed = true;
        }
        if (code == 0)
            code = resolve_one(root, runs[i], &list, &path, err);
        if (code == 0)
            code = string_list_add_owned(paths, path, err);
    }
    run_list_free(&list);
    return code;
}

int store_resolve(const char *root, const char *run, char **path_out,
                  struct m2_error *err)
{
    struct string_list paths = {0};
    int code = store_resolve_all(root, &run, 1, &paths, err);

    *path_out = NULL;
    if (code == 0) {
        *path_out = paths.items[0];
        paths.count = 0;
    }
    string_list_free(&paths);
    return code;
}
