/* The end of an attempt: its record, and the one rename that publishes it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/attempt_private.h"
#include "results/listing.h"
#include "util/file.h"
#include "util/path.h"

#define RECORD_FILE "run.json"

int attempt_write_record(struct attempt *attempt, const json_t *record,
                         struct m2_error *err)
{
    const struct file_at file = attempt_file(attempt, RECORD_FILE);
    char *text = json_dumps(record, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    int code = text == NULL ? m2_fail(err, M2_E_MEMORY, "%s/%s: out of memory",
                                      file.dir, file.name)
                            : file_write_at(&file, text, strlen(text),
                                            M2_E_RESULTS, err);

    free(text);
    return code;
}

static int sync_path(const char *path, struct m2_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int code = 0;

    if (fd < 0 || !file_sync(fd))
        code = m2_fail(err, M2_E_RESULTS, "%s: cannot sync: %s", path,
                       strerror(errno));
    if (fd >= 0)
        close(fd);
    return code;
}

/* fsync of every file of the folder and its subfolders, then of the folder:
 * after the rename a reader on any machine finds all bytes. */
static int sync_tree(const char *dir, struct m2_error *err)
{
    struct string_list names = {0};
    int code = path_list(dir, M2_E_RESULTS, &names, err);

    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *path = path_join(dir, names.items[i], err);

        if (path == NULL)
            code = M2_E_MEMORY;
        else if (file_is_dir(path))
            code = sync_tree(path, err);
        else
            code = sync_path(path, err);
        free(path);
    }
    string_list_free(&names);
    return code != 0 ? code : file_sync_dir(dir, M2_E_RESULTS, err);
}

/* Does the published folder carry our token?  A network file system may tell
 * that a rename failed that in truth it did, and sent twice. */
static bool is_ours(const struct attempt *attempt, const char *published)
{
    struct run_entry entry;
    const char *token;
    bool ours;

    if (run_entry_load(published, &entry, NULL) != 0)
        return false;
    token = json_string_value(run_value(&entry, NULL, "token"));
    ours = token != NULL && strcmp(token, attempt->owner.token) == 0;
    run_entry_free(&entry);
    return ours;
}

static int rename_to(struct attempt *attempt, const char *published,
                     bool *won_out, struct m2_error *err)
{
    int cause = ENOENT;

    *won_out = true;
    if (attempt_has_its_path(attempt)) {
        if (rename(attempt->path, published) == 0)
            return 0;
        cause = errno;
    }
    if (is_ours(attempt, published))
        return 0;
    *won_out = false;
    if (cause == ENOTEMPTY || cause == EEXIST || cause == ENOENT ||
        cause == ESTALE)
        return 0;
    return m2_fail(err, M2_E_RESULTS, "cannot publish %s as %s: %s",
                   attempt->path, published, strerror(cause));
}

/* Has somebody else published, perhaps under another label?  The label of a
 * run that was given up and begun again is chosen anew. */
static int find_winner(const struct attempt *attempt, char **path_out,
                       struct m2_error *err)
{
    int code = store_find_published(&attempt->place, path_out, err);

    if (code == 0 && *path_out != NULL)
        store_remove_leftovers(&attempt->place, *path_out);
    return code;
}

/* The rename was not ours. */
static int take_winner(const struct attempt *attempt, char **path_out,
                       struct m2_error *err)
{
    int code = find_winner(attempt, path_out, err);

    if (code == 0 && *path_out == NULL)
        code = m2_fail(err, M2_E_RESULTS,
                       "%s has gone, and nobody has published the run",
                       attempt->path);
    return code;
}

static int sync_published(const char *experiment, const char *published,
                          struct m2_error *err)
{
    struct m2_error cause;

    if (file_sync_dir(experiment, M2_E_RESULTS, &cause) == 0)
        return 0;
    return m2_fail(err, M2_E_RESULTS,
                   "%s is published, but may be lost in a power failure: "
                   "cannot sync %s",
                   published, cause.text);
}

/* Everything after the rename can be done by a later run as well.  owner.json
 * tells an unfinished run from a published one, and its lock that we are not
 * through yet: it goes last. */
static int publish_ours(struct attempt *attempt, bool *won_out, char **path_out,
                        struct m2_error *err)
{
    char *experiment = store_experiment_path(&attempt->place);
    char *published = store_published_path(&attempt->place, attempt->label);
    int code;

    if (experiment == NULL || published == NULL)
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    else
        code = sync_tree(attempt->path, err);
    if (code == 0)
        code = rename_to(attempt, published, won_out, err);
    if (code == 0 && !*won_out) {
        code = take_winner(attempt, path_out, err);
    } else if (code == 0) {
        code = sync_published(experiment, published, err);
        if (code == 0) {
            store_remove_leftovers(&attempt->place, published);
            unlinkat(attempt->dirfd, "owner.json", 0);
        }
        *path_out = published;
        published = NULL;
    }
    free(published);
    free(experiment);
    return code;
}

int attempt_publish(struct attempt *attempt, bool *won_out, char **path_out,
                    struct m2_error *err)
{
    int code = find_winner(attempt, path_out, err);

    *won_out = false;
    if (code == 0 && *path_out == NULL) {
        code = publish_ours(attempt, won_out, path_out, err);
        if (code == M2_E_RESULTS && !*won_out && attempt_superseded(attempt) &&
            find_winner(attempt, path_out, NULL) == 0 && *path_out != NULL)
            code = 0;
    }
    attempt_release(attempt);
    if (code != 0) {
        free(*path_out);
        *path_out = NULL;
    }
    return code;
}
