/* Claiming a run, working in its folder, publishing it. */
#include "results/attempt.h"

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

#define HEARTBEAT_S     10
#define MAX_ATTEMPTS    9999
#define MAX_CLAIM_TRIES 100

static void free_earlier(struct attempt *attempt)
{
    for (char **path = attempt->earlier; path != NULL && *path != NULL; path++)
        free(*path);
    free(attempt->earlier);
}

void attempt_release(struct attempt *attempt)
{
    if (attempt == NULL)
        return;
    if (attempt->owner_fd >= 0)
        close(attempt->owner_fd);
    if (attempt->dirfd >= 0)
        close(attempt->dirfd);
    free_earlier(attempt);
    free(attempt->root);
    free(attempt->name);
    free(attempt->identity);
    free(attempt->label);
    free(attempt->active);
    free(attempt->path);
    free(attempt);
}

static struct attempt *attempt_new(const struct run_place *place,
                                   struct m2_error *err)
{
    struct attempt *attempt = calloc(1, sizeof *attempt);

    if (attempt != NULL) {
        attempt->dirfd = attempt->owner_fd = -1;
        attempt->root = strdup(place->root);
        attempt->name = strdup(place->name);
        attempt->identity = strdup(place->identity);
        attempt->active = store_active_path(place);
        attempt->place = (struct run_place){
            .root = attempt->root,
            .name = attempt->name,
            .identity = attempt->identity,
        };
    }
    if (attempt == NULL || attempt->root == NULL || attempt->name == NULL ||
        attempt->identity == NULL || attempt->active == NULL) {
        attempt_release(attempt);
        m2_fail(err, M2_E_MEMORY, "out of memory");
        return NULL;
    }
    return attempt;
}

/* The first claimer's label is the run's for ever: link() decides who was
 * first, and everybody reads what is there. */
static int fix_label(struct attempt *attempt, const char *label,
                     struct m2_error *err)
{
    struct text text = {0};
    char *path = path_join(attempt->active, "label", err);
    char *mine = NULL;
    int code = path == NULL ? M2_E_MEMORY : 0;

    if (code == 0) {
        text_addf(&text, "%s/.label-%s", attempt->active, attempt->owner.token);
        mine = text_steal(&text, err);
        code = mine == NULL ? M2_E_MEMORY : 0;
    }
    if (code == 0 && !file_exists(path)) {
        code = file_write_atomic(mine, label, strlen(label), M2_E_RESULTS, err);
        if (code == 0 && link(mine, path) != 0 && errno != EEXIST)
            code = m2_fail(err, M2_E_RESULTS, "%s: cannot create: %s", path,
                           strerror(errno));
        unlink(mine);
    }
    if (code == 0)
        code = file_read(path, RUN_LABEL_MAX + 1, M2_E_RESULTS, &text, err);
    if (code == 0)
        attempt->label = text_steal(&text, err);
    text_free(&text);
    free(mine);
    free(path);
    return code != 0 ? code : (attempt->label == NULL ? M2_E_MEMORY : 0);
}

/* Number of an attempt folder, 0 for any other name. */
static int attempt_number_of(const char *name)
{
    if (strlen(name) != 4 || strspn(name, "0123456789") != 4)
        return 0;
    return atoi(name);
}

/* Lists the attempt folders there are, newest first. */
static int list_attempts(struct attempt *attempt, int *newest_out,
                         struct m2_error *err)
{
    struct string_list names = {0};
    size_t n = 0;
    int code = path_list(attempt->active, M2_E_RESULTS, &names, err);

    free_earlier(attempt);
    attempt->earlier = NULL;
    *newest_out = 0;
    if (code == 0)
        attempt->earlier = calloc(names.count + 1, sizeof *attempt->earlier);
    if (code == 0 && attempt->earlier == NULL)
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    for (size_t i = names.count; code == 0 && i-- > 0;) {
        int number = attempt_number_of(names.items[i]);

        if (number == 0)
            continue;
        if (*newest_out == 0)
            *newest_out = number;
        attempt->earlier[n] = path_join(attempt->active, names.items[i], err);
        if (attempt->earlier[n++] == NULL)
            code = M2_E_MEMORY;
    }
    string_list_free(&names);
    return code;
}

/* Is the newest attempt's owner alive?  A folder without owner.json is what a
 * crash between preparing and renaming never leaves, so it is dead. */
static enum owner_state judge_newest(const struct attempt *attempt,
                                     struct owner_watch *watch)
{
    struct owner owner;
    bool locked = false;
    int dirfd;
    enum owner_state state = OWNER_DEAD;

    if (attempt->earlier[0] == NULL)
        return OWNER_DEAD;
    dirfd = open(attempt->earlier[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirfd < 0)
        return OWNER_DEAD;
    if (owner_read(dirfd, &owner, &locked, NULL) == 0)
        state = owner_judge(&owner, locked, watch);
    else if (locked)
        state = OWNER_ALIVE;
    close(dirfd);
    return state;
}

/* A folder of our own with a locked owner.json, under a name nobody counts. */
static int prepare_folder(struct attempt *attempt, char **prepared_out,
                          struct m2_error *err)
{
    struct text text = {0};
    char *path;
    int code;

