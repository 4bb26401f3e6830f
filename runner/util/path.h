/* File names: joining, resolving, globbing, listing in a fixed order.
 *
 * Functions that return char * return memory the caller frees, or NULL and
 * err. Nothing here changes a file. `code` is the result code (M2_E_DATA,
 * M2_E_RESULTS, ...) that a failure of the file system is reported as. */
#ifndef M2_UTIL_PATH_H
#define M2_UTIL_PATH_H

#include <stdbool.h>

#include "m2_plugin.h"
#include "util/text.h"

bool path_is_absolute(const char *path);

/* dir/name; name alone when it is absolute or dir is empty. */
char *path_join(const char *dir, const char *name, struct m2_error *err);

/* All before the last component: "a/b" -> "a", "b" -> ".", "/b" -> "/".
 * Trailing slashes do not count. */
char *path_dirname(const char *path, struct m2_error *err);

/* The last component, inside `path`: "a/b.c" -> "b.c". */
const char *path_basename(const char *path);

/* `path` as written in `file`: relative to the directory that holds it. */
char *path_resolve(const char *file, const char *path, struct m2_error *err);

/* Absolute, from the working directory; "./" and "//" removed, links and ".."
 * left as they are. The path need not exist. Where the working directory was
 * removed: the path as it is. */
char *path_absolute(const char *path, struct m2_error *err);

/* Adds what the pattern matches, in bytewise order. No match is no error, and
 * an existing name that holds * or ? or [ is found as itself. */
int path_glob(const char *pattern, int code, struct string_list *out,
              struct m2_error *err);

/* Adds the names in a directory, without . and .., in bytewise order. */
int path_list(const char *dir, int code, struct string_list *out,
              struct m2_error *err);

/* The running binary, absolute and without links. */
char *path_executable(struct m2_error *err);

#endif
