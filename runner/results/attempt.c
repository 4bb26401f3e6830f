/* An attempt that is ours: its facts, its heartbeat, letting it go. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/attempt_private.h"
#include "util/file.h"
#include "util/path.h"
#include "util/timefmt.h"

#define HEARTBEAT_S 10

void attempt_free_folders(char **folders)
{
    for (char **path = folders; path != NULL && *path != NULL; path++)
        free(*path);
    free(folders);
}

void attempt_release(struct attempt *attempt)
{
    if (attempt == NULL)
        return;
    if (attempt->owner_fd >= 0)
        close(attempt->owner_fd);
    if (attempt->dirfd >= 0)
        close(attempt->dirfd);
    attempt_free_folders(attempt->earlier);
    free(attempt->root);
    free(attempt->name);
    free(attempt->identity);
    free(attempt->label);
    free(attempt->active);
    free(attempt->path);
    free(attempt);
}

const char *attempt_path(const struct attempt *attempt)
{
    return attempt->path;
}

const char *attempt_label(const struct attempt *attempt)
{
    return attempt->label;
}

int attempt_dirfd(const struct attempt *attempt)
{
    return attempt->dirfd;
}

int attempt_number(const struct attempt *attempt)
{
    return attempt->number;
}

const struct owner *attempt_owner(const struct attempt *attempt)
{
    return &attempt->owner;
}

char *const *attempt_earlier(const struct attempt *attempt)
{
    return attempt->earlier;
}

struct file_at attempt_file(const struct attempt *attempt, const char *name)
{
    return (struct file_at){attempt->dirfd, attempt->path, name};
}

int attempt_copy_file(const struct attempt *attempt, const char *from_dir,
                      const char *name, struct m2_error *err)
{
    const struct file_at to = attempt_file(attempt, name);
    char *from = path_join(from_dir, name, err);
    int saved, code = from == NULL ? M2_E_MEMORY
                                   : file_copy_at(from, &to, M2_E_RESULTS, err);

    saved = errno;
    free(from);
    errno = saved;
    return code;
}

bool attempt_has_its_path(const struct attempt *attempt)
{
    struct stat ours, there;

    return fstat(attempt->dirfd, &ours) == 0 &&
           stat(attempt->path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

/* Numbers are taken one after the other. */
static bool has_newer(const struct attempt *attempt)
{
    struct text path = {0};
    bool found;

    text_addf(&path, "%s/" ATTEMPT_FORMAT, attempt->active,
              attempt->number + 1);
    found = file_is_dir(text_string(&path));
    text_free(&path);
    return found;
}

bool attempt_superseded(const struct attempt *attempt)
{
    struct stat facts;
    char *published = NULL;
    bool superseded = fstatat(attempt->dirfd, "owner.json", &facts, 0) != 0 &&
                      (errno == ENOENT || errno == ESTALE);

    /* Whoever publishes takes a moment to remove the others. */
    if (!superseded &&
        store_find_published(&attempt->place, &published, NULL) == 0)
        superseded = published != NULL;
    free(published);
    return superseded || has_newer(attempt);
}

/* Only what has surely ended: a worker on a lost host may still need its
 * files. */
static bool is_dead(const char *dir)
{
    struct owner owner;
    bool locked = false, dead = false;
    int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dirfd < 0)
        return false;
    if (owner_read(dirfd, &owner, &locked, NULL) == 0)
        dead = owner_judge(&owner, locked, NULL) == OWNER_DEAD;
    close(dirfd);
    return dead;
}

bool attempt_prune(const struct attempt *attempt, const char *keep)
{
    bool pruned = false;

    for (char *const *dir = attempt->earlier; *dir != NULL; dir++)
        if ((keep == NULL || strcmp(*dir, keep) != 0) && is_dead(*dir) &&
            file_remove_tree(*dir, M2_E_RESULTS, NULL) == 0)
            pruned = true;
    return pruned;
}

int attempt_heartbeat(struct attempt *attempt, struct m2_error *err)
{
    double now = time_monotonic();

    if (now - attempt->last_beat_s < HEARTBEAT_S)
        return 0;
    attempt->last_beat_s = now;
    if (attempt_superseded(attempt))
        return m2_fail(
            err, M2_E_RESULTS,
            "%s: superseded: another process has taken this run over",
            attempt->path);
    return owner_beat(attempt->owner_fd, &attempt->owner, err);
}

void attempt_discard(struct attempt *attempt)
{
    if (attempt == NULL)
        return;
    if (attempt_has_its_path(attempt))
        file_remove_tree(attempt->path, M2_E_RESULTS, NULL);
    store_remove_if_idle(&attempt->place);
    attempt_release(attempt);
}
