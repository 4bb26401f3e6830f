/* Claiming a run: a locked folder of our own, then the next number. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/attempt_private.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

#define MAX_ATTEMPTS     9999
#define MAX_NUMBER_TRIES 100
#define MAX_CLAIM_TRIES  3

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

static int read_label(const char *path, char **out, struct m2_error *err)
{
    struct text text = {0};
    int code = file_check_regular(path, M2_E_RESULTS, err);

    if (code == 0)
        code = file_read(path, RUN_LABEL_MAX + 1, M2_E_RESULTS, &text, err);
    if (code == 0 && !run_label_is_valid(text_string(&text)))
        code = m2_fail(err, M2_E_RESULTS,
                       "%s: damaged: no label of a run; remove it", path);
    if (code == 0) {
        *out = text_steal(&text, err);
        code = *out == NULL ? M2_E_MEMORY : 0;
    }
    text_free(&text);
    return code;
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
        code = read_label(path, &attempt->label, err);
    text_free(&text);
    free(mine);
    free(path);
    return code;
}

int attempt_list_folders(const char *active, char ***out, struct m2_error *err)
{
    struct string_list names = {0};
    size_t n = 0;
    char **folders = NULL;
    int code = path_list(active, M2_E_RESULTS, &names, err);

    if (code == 0)
        folders = memory_zeroed(names.count + 1, sizeof *folders, err);
    if (code == 0 && folders == NULL)
        code = M2_E_MEMORY;
    for (size_t i = names.count; code == 0 && i-- > 0;) {
        if (store_attempt_number(names.items[i]) == 0)
            continue;
        folders[n] = path_join(active, names.items[i], err);
        if (folders[n++] == NULL)
            code = M2_E_MEMORY;
    }
    string_list_free(&names);
    if (code != 0) {
        attempt_free_folders(folders);
        return code;
    }
    *out = folders;
    return 0;
}

/* *newest_out: the number of the newest, 0 when there is none. */
static int list_attempts(struct attempt *attempt, int *newest_out,
                         struct m2_error *err)
{
    int code;

    attempt_free_folders(attempt->earlier);
    attempt->earlier = NULL;
    *newest_out = 0;
    code = attempt_list_folders(attempt->active, &attempt->earlier, err);
    if (code == 0 && attempt->earlier[0] != NULL)
        *newest_out = store_attempt_number(path_basename(attempt->earlier[0]));
    return code;
}

/* Is an attempt's owner alive?  A folder without owner.json is what a crash
 * between preparing and renaming never leaves, so it is dead. */
static enum owner_state judge_folder(const char *dir, const char *silent_owner,
                                     struct owner_watch *watch)
{
    struct owner owner;
    bool locked = false;
    enum owner_state state = OWNER_DEAD;
    int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dirfd < 0)
        return OWNER_DEAD;
    if (owner_read(dirfd, &owner, &locked, NULL) != 0)
        state = locked ? OWNER_ALIVE : OWNER_DEAD;
    else if (locked || silent_owner == NULL ||
             strcmp(owner.token, silent_owner) != 0)
        state = owner_judge(&owner, locked, watch);
    close(dirfd);
    return state;
}

/* A folder of our own with a locked owner.json, under a name nobody counts. */
static int prepare_folder(struct attempt *attempt, char **prepared_out,
                          struct m2_error *err)
{
    struct text text = {0};
    struct m2_error cause;
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
                            &cause) == 0
                   ? 0
                   : m2_fail(err, cause.code, "%s/%s", path, cause.text);
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
    for (int tries = 0; tries < MAX_NUMBER_TRIES; tries++) {
        enum owner_state state = OWNER_DEAD;
        struct text text = {0};
        int cause, newest = 0;
        int code = list_attempts(attempt, &newest, err);

        if (code != 0)
            return code;
        if (!request->takeover && attempt->earlier[0] != NULL)
            state =
                judge_folder(attempt->earlier[0], request->silent_owner, NULL);
        if (state != OWNER_DEAD) {
            *result = state == OWNER_ALIVE ? CLAIM_HELD : CLAIM_UNSURE;
            return 0;
        }
        if (newest >= MAX_ATTEMPTS)
            return m2_fail(err, M2_E_RESULTS, "%s: too many attempts",
                           attempt->active);
        text_addf(&text, "%s/" ATTEMPT_FORMAT, attempt->active, newest + 1);
        free(attempt->path);
        attempt->path = text_steal(&text, err);
        attempt->number = newest + 1;
        if (attempt->path == NULL)
            return M2_E_MEMORY;
        if (rename(prepared, attempt->path) == 0) {
            *result = CLAIM_OWNED;
            return 0;
        }
        cause = errno;
        if (attempt_has_its_path(attempt)) { /* done all the same */
            *result = CLAIM_OWNED;
            return 0;
        }
        if (cause != ENOTEMPTY && cause != EEXIST)
            return m2_fail(err, M2_E_RESULTS, "%s: cannot create: %s",
                           attempt->path, strerror(cause));
    }
    *result = CLAIM_HELD;
    return 0;
}

static int claim_fresh(struct attempt *attempt,
                       const struct claim_request *request, enum claim *result,
                       struct m2_error *err)
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
    attempt->last_beat_s = time_monotonic();
    return code;
}

/* One try.  The run may have been published before, or between that look and
 * our claim. */
static int claim_once(const struct claim_request *request, enum claim *result,
                      struct attempt **out, char **published_out,
                      struct m2_error *err)
{
    struct attempt *attempt = NULL;
    int code = store_find_published(&request->place, published_out, err);

    if (code == 0 && *published_out == NULL) {
        attempt = attempt_new(&request->place, err);
        code = attempt == NULL ? M2_E_MEMORY
                               : claim_fresh(attempt, request, result, err);
        if (code == 0 && *result == CLAIM_OWNED)
            code = store_find_published(&request->place, published_out, err);
    }
    if (code == 0 && *published_out != NULL) {
        *result = CLAIM_PUBLISHED;
        store_remove_leftovers(&request->place, *published_out);
    }
    if (code == 0 && *result == CLAIM_OWNED)
        *out = attempt;
    else
        attempt_release(attempt);
    return code;
}

int attempt_claim(const struct claim_request *request, enum claim *result,
                  struct attempt **out, char **published_out,
                  struct m2_error *err)
{
    int code = M2_E_RESULTS;

    *out = NULL;
    *published_out = NULL;
    /* Whoever publishes or gives up removes folders that we may be about to
     * use: the next try finds the run as it is then. */
    for (int tries = 0; code == M2_E_RESULTS && tries < MAX_CLAIM_TRIES;
         tries++)
        code = claim_once(request, result, out, published_out, err);
    return code;
}

int attempt_look(const struct run_place *place, struct owner_watch *watch,
                 enum claim *result, struct m2_error *err)
{
    struct attempt *attempt = attempt_new(place, err);
    enum owner_state state = OWNER_DEAD;
    char *published = NULL;
    int newest, code = 0;

    if (attempt == NULL)
        return M2_E_MEMORY;
    if (file_is_dir(attempt->active) &&
        list_attempts(attempt, &newest, err) == 0 && newest > 0)
        state = judge_folder(attempt->earlier[0], NULL, watch);
    *result = state == OWNER_ALIVE ? CLAIM_HELD : CLAIM_UNSURE;
    if (state == OWNER_DEAD) {
        code = store_find_published(place, &published, err);
        *result = published != NULL ? CLAIM_PUBLISHED : CLAIM_OWNED;
    }
    free(published);
    attempt_release(attempt);
    return code;
}
