/* File names: joining, resolving, globbing, listing in a fixed order. */
#include "util/path.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/memory.h"

/* Length of the path without trailing slashes; "/" keeps its one. */
static size_t trimmed_length(const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Adds the strings of `found`, sorted among themselves, to `out`. */
static int add_sorted(struct string_list *found, struct string_list *out,
                      struct m2_error *err)
{
    string_list_sort(found);
    for (size_t i = 0; i < found->count; i++) {
        if (string_list_add(out, found->items[i], err) != 0)
            return M2_E_MEMORY;
    }
    return 0;
}

bool path_is_absolute(const char *path)
{
    return path[0] == '/';
}

char *path_join(const char *dir, const char *name, struct m2_error *err)
{
    struct text path = {0};

    if (!path_is_absolute(name) && dir[0] != '\0') {
        text_add(&path, dir);
        if (dir[strlen(dir) - 1] != '/')
            text_add_char(&path, '/');
    }
    text_add(&path, name);
    return text_steal(&path, err);
}

char *path_dirname(const char *path, struct m2_error *err)
{
    size_t length = trimmed_length(path);
    struct text dir = {0};

    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0)
        text_add_char(&dir, '.');
    text_add_bytes(&dir, path, length);
    return text_steal(&dir, err);
}

const char *path_basename(const char *path)
{
    size_t length = trimmed_length(path);

    while (length > 0 && path[length - 1] != '/')
        length--;
    return path[length] == '\0' ? path : path + length;
}

char *path_resolve(const char *file, const char *path, struct m2_error *err)
{
    const char *slash = strrchr(file, '/');
    struct text resolved = {0};

    if (!path_is_absolute(path) && slash != NULL)
        text_add_bytes(&resolved, file, (size_t)(slash - file) + 1);
    text_add(&resolved, path);
    return text_steal(&resolved, err);
}

char *path_absolute(const char *path, struct m2_error *err)
{
    char here[PATH_MAX];
    struct text absolute = {0};

    if (!path_is_absolute(path)) {
        /* In a directory that was removed only the relative name is left; it
         * fails where it is used, with its own reason. */
        if (getcwd(here, sizeof here) == NULL)
            return memory_string(path, err);
        text_add(&absolute, strcmp(here, "/") == 0 ? "" : here);
    }
    while (*path != '\0') {
        size_t length = strcspn(path, "/");

        if (length > 0 && !(length == 1 && path[0] == '.')) {
            text_add_char(&absolute, '/');
            text_add_bytes(&absolute, path, length);
        }
        path += length + (path[length] == '/');
    }
    if (absolute.length == 0)
        text_add_char(&absolute, '/');
    return text_steal(&absolute, err);
}

int path_glob(const char *pattern, int code, struct string_list *out,
              struct m2_error *err)
{
    struct string_list found = {0};
    glob_t matches;
    int result = 0;

    if (access(pattern, F_OK) == 0)
        return string_list_add(out, pattern, err);
    switch (glob(pattern, GLOB_NOSORT, NULL, &matches)) {
    case 0:
        break;
    case GLOB_NOMATCH:
        return 0;
    case GLOB_NOSPACE:
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", pattern);
    default:
        return m2_fail(err, code, "%s: %s", pattern, strerror(errno));
    }
    for (size_t i = 0; i < matches.gl_pathc && result == 0; i++)
        result = string_list_add(&found, matches.gl_pathv[i], err);
    if (result == 0)
        result = add_sorted(&found, out, err);
    globfree(&matches);
    string_list_free(&found);
    return result;
}

int path_list(const char *dir, int code, struct string_list *out,
              struct m2_error *err)
{
    struct string_list found = {0};
    const struct dirent *entry;
    int result = 0;
    DIR *stream = opendir(dir);

    if (stream == NULL)
        return m2_fail(err, code, "%s: %s", dir, strerror(errno));
    while (result == 0 && (errno = 0, entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = string_list_add(&found, entry->d_name, err);
    }
    if (result == 0 && errno != 0)
        result = m2_fail(err, code, "%s: %s", dir, strerror(errno));
    if (result == 0)
        result = add_sorted(&found, out, err);
    closedir(stream);
    string_list_free(&found);
    return result;
}

char *path_executable(struct m2_error *err)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length < 0) {
        m2_fail(err, M2_E_FAILED, "/proc/self/exe: %s", strerror(errno));
        return NULL;
    }
    path[length] = '\0';
    return memory_string(path, err);
}
