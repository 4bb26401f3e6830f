/* Making, finding and removing folders that go with their processes. */
#include "results/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/owner.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"

enum { MAX_TRIES = 5 };

static int open_dir(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A folder without owner.json is one that was kept. */
static bool is_dead(const char *path)
{
    struct owner owner;
    bool locked = false, dead = false;
    int dirfd = open_dir(path);

    if (dirfd < 0)
        return false;
    if (owner_read(dirfd, &owner, &locked, NULL) == 0)
        dead = owner_judge(&owner, locked, NULL) == OWNER_DEAD;
    close(dirfd);
    return dead;
}

/* A worker of the dead process may still finish what it was writing. */
static bool remove_soon(const char *path)
{
    for (int tries = 0; tries < MAX_TRIES; tries++)
        if (file_remove_tree(path, M2_E_RESULTS, NULL) == 0)
            return true;
    return false;
}

static void remove_dead(const char *root, const char *prefix)
{
    struct string_list names = {0};

    if (path_list(root, M2_E_RESULTS, &names, NULL) != 0)
        return;
    for (size_t i = 0; i < names.count; i++) {
        char *path;

        if (strncmp(names.items[i], prefix, strlen(prefix)) != 0)
            continue;
        path = path_join(root, names.items[i], NULL);
        if (path != NULL && is_dead(path) && remove_soon(path))
            log_info("%s: removed, for its process was killed", path);
        free(path);
    }
    string_list_free(&names);
}

static int take_ownership(struct scratch *scratch, struct m2_error *err)
{
    struct owner owner;
    int dirfd = open_dir(scratch->path);
    int code = owner_self(&owner, err);

    if (dirfd < 0)
        return m2_fail(err, M2_E_RESULTS, "%s: cannot open: %s", scratch->path,
                       strerror(errno));
    if (code == 0)
        code = owner_create(dirfd, &owner, &scratch->owner_fd, err);
    close(dirfd);
    return code;
}

static int make_folder(const char *root, const char *prefix,
                       struct scratch *out, struct m2_error *err)
{
    struct text text = {0};
    char *path;

    text_addf(&text, "%s/%sXXXXXX", root, prefix);
    path = text_steal(&text, err);
    if (path == NULL)
        return M2_E_MEMORY;
    if (mkdtemp(path) == NULL) {
        free(path);
        return m2_fail(err, M2_E_RESULTS, "%s: cannot make a folder in it: %s",
                       root, strerror(errno));
    }
    out->path = path;
    return take_ownership(out, err);
}

int scratch_open(const char *root, const char *prefix, struct scratch *out,
                 struct m2_error *err)
{
    bool had_root = file_is_dir(root);
    int code = file_make_dirs(root, M2_E_RESULTS, err);

    *out = (struct scratch){.owner_fd = -1};
    if (code != 0)
        return code;
    remove_dead(root, prefix);
    if (!had_root) {
        out->root = memory_string(root, err);
        code = out->root == NULL ? M2_E_MEMORY : 0;
    }
    return code != 0 ? code : make_folder(root, prefix, out, err);
}

int scratch_open_temporary(const char *prefix, struct scratch *out,
                           struct m2_error *err)
{
    const char *root = getenv("TMPDIR");

    return scratch_open(root != NULL && *root != '\0' ? root : "/tmp", prefix,
                        out, err);
}

int scratch_close(struct scratch *scratch, bool keep, struct m2_error *err)
{
    int code = 0;

    if (scratch->path != NULL && keep) {
        char *owner = path_join(scratch->path, "owner.json", NULL);

        if (owner != NULL)
            unlink(owner);
        free(owner);
    } else if (scratch->path != NULL) {
        code = file_remove_tree(scratch->path, M2_E_RESULTS, err);
    }
    if (scratch->path != NULL && scratch->owner_fd >= 0)
        close(scratch->owner_fd);
    if (scratch->root != NULL)
        rmdir(scratch->root); /* only when nothing else is in it */
    free(scratch->path);
    free(scratch->root);
    *scratch = (struct scratch){0};
    return code;
}
