/* Where plugins are looked for: directories in order, names to files. */
#include "search.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader.h"

#define PREFIX "m2_"
#define SUFFIX ".so"

/* The directories of plugin_add_dir: process-wide, because a process has one
 * command line.  Only grows. */
static struct search_dirs command_line;
static pthread_mutex_t command_line_lock = PTHREAD_MUTEX_INITIALIZER;

static int dirs_hold(const struct search_dirs *dirs, const char *dir)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (strcmp(dirs->items[i], dir) == 0)
            return 1;
    return 0;
}

/* Appends dir, which becomes the list's; NULL is out of memory.  A directory
 * is searched once. */
static int dirs_append(struct search_dirs *dirs, char *dir,
                       struct m2_error *err)
{
    char **items;

    if (dir == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    if (dirs_hold(dirs, dir)) {
        free(dir);
        return M2_OK;
    }
    items = realloc(dirs->items, (dirs->n + 1) * sizeof *items);
    if (items == NULL) {
        free(dir);
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    }
    dirs->items = items;
    items[dirs->n++] = dir;
    return M2_OK;
}

static int append_command_line(struct search_dirs *dirs, struct m2_error *err)
{
    int rc = M2_OK;

    pthread_mutex_lock(&command_line_lock);
    for (size_t i = 0; i < command_line.n && rc == M2_OK; i++)
        rc = dirs_append(dirs, strdup(command_line.items[i]), err);
    pthread_mutex_unlock(&command_line_lock);
    return rc;
}

static int append_environment(struct search_dirs *dirs, struct m2_error *err)
{
    const char *entry = getenv("M2RUN_PLUGIN_PATH");

    while (entry != NULL) {
        size_t length = strcspn(entry, ":");

        if (entry[0] == '/') {
            int rc = dirs_append(dirs, strndup(entry, length), err);

            if (rc != M2_OK)
                return rc;
        }
        entry = entry[length] == ':' ? entry + length + 1 : NULL;
    }
    return M2_OK;
}

char *search_name_of(const char *file_name)
{
    size_t length = strlen(file_name);
    size_t around = strlen(PREFIX) + strlen(SUFFIX);

    if (length <= around || strncmp(file_name, PREFIX, strlen(PREFIX)) != 0 ||
        strcmp(file_name + length - strlen(SUFFIX), SUFFIX) != 0)
        return NULL;
    return strndup(file_name + strlen(PREFIX), length - around);
}

static int holds_modules(const char *dir)
{
    DIR *stream = opendir(dir);
    const struct dirent *entry;
    int found = 0;

    if (stream == NULL)
        return 0;
    while (!found && (entry = readdir(stream)) != NULL) {
        char *name = search_name_of(entry->d_name);

        found = name != NULL;
        free(name);
    }
    closedir(stream);
    return found;
}

static int is_build_tree(const char *dir)
{
    char file[PATH_MAX + 32];

    snprintf(file, sizeof file, "%s/config.status", dir);
    return access(file, F_OK) == 0;
}

/* The build tree's modules when the running binary lies in the tree: m2run at
 * its top, a test below its directory tests.  A program installed somewhere
 * below the tree is none of these. */
static int append_build_tree(struct search_dirs *dirs, struct m2_error *err)
{
    char dir[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", dir, sizeof dir - 1);

    if (length < 0)
        return M2_OK;
    dir[length] = '\0';
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(dir, '/');
        char modules[PATH_MAX + 32];

        if (slash == NULL)
            return M2_OK;
        *slash = '\0';
        if ((up > 0 && strcmp(slash + 1, "tests") != 0) || !is_build_tree(dir))
            continue;
        snprintf(modules, sizeof modules, "%s/.libs", dir);
        if (!holds_modules(modules))
            return M2_OK;
        return dirs_append(dirs, strdup(modules), err);
    }
    return M2_OK;
}

int search_dirs_get(struct search_dirs *out, struct m2_error *err)
{
    struct search_dirs dirs = {0};
    int rc = append_command_line(&dirs, err);

    if (rc == M2_OK)
        rc = append_environment(&dirs, err);
    if (rc == M2_OK)
        rc = append_build_tree(&dirs, err);
    if (rc == M2_OK)
        rc = dirs_append(&dirs, strdup(M2_PLUGIN_DIR), err);
    if (rc != M2_OK) {
        search_dirs_free(&dirs);
        return rc;
    }
    *out = dirs;
    return M2_OK;
}

void search_dirs_free(struct search_dirs *dirs)
{
    for (size_t i = 0; i < dirs->n; i++)
        free(dirs->items[i]);
    free(dirs->items);
    *dirs = (struct search_dirs){0};
}

/* The entries of M2RUN_PLUGIN_PATH that are not searched. */
static void print_left_out(FILE *stream)
{
    const char *entry = getenv("M2RUN_PLUGIN_PATH");

    while (entry != NULL) {
        size_t length = strcspn(entry, ":");

        if (length > 0 && entry[0] != '/')
            fprintf(stream,
                    "\n  %.*s of M2RUN_PLUGIN_PATH was left out: it is not "
                    "absolute",
                    (int)length, entry);
        entry = entry[length] == ':' ? entry + length + 1 : NULL;
    }
}

/* Says that no directory has the plugin, and why each has not. */
static int not_found(const char *name, const struct search_dirs *dirs,
                     struct m2_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    if (stream == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    fprintf(stream,
            "plugin %s not found: there is no " PREFIX "%s" SUFFIX " in", name,
            name);
    for (size_t i = 0; i < dirs->n; i++) {
        fprintf(stream, "\n  %s", dirs->items[i]);
        if (access(dirs->items[i], R_OK | X_OK) != 0)
            fprintf(stream, " (%s)", strerror(errno));
    }
    print_left_out(stream);
    if (fclose(stream) != 0) {
        free(text);
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    }
    m2_fail(err, M2_E_DEVICE, "%s", text);
    free(text);
    return M2_E_DEVICE;
}

/* Sets *out when dir has the file; M2_E_MEMORY is the only failure. */
static int look_in(const char *dir, const char *name, char **out,
                   struct m2_error *err)
{
    struct stat facts;
    char *path;

    if (asprintf(&path, "%s/" PREFIX "%s" SUFFIX, dir, name) < 0)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    if (stat(path, &facts) == 0)
        *out = path;
    else
        free(path);
    return M2_OK;
}

int search_find(const char *name, char **out, struct m2_error *err)
{
    struct search_dirs dirs;
    char *path = NULL;
    int rc = search_dirs_get(&dirs, err);

    if (rc != M2_OK)
        return rc;
    for (size_t i = 0; i < dirs.n && path == NULL && rc == M2_OK; i++)
        rc = look_in(dirs.items[i], name, &path, err);
    if (rc == M2_OK && path == NULL)
        rc = not_found(name, &dirs, err);
    search_dirs_free(&dirs);
    if (rc == M2_OK)
        *out = path;
    return rc;
}

int search_file(const char *path, char **out, struct m2_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    struct stat facts;
    char *dir, *real, *joined = NULL;

    if (stat(path, &facts) != 0)
        return m2_fail(err, M2_E_DEVICE, "plugin %s not found: %s", path,
                       strerror(errno));
    dir =
        slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    if (dir == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    real = realpath(dir, NULL);
    free(dir);
    if (real == NULL)
        return m2_fail(err, M2_E_DEVICE, "plugin %s not found: %s", path,
                       strerror(errno));
    if (asprintf(&joined, "%s/%s", real, file) < 0)
        joined = NULL;
    free(real);
    if (joined == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    *out = joined;
    return M2_OK;
}

int plugin_add_dir(const char *dir, struct m2_error *err)
{
    struct stat facts;
    char *real = realpath(dir, NULL);
    int rc;

    if (real == NULL)
        return m2_fail(err, M2_E_USAGE, "plugin directory %s: %s", dir,
                       strerror(errno));
    if (stat(real, &facts) != 0 || !S_ISDIR(facts.st_mode)) {
        free(real);
        return m2_fail(err, M2_E_USAGE,
                       "plugin directory %s is not a directory", dir);
    }
    pthread_mutex_lock(&command_line_lock);
    rc = dirs_append(&command_line, real, err);
    pthread_mutex_unlock(&command_line_lock);
    return rc;
}

char *plugin_search_path(void)
{
    struct search_dirs dirs;
    char *text = NULL;
    size_t size = 0;
    FILE *stream;

    if (search_dirs_get(&dirs, NULL) != M2_OK)
        return NULL;
    stream = open_memstream(&text, &size);
    if (stream != NULL) {
        for (size_t i = 0; i < dirs.n; i++)
            fprintf(stream, "%s%s", i == 0 ? "" : ":", dirs.items[i]);
        fclose(stream);
    }
    search_dirs_free(&dirs);
    return text;
}
