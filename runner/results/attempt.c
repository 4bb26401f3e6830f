/* An attempt that is ours: its facts, its heartbeat, letting it go. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/attempt_private.h"
#include "util/file.h"
#include "util/path.h"
#include "util/timefmt.h"

#define HEARTBEAT_S 10

void attempt_free_earlier(struct attempt *attempt)
{
    for (char **path = attempt->earlier; path != NULL && *path != NULL; path++)
        free(*path);
    free(attempt->earlier);
    attempt->earlier = NULL;
}

void attempt_release(struct attempt *attempt)
{
    if (attempt == NULL)
        return;
    if (attempt->owner_fd >= 0)
        close(attempt->owner_fd);
    if (attempt->dirfd >= 0)
        close(attempt->dirfd);
    attempt_free_earlier(attempt);
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

int attempt_copy_file(const struct attempt *attempt, const char *from_dir,
                      const char *name, struct m2_error *err)
{
    char *from = path_join(from_dir, name, err);
    char *to = path_join(attempt->path, name, err);
    int code = from == NULL || to == NULL
                   ? M2_E_MEMORY
                   : file_copy(from, to, M2_E_RESULTS, err);

    free(from);
    free(to);
    return code;
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
    return superseded;
}

int attempt_heartbeat(struct attempt *attempt, struct m2_error *err)
{
    double now = time_monotonic();

    if (now - attempt->last_beat_s < HEARTBEAT_S)
        return 0;
    attempt->last_beat_s = now;
    if (attempt_superseded(attempt))
        return m2_fail(err, M2_E_RESULTS,
                       "%s: superseded: another process has finished this run",
                       attempt->path);
    return owner_beat(attempt->owner_fd, &attempt->owner, err);
}

void attempt_discard(struct attempt *attempt)
{
    if (attempt == NULL)
        return;
    file_remove_tree(attempt->path, M2_E_RESULTS, NULL);
    store_remove_if_idle(&attempt->place);
    attempt_release(attempt);
}
