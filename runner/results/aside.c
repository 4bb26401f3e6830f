/* Moving what a run has left out of the way. */
#include "results/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/attempt_private.h"
#include "results/listing.h"
#include "util/number.h"
#include "util/path.h"

#define MAX_TRIES     100
#define TIDY_TRIES    500
#define TIDY_PAUSE_NS 10000000 /* 10 ms */
#define LOCK_TRIES    12000
#define LOCK_PAUSE_NS 5000000 /* 5 ms: a minute in all */

/* The highest K of "<run>.K" there is. */
static int64_t highest_number(const char *dir, const char *run)
{
    struct string_list names = {0};
    size_t length = strlen(run);
    int64_t highest = 0, number;

    if (path_list(dir, M2_E_RESULTS, &names, NULL) == 0)
        for (size_t i = 0; i < names.count; i++)
            if (strncmp(names.items[i], run, length) == 0 &&
                names.items[i][length] == '.' &&
                number_parse_int(names.items[i] + length + 1, &number) &&
                number > highest)
                highest = number;
    string_list_free(&names);
    return highest;
}

/* Renames `from` to the next "<old>/<run>.K".  The target is named by whoever
 * renames first, for no rename replaces a folder that is not empty. */
static int move_to_next(const char *from, const char *old, const char *run,
                        char **path_out, struct m2_error *err)
{
    int64_t number = highest_number(old, run);

    for (int tries = 0; tries < MAX_TRIES; tries++) {
        struct text to = {0};
        int cause;

        text_addf(&to, "%s/%s.%lld", old, run, (long long)++number);
        if (text_check(&to, err) != 0)
            return M2_E_MEMORY;
        if (rename(from, text_string(&to)) == 0) {
            *path_out = text_steal(&to, err);
            return *path_out == NULL ? M2_E_MEMORY : 0;
        }
        cause = errno;
        text_free(&to);
        if (cause != ENOTEMPTY && cause != EEXIST)
            return m2_fail(err, M2_E_RESULTS, "%s: cannot move to %s: %s", from,
                           old, strerror(cause));
    }
    return m2_fail(err, M2_E_RESULTS, "%s: cannot move to %s: too many names",
                   from, old);
}

/* Durable in both places. */
static int move(const char *from, const char *experiment, const char *run,
                char **path_out, struct m2_error *err)
{
    char *old = path_join(experiment, ".old", err);
    char *parent = path_dirname(from, err);
    int code = old == NULL || parent == NULL
                   ? M2_E_MEMORY
                   : file_make_dirs(old, M2_E_RESULTS, err);

    if (code == 0)
        code = move_to_next(from, old, run, path_out, err);
    if (code == 0)
        code = file_sync_dir(old, M2_E_RESULTS, err);
    if (code == 0)
        code = file_sync_dir(parent, M2_E_RESULTS, err);
    free(parent);
    free(old);
    return code;
}

/* Asks again and again: whoever holds the lock renames a folder and is through,
 * so that a wait for ever would only hide what has gone wrong.  (valgrind does
 * not know that F_OFD_SETLKW may wait, and stops all threads meanwhile.) */
static int wait_for_lock(int fd, const char *record, struct m2_error *err)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
            return 0;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return m2_fail(err, M2_E_RESULTS, "%s: cannot lock: %s", record,
                           strerror(errno));
        nanosleep(&pause, NULL);
    }
    return m2_fail(err, M2_E_RESULTS,
                   "%s: cannot lock: another process has held it for a minute",
                   record);
}

/* The folder's run.json, locked; -1 and no error when the folder has gone. */
static int lock_record(const char *record, int *fd_out, struct m2_error *err)
{
    struct stat ours, there;
    int fd = open(record, O_RDWR | O_CLOEXEC | O_NONBLOCK), code;

    *fd_out = -1;
    if (fd < 0 && (errno == ENOENT || errno == ESTALE))
        return 0;
    if (fd < 0)
        return m2_fail(err, M2_E_RESULTS, "%s: cannot open: %s", record,
                       strerror(errno));
    code = wait_for_lock(fd, record, err);
    if (code != 0) {
        close(fd);
        return code;
    }
    if (fstat(fd, &ours) == 0 && stat(record, &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
        *fd_out = fd;
    else
        close(fd); /* moved while we waited */
    return 0;
}

static bool has_token(const char *path, const char *token)
{
    struct run_entry entry;
    const char *found;
    bool same;

    if (run_entry_load(path, &entry, NULL) != 0)
        return false;
    found = json_string_value(run_value(&entry, NULL, "token"));
    same = strcmp(found != NULL ? found : "", token) == 0;
    run_entry_free(&entry);
    return same;
}

/* Whoever has just published still removes the run's attempts: a new one must
 * not be among them.  Its lock says when it is through. */
static void wait_for_publisher(const char *path)
{
    const struct timespec pause = {.tv_nsec = TIDY_PAUSE_NS};

    for (int tries = 0; tries < TIDY_TRIES; tries++) {
        struct owner owner;
        bool locked = false;
        int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (dirfd < 0)
            return;
        if (owner_read(dirfd, &owner, &locked, NULL) != 0)
            locked = false;
        close(dirfd);
        if (!locked)
            return;
        nanosleep(&pause, NULL);
    }
}

static int move_locked(const struct run_place *place, const char *published,
                       char **path_out, struct m2_error *err)
{
    char *experiment = store_experiment_path(place);
    int code = experiment == NULL
                   ? m2_fail(err, M2_E_MEMORY, "out of memory")
                   : move(published, experiment, path_basename(published),
                          path_out, err);

    free(experiment);
    return code;
}

int aside_published(const struct run_place *place, const char *token,
                    char **path_out, struct m2_error *err)
{
    char *published = NULL, *record = NULL;
    int fd = -1;
    int code = store_find_published(place, &published, err);

    *path_out = NULL;
    if (code == 0 && published != NULL) {
        wait_for_publisher(published);
        record = path_join(published, "run.json", err);
        code = record == NULL ? M2_E_MEMORY : lock_record(record, &fd, err);
    }
    if (code == 0 && fd >= 0 && has_token(published, token))
        code = move_locked(place, published, path_out, err);
    if (fd >= 0)
        close(fd);
    free(record);
    free(published);
    return code;
}

int aside_attempts(struct attempt *attempt, size_t *n_out, struct m2_error *err)
{
    char *experiment = store_experiment_path(&attempt->place);
    char run[RUN_NAME_SIZE];
    int code =
        experiment == NULL ? m2_fail(err, M2_E_MEMORY, "out of memory") : 0;

    *n_out = 0;
    run_name_print(attempt->label, attempt->identity, run);
    for (char **dir = attempt->earlier; code == 0 && *dir != NULL; dir++) {
        char *path = NULL;

        code = move(*dir, experiment, run, &path, err);
        *n_out += code == 0;
        free(path);
    }
    for (char **dir = attempt->earlier; code == 0 && *dir != NULL; dir++) {
        free(*dir);
        *dir = NULL;
    }
    free(experiment);
    return code;
}