    text_addf(&text, "%s/.new-%s", attempt->active, attempt->owner.token);
    path = text_steal(&text, err);
    if (path == NULL)
        return M2_E_MEMORY;
    code = file_make_dirs(path, M2_E_RESULTS, err);
    if (code == 0) {
        attempt->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (attempt->dirfd < 0)
            code = m2_fail(err, M2_E_RESULTS, "%s: cannot open: %s", path,
                           strerror(errno));
    }
    if (code == 0)
        code = owner_create(attempt->dirfd, &attempt->owner, &attempt->owner_fd,
                            err);
    if (code != 0) {
        file_remove_tree(path, M2_E_RESULTS, NULL);
        free(path);
        return code;
    }
    *prepared_out = path;
    return 0;
}

/* rename() onto a folder that is not empty fails: whoever renames first has
 * the number, everybody else looks again at who is alive. */
static int take_number(struct attempt *attempt, const char *prepared,
                       const struct claim_request *request, enum claim *result,
                       struct m2_error *err)
{
    for (int tries = 0; tries < MAX_CLAIM_TRIES; tries++) {
        enum owner_state state = OWNER_DEAD;
        struct text text = {0};
        int newest = 0;
        int code = list_attempts(attempt, &newest, err);

        if (code != 0)
            return code;
        if (!request->takeover)
            state = judge_newest(attempt, request->watch);
        if (state != OWNER_DEAD) {
            *result = state == OWNER_ALIVE ? CLAIM_HELD : CLAIM_UNSURE;
            return 0;
        }
        if (newest >= MAX_ATTEMPTS)
            return m2_fail(err, M2_E_RESULTS, "%s: too many attempts",
                           attempt->active);
        text_addf(&text, "%s/%04d", attempt->active, newest + 1);
        free(attempt->path);
        attempt->path = text_steal(&text, err);
        attempt->number = newest + 1;
        if (attempt->path == NULL)
            return M2_E_MEMORY;
        if (rename(prepared, attempt->path) == 0) {
            *result = CLAIM_OWNED;
            return 0;
        }
        if (errno != ENOTEMPTY && errno != EEXIST)
            return m2_fail(err, M2_E_RESULTS, "%s: cannot create: %s",
                           attempt->path, strerror(errno));
    }
    *result = CLAIM_HELD;
    return 0;
}

/* Another process may have published between our first look and the claim. */
static int withdraw_if_published(struct attempt *attempt, enum claim *result,
                                 char **published_out, struct m2_error *err)
{
    int code = store_find_published(&attempt->place, published_out, err);

    if (code != 0 || *published_out == NULL)
        return code;
    *result = CLAIM_PUBLISHED;
    return file_remove_tree(attempt->path, M2_E_RESULTS, err);
}

static int claim_fresh(struct attempt *attempt,
                       const struct claim_request *request, enum claim *result,
                       char **published_out, struct m2_error *err)
{
    char *prepared = NULL;
    int code = file_make_dirs(attempt->active, M2_E_RESULTS, err);

    if (code == 0)
        code = owner_self(&attempt->owner, err);
    if (code == 0)
        code = fix_label(attempt, request->place.label, err);
    if (code == 0)
        code = prepare_folder(attempt, &prepared, err);
    if (code == 0)
        code = take_number(attempt, prepared, request, result, err);
    if (prepared != NULL && (code != 0 || *result != CLAIM_OWNED))
        file_remove_tree(prepared, M2_E_RESULTS, NULL);
    free(prepared);
    if (code == 0 && *result == CLAIM_OWNED)
        code = withdraw_if_published(attempt, result, published_out, err);
    attempt->last_beat_s = time_monotonic();
    return code;
}

int attempt_claim(const struct claim_request *request, enum claim *result,
                  struct attempt **out, char **published_out,
                  struct m2_error *err)
{
    struct attempt *attempt;
    int code = store_find_published(&request->place, published_out, err);

    *out = NULL;
    if (code != 0)
        return code;
    if (*published_out != NULL) {
        *result = CLAIM_PUBLISHED;
        return 0;
    }
    attempt = attempt_new(&request->place, err);
    if (attempt == NULL)
        return M2_E_MEMORY;
    code = claim_fresh(attempt, request, result, published_out, err);
    if (code == 0 && *result == CLAIM_OWNED)
        *out = attempt;
    else
        attempt_release(attempt);
    return code;
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

int attempt_heartbeat(struct attempt *attempt, struct m2_error *err)
{
    struct stat facts;
    double now = time_monotonic();

    if (now - attempt->last_beat_s < HEARTBEAT_S)
        return 0;
    attempt->last_beat_s = now;
    if (fstatat(attempt->dirfd, "owner.json", &facts, 0) != 0)
        return m2_fail(err, M2_E_RESULTS,
                       "%s: superseded: another process has finished or "
                       "taken over this run",
                       attempt->path);
    return owner_beat(attempt->owner_fd, &attempt->owner, err);
}
