/* Whole files and directories: limited reads, atomic writes, trees. */
#include "util/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/path.h"

enum { READ_BLOCK = 65536 };

static int fail_errno(struct m2_error *err, int code, const char *path)
{
    return m2_fail(err, code, "%s: %s", path, strerror(errno));
}

static int too_large(struct m2_error *err, int code, const char *path,
                     size_t limit)
{
    return m2_fail(err, code, "%s: larger than the limit of %zu bytes", path,
                   limit);
}

static int read_all(int fd, const char *path, size_t limit, int code,
                    struct text *out, struct m2_error *err)
{
    char *block = malloc(READ_BLOCK);
    size_t total = 0;
    int result = 0;

    if (block == NULL)
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", path);
    for (;;) {
        ssize_t n = read(fd, block, READ_BLOCK);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            result = fail_errno(err, code, path);
        else if ((size_t)n > limit - total)
            result = too_large(err, code, path, limit);
        if (n <= 0 || result != 0)
            break;
        total += (size_t)n;
        text_add_bytes(out, block, (size_t)n);
    }
    free(block);
    return result != 0 ? result : text_check(out, err);
}

bool file_write_bytes(int fd, const void *bytes, size_t size)
{
    const char *from = bytes;

    while (size > 0) {
        ssize_t n = write(fd, from, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        from += n;
        size -= (size_t)n;
    }
    return true;
}

/* Removes `name` in the open directory; true also when it is not there. */
static bool remove_at(int parent, const char *name)
{
    const struct dirent *entry;
    bool ok = true;
    DIR *stream;
    int fd;

    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    stream = fdopendir(fd);
    if (stream == NULL) {
        close(fd);
        return false;
    }
    while (ok && (entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = remove_at(fd, entry->d_name);
    }
    if (ok)
        ok = unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
    int saved = errno;
    closedir(stream);
    errno = saved;
    return ok;
}

bool file_exists(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

int file_check_regular(const char *path, int code, struct m2_error *err)
{
    struct stat facts;

    if (stat(path, &facts) != 0)
        return fail_errno(err, code, path);
    if (!S_ISREG(facts.st_mode))
        return m2_fail(err, code, "%s: not a regular file", path);
    return 0;
}

int file_get_facts(const char *path, int code, struct file_facts *out,
                   struct m2_error *err)
{
    struct stat facts;

    if (stat(path, &facts) != 0)
        return fail_errno(err, code, path);
    out->size = facts.st_size;
    out->mtime_ns =
        (int64_t)facts.st_mtim.tv_sec * 1000000000 + facts.st_mtim.tv_nsec;
    return 0;
}

int file_read(const char *path, size_t limit, int code, struct text *out,
              struct m2_error *err)
{
    struct stat facts;
    int result;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_errno(err, code, path);
    if (fstat(fd, &facts) != 0)
        result = fail_errno(err, code, path);
    else if (S_ISREG(facts.st_mode) && (uintmax_t)facts.st_size > limit)
        result = too_large(err, code, path, limit);
    else
        result = read_all(fd, path, limit, code, out, err);
    close(fd);
    return result;
}

/* Signals and interrupted mounts are no reason to give up. */
static int open_at(int dirfd, const char *name, int flags)
{
    int fd;

    do
        fd = openat(dirfd, name, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static bool mkdir_at(int dirfd, const char *name)
{
    int result;

    do
        result = mkdirat(dirfd, name, 0777);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

bool file_sync(int fd)
{
    int result;

    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

/* A network file system may have done what it says has failed, and was sent
 * twice: then the file is there. */
static bool rename_at(int dirfd, const char *from, const char *to,
                      const struct stat *facts)
{
    int cause;
    struct stat found;

    if (renameat(dirfd, from, dirfd, to) == 0)
        return true;
    cause = errno;
    if (fstatat(dirfd, to, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        found.st_ino == facts->st_ino && found.st_dev == facts->st_dev)
        return true;
    errno = cause;
    return false;
}

/* Whatever fails, errno tells of it and `temporary` is gone. */
static bool replace_in(int dirfd, const char *temporary, const char *name,
                       bool (*write)(void *context, int fd), void *context)
{
    struct stat facts;
    int saved, fd = open_at(dirfd, temporary, O_WRONLY | O_CREAT | O_TRUNC);
    bool written;

    if (fd < 0)
        return false;
    written = write(context, fd) && file_sync(fd) && fstat(fd, &facts) == 0;
    saved = errno;
    close(fd);
    errno = saved;
    if (written && rename_at(dirfd, temporary, name, &facts))
        return true;
    saved = errno;
    unlinkat(dirfd, temporary, 0);
    errno = saved;
    return false;
}

/* some file systems cannot sync a directory, and say so by EINVAL */
static bool sync_dir(int dirfd)
{
    return file_sync(dirfd) || errno == EINVAL;
}

static int fail_at(struct m2_error *err, int code, const struct file_at *file)
{
    int cause = errno;

    m2_fail(err, code, "%s%s%s: %s", file->dir, *file->dir != '\0' ? "/" : "",
            file->name, strerror(cause));
    errno = cause;
    return code;
}

bool file_exists_at(const struct file_at *file)
{
    return faccessat(file->dirfd, file->name, F_OK, 0) == 0;
}

int file_open_at(const struct file_at *file, int flags, int code,
                 struct m2_error *err)
{
    int fd = open_at(file->dirfd, file->name, flags);

    if (fd < 0)
        fail_at(err, code, file);
    return fd;
}

int file_replace_at(const struct file_at *file,
                    bool (*write)(void *context, int fd), void *context,
                    int code, struct m2_error *err)
{
    const char *name = path_basename(file->name);
    char *dir = path_dirname(file->name, err);
    struct text temporary = {0};
    int dirfd = -1, result = M2_E_MEMORY;

    text_addf(&temporary, ".%s.tmp", name);
    if (dir != NULL && text_check(&temporary, err) == 0) {
        dirfd = open_at(file->dirfd, dir, O_RDONLY | O_DIRECTORY);
        result = dirfd >= 0 &&
                         replace_in(dirfd, text_string(&temporary), name, write,
                                    context) &&
                         sync_dir(dirfd)
                     ? 0
                     : fail_at(err, code, file);
    }
    int saved = errno;
    if (dirfd >= 0)
        close(dirfd);
    text_free(&temporary);
    free(dir);
    errno = saved;
    return result;
}

struct bytes {
    const void *bytes;
    size_t size;
};

static bool write_given(void *context, int fd)
{
    const struct bytes *given = context;

    return file_write_bytes(fd, given->bytes, given->size);
}

int file_write_at(const struct file_at *file, const void *bytes, size_t size,
                  int code, struct m2_error *err)
{
    struct bytes given = {bytes, size};

    return file_replace_at(file, write_given, &given, code, err);
}

int file_write_atomic(const char *path, const void *bytes, size_t size,
                      int code, struct m2_error *err)
{
    const struct file_at file = {AT_FDCWD, "", path};

    return file_write_at(&file, bytes, size, code, err);
}

static bool write_copy(void *context, int fd)
{
    const int *from = context;
    char block[READ_BLOCK];
    ssize_t n;

    while ((n = read(*from, block, sizeof block)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || !file_write_bytes(fd, block, (size_t)n))
            return false;
    }
    return true;
}

int file_copy_at(const char *from, const struct file_at *to, int code,
                 struct m2_error *err)
{
    int result, saved, fd = open_at(AT_FDCWD, from, O_RDONLY);

    if (fd < 0)
        return errno == ENOENT ? 0 : fail_errno(err, code, from);
    result = file_replace_at(to, write_copy, &fd, code, err);
    saved = errno;
    close(fd);
    errno = saved;
    return result;
}

int file_copy(const char *from, const char *to, int code, struct m2_error *err)
{
    const struct file_at file = {AT_FDCWD, "", to};

    return file_copy_at(from, &file, code, err);
}

int file_make_dir_at(const struct file_at *dir, int code, struct m2_error *err)
{
    return mkdir_at(dir->dirfd, dir->name) || errno == EEXIST
               ? 0
               : fail_at(err, code, dir);
}

static int make_dir(const char *path, int code, struct m2_error *err)
{
    int cause;

    if (mkdir_at(AT_FDCWD, path))
        return 0;
    cause = errno; /* what stat says below is no reason */
    if (file_is_dir(path))
        return 0;
    return m2_fail(err, code, "%s: %s", path,
                   cause == EEXIST ? "not a directory" : strerror(cause));
}

int file_make_dirs(const char *path, int code, struct m2_error *err)
{
    struct text prefix = {0};
    int result = 0;

    for (const char *end = path; *end != '\0' && result == 0;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        text_clear(&prefix);
        text_add_bytes(&prefix, path, (size_t)(end - path));
        result = text_check(&prefix, err);
        if (result == 0)
            result = make_dir(text_string(&prefix), code, err);
    }
    text_free(&prefix);
    return result;
}

int file_sync_dir(const char *path, int code, struct m2_error *err)
{
    int result = 0;
    int fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fail_errno(err, code, path);
    if (!sync_dir(fd))
        result = fail_errno(err, code, path);
    close(fd);
    return result;
}

int file_remove_tree(const char *path, int code, struct m2_error *err)
{
    return remove_at(AT_FDCWD, path) ? 0 : fail_errno(err, code, path);
}
