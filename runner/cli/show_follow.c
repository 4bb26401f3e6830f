/* m2run show --follow: the log of a run as it grows. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/show.h"
#include "results/owner.h"
#include "util/log.h"

#define PAUSE_NS 200000000L

/* Prints what was added; a log that does not exist yet is empty. */
static void print_new(int dirfd, int *fd)
{
    char bytes[8192];
    ssize_t n;

    if (*fd < 0)
        *fd = openat(dirfd, "log.txt", O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return;
    while ((n = read(*fd, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)n, stdout);
    fflush(stdout);
}

/* A published run has no owner any more. */
static bool is_alive(int dirfd, struct owner_watch *watch)
{
    struct owner owner;
    bool locked = false;

    return owner_read(dirfd, &owner, &locked, NULL) == 0 &&
           owner_judge(&owner, locked, watch) != OWNER_DEAD;
}

/* The folder may have got another name: it is found by its descriptor. */
static int load_entry(int dirfd, struct run_entry *out, struct m2_error *err)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", dirfd);
    return run_entry_load(path, out, err);
}

static void follow(int dirfd)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct owner_watch watch = {0};
    int log = -1;
    bool alive;

    do {
        alive = is_alive(dirfd, &watch);
        print_new(dirfd, &log);
        if (alive && !ferror(stdout))
            nanosleep(&pause, NULL);
    } while (alive && !ferror(stdout));
    if (log >= 0)
        close(log);
}

int show_follow(const char *path, struct m2_error *err)
{
    struct run_entry entry = {0};
    int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int log = -1, code;

    if (dirfd < 0)
        return m2_fail(err, M2_E_RESULTS, "%s: %s", path, strerror(errno));
    code = load_entry(dirfd, &entry, err);
    if (code == 0 && strcmp(entry.state, "running") == 0) {
        follow(dirfd);
        run_entry_free(&entry);
        code = load_entry(dirfd, &entry, err);
    } else if (code == 0) {
        print_new(dirfd, &log);
    }
    if (code == 0)
        log_info("%s/%s: %s", entry.experiment, entry.run, entry.state);
    run_entry_free(&entry);
    if (log >= 0)
        close(log);
    close(dirfd);
    return code;
}
