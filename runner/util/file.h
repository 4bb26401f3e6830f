/* Whole files and directories: limited reads, atomic writes, trees.
 *
 * Every failure names the path and the system's reason, and is reported under
 * the `code` the caller gives: M2_E_CONFIG, M2_E_DATA or M2_E_RESULTS. */
#ifndef M2_UTIL_FILE_H
#define M2_UTIL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "m2_plugin.h"
#include "util/text.h"

bool file_exists(const char *path); /* any kind; a dangling link does not */
bool file_is_dir(const char *path);

/* An error for a pipe, a device or a directory in the place of a file: those
 * of a results folder are never waited for. */
int file_check_regular(const char *path, int code, struct m2_error *err);

struct file_facts {
    int64_t size;     /* bytes */
    int64_t mtime_ns; /* since 1970 */
};

int file_get_facts(const char *path, int code, struct file_facts *out,
                   struct m2_error *err);

/* Appends the file to `out`; more than `limit` bytes is an error, found before
 * they are read. Pipes work, too. */
int file_read(const char *path, size_t limit, int code, struct text *out,
              struct m2_error *err);

/* A name in an open folder. What is done by it ends up in that folder, wherever
 * it was moved, and fails by ENOENT or ESTALE once it is gone, although another
 * may have its path by then. */
struct file_at {
    int dirfd;        /* or AT_FDCWD: `name` is a path */
    const char *dir;  /* the folder's path, for messages; "" is none */
    const char *name; /* may lie in a folder of the folder: "a/b" */
};

bool file_exists_at(const struct file_at *file);

/* open() with these flags and O_CLOEXEC; -1, err and errno on failure. */
int file_open_at(const struct file_at *file, int flags, int code,
                 struct m2_error *err);

/* Replaces a file as a whole: readers see the old bytes or the new ones, and
 * so does the next boot. Writes `.name.tmp` beside it, fsyncs, renames, fsyncs
 * the directory. Two writers of one path must not run at once. After a failure
 * errno is its cause, and the old file is as it was. */
int file_write_atomic(const char *path, const void *bytes, size_t size,
                      int code, struct m2_error *err);
int file_write_at(const struct file_at *file, const void *bytes, size_t size,
                  int code, struct m2_error *err);

/* The same with bytes from a function, for what is too large to be held:
 * `write` is given a file to write to, and false with errno is a failure. */
int file_replace_at(const struct file_at *file,
                    bool (*write)(void *context, int fd), void *context,
                    int code, struct m2_error *err);

/* For such a function: all of the bytes; false and errno on failure. */
bool file_write_bytes(int fd, const void *bytes, size_t size);

/* fsync; false and errno on failure. */
bool file_sync(int fd);

/* Replaces `to` by a copy of `from`; a `from` that does not exist is left out,
 * and no error. */
int file_copy(const char *from, const char *to, int code, struct m2_error *err);
int file_copy_at(const char *from, const struct file_at *to, int code,
                 struct m2_error *err);

/* Makes one directory; an existing one is fine. */
int file_make_dir_at(const struct file_at *dir, int code, struct m2_error *err);

/* Makes a directory and its parents; an existing one is fine. */
int file_make_dirs(const char *path, int code, struct m2_error *err);

/* Makes names created or renamed in a directory durable. */
int file_sync_dir(const char *path, int code, struct m2_error *err);

/* Removes a file or a whole directory, never following links; what is not
 * there is fine, what another process removes meanwhile, too. */
int file_remove_tree(const char *path, int code, struct m2_error *err);

#endif
