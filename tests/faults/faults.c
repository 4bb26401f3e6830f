/* A preloaded library in which one call that changes a file goes wrong.
 *
 * It stands before the C library's open, write, fsync, rename, ... and counts
 * those that change something below one folder.  The tests choose which of
 * them fails, or at which the process is killed, and so walk through every
 * crash point there is.
 *
 *   M2_FAULTS_UNDER    the folder, an absolute path
 *   M2_FAULTS_AT       number of the call, from 1
 *   M2_FAULTS_WHAT     before, after: SIGKILL there; torn: half of a write,
 *                      then SIGKILL; short: half of a write and no error;
 *                      EIO, ENOSPC, EINTR, ENOENT: the call fails; full: from
 *                      there on there is no room; readonly: from there on
 *                      nothing can be changed; sent-twice: a rename is done,
 *                      and fails
 *   M2_FAULTS_PROCESS  only in processes whose first argument is this
 *   M2_FAULTS_LOG      file that gets a line for every call counted
 *   M2_FAULTS_CLOCK    seconds that the wall clock goes back at every look
 *
 * Everything is done by system calls of its own: nothing here may depend on
 * who else stands before the C library. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static struct {
    bool on;
    const char *under, *what;
    long at, count;
    int log;           /* file descriptor or -1 */
    long clock_step_s; /* 0: the clock is left alone */
    long looks;
} faults = {.log = -1};

/* Is this process meant?  The name of a subcommand tells. */
static bool is_meant(const char *word)
{
    char line[PATH_SIZE] = "";
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY);
    long n = fd >= 0 ? syscall(SYS_read, fd, line, sizeof line - 1) : 0;

    if (fd >= 0)
        close(fd);
    return word == NULL ||
           (n > 0 && strcmp(line + strlen(line) + 1, word) == 0);
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("M2_FAULTS_AT");
    const char *log = getenv("M2_FAULTS_LOG");
    const char *step = getenv("M2_FAULTS_CLOCK");

    faults.under = getenv("M2_FAULTS_UNDER");
    faults.what = getenv("M2_FAULTS_WHAT");
    faults.at = at != NULL ? atol(at) : 0;
    faults.clock_step_s = step != NULL ? atol(step) : 0;
    if (faults.what == NULL)
        faults.what = "";
    faults.on = faults.under != NULL && is_meant(getenv("M2_FAULTS_PROCESS"));
    if (faults.on && log != NULL)
        faults.log =
            (int)syscall(SYS_openat, AT_FDCWD, log,
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/* The path of a name in an open folder, or of an open file (no name). */
static void find_path(int dirfd, const char *name, char out[PATH_SIZE])
{
    char link[64];
    ssize_t n = 0;

    if (name != NULL && (name[0] == '/' || dirfd == AT_FDCWD)) {
        snprintf(out, PATH_SIZE, "%s", name);
        return;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
    n = readlink(link, out, PATH_SIZE - 1);
    out[n > 0 ? n : 0] = '\0';
    if (name != NULL)
        snprintf(out + strlen(out), PATH_SIZE - strlen(out), "/%s", name);
}

static void die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

enum fate { FATE_NONE, FATE_AFTER, FATE_TORN, FATE_SHORT, FATE_TWICE };

static bool is(const char *what)
{
    return strcmp(faults.what, what) == 0;
}

/* Does a call of this kind need room on the disk? */
static bool needs_room(const char *call)
{
    return strcmp(call, "create") == 0 || strcmp(call, "write") == 0 ||
           strcmp(call, "pwrite") == 0 || strcmp(call, "mkdir") == 0 ||
           strcmp(call, "link") == 0;
}

/* An errno that the call fails with, or 0. */
static int chosen_error(const char *call, bool now)
{
    static const struct {
        const char *name;
        int value;
    } errors[] = {
        {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EINTR", EINTR}, {"ENOENT", ENOENT}};

    for (size_t i = 0; now && i < sizeof errors / sizeof *errors; i++)
        if (is(errors[i].name))
            return errors[i].value;
    if (is("full") && faults.count >= faults.at && needs_room(call))
        return ENOSPC;
    if (is("readonly") && faults.count >= faults.at)
        return EROFS;
    return 0;
}

/* Counts the call; *error_out: it must fail with this. */
static enum fate meet(const char *call, int dirfd, const char *name,
                      int *error_out)
{
    char path[PATH_SIZE], line[PATH_SIZE + 64];
    int saved = errno;
    bool now;

    *error_out = 0;
    if (!faults.on)
        return FATE_NONE;
    find_path(dirfd, name, path);
    errno = saved;
    if (strncmp(path, faults.under, strlen(faults.under)) != 0)
        return FATE_NONE;
    now = ++faults.count == faults.at;
    if (faults.log >= 0) {
        snprintf(line, sizeof line, "%ld %s %s\n", faults.count, call, path);
        syscall(SYS_write, faults.log, line, strlen(line));
    }
    errno = saved;
    if (now && is("before"))
        die();
    *error_out = chosen_error(call, now);
    if (!now)
        return FATE_NONE;
    return is("after")        ? FATE_AFTER
           : is("torn")       ? FATE_TORN
           : is("short")      ? FATE_SHORT
           : is("sent-twice") ? FATE_TWICE
                              : FATE_NONE;
}

static long settle(enum fate fate, long result)
{
    if (fate == FATE_AFTER || fate == FATE_TORN)
        die();
    return result;
}

/* The rest of a call that is no write. */
#define FAULTY(call, dirfd, name, real)                                        \
    int error;                                                                 \
    enum fate fate = meet(call, dirfd, name, &error);                          \
    if (error != 0) {                                                          \
        errno = error;                                                         \
        return -1;                                                             \
    }                                                                          \
    return (int)settle(fate, real)

static int open_file(int dirfd, const char *path, int flags, mode_t mode)
{
    const int changes = O_CREAT | O_TRUNC;

    if ((flags & changes) == 0)
        return (int)syscall(SYS_openat, dirfd, path, flags, mode);
    FAULTY("create", dirfd, path,
           syscall(SYS_openat, dirfd, path, flags, mode));
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    mode_t mode = 0;

    va_start(arguments, flags);
    if ((flags & O_CREAT) != 0)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return open_file(AT_FDCWD, path, flags, mode);
}

int openat(int dirfd, const char *path, int flags, ...)
{
    va_list arguments;
    mode_t mode = 0;

    va_start(arguments, flags);
    if ((flags & O_CREAT) != 0)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return open_file(dirfd, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    int error;
    enum fate fate = meet("write", fd, NULL, &error);

    if (error != 0) {
        errno = error;
        return -1;
    }
    if ((fate == FATE_TORN || fate == FATE_SHORT) && size > 1)
        size /= 2;
    return settle(fate, syscall(SYS_write, fd, bytes, size));
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    int error;
    enum fate fate = meet("pwrite", fd, NULL, &error);

    if (error != 0) {
        errno = error;
        return -1;
    }
    if ((fate == FATE_TORN || fate == FATE_SHORT) && size > 1)
        size /= 2;
    return settle(fate, syscall(SYS_pwrite64, fd, bytes, size, offset));
}

int fsync(int fd)
{
    FAULTY("fsync", fd, NULL, syscall(SYS_fsync, fd));
}

int ftruncate(int fd, off_t size)
{
    FAULTY("ftruncate", fd, NULL, syscall(SYS_ftruncate, fd, size));
}

int renameat(int old_dirfd, const char *from, int new_dirfd, const char *to)
{
    int error;
    enum fate fate = meet("rename", new_dirfd, to, &error);
    long result;

    if (error != 0) {
        errno = error;
        return -1;
    }
    result = syscall(SYS_renameat2, old_dirfd, from, new_dirfd, to, 0);
    if (fate == FATE_TWICE)
        result = syscall(SYS_renameat2, old_dirfd, from, new_dirfd, to, 0);
    return (int)settle(fate, result);
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int old_dirfd, const char *from, int new_dirfd, const char *to,
           int flags)
{
    FAULTY("link", new_dirfd, to,
           syscall(SYS_linkat, old_dirfd, from, new_dirfd, to, flags));
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int dirfd, const char *path, int flags)
{
    FAULTY((flags & AT_REMOVEDIR) != 0 ? "rmdir" : "unlink", dirfd, path,
           syscall(SYS_unlinkat, dirfd, path, flags));
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int dirfd, const char *path, mode_t mode)
{
    FAULTY("mkdir", dirfd, path, syscall(SYS_mkdirat, dirfd, path, mode));
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

/* ---- the wall clock ------------------------------------------------------ */

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = (int)syscall(SYS_clock_gettime, clock, out);

    if (result == 0 && clock == CLOCK_REALTIME)
        out->tv_sec -= faults.clock_step_s * ++faults.looks;
    return result;
}

time_t time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}
