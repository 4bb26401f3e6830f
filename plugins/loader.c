/* Loading plugins: the list of what is loaded, by name, by file, or all. */
#include "loader.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "handshake.h"
#include "module_file.h"
#include "search.h"

/* A loaded file, known by device and inode, so that two spellings of its path
 * are one plugin. */
struct loaded {
    struct plugin plugin;
    dev_t device;
    ino_t inode;
    struct loaded *next;
};

/* Process-wide like the modules themselves, which are never unloaded. */
static struct loaded *loaded_list;
static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;

static void log_to_stderr(int level, const char *text)
{
    if (level > 0)
        fprintf(stderr, "m2run: %s\n", text);
}

static void (*_Atomic log_target)(int level, const char *text) = log_to_stderr;

/* What plugins keep: it outlives every change of the target. */
static void log_to_target(int level, const char *text)
{
    log_target(level, text);
}

static const struct m2_host host = {
    .size = sizeof host,
    .abi = M2_PLUGIN_ABI,
    .version = PACKAGE_VERSION,
    .log = log_to_target,
};

void plugin_set_log(void (*log)(int level, const char *text))
{
    log_target = log;
}

static const struct loaded *find_loaded(const struct stat *facts)
{
    const struct loaded *entry = loaded_list;

    while (entry != NULL &&
           (entry->device != facts->st_dev || entry->inode != facts->st_ino))
        entry = entry->next;
    return entry;
}

/* Adds a plugin to the list; the lock is held. */
static int remember(const struct m2_plugin *descriptor, const char *path,
                    const struct stat *facts, const struct plugin **out,
                    struct m2_error *err)
{
    struct loaded *entry = calloc(1, sizeof *entry);
    char *copy = strdup(path);

    if (entry == NULL || copy == NULL) {
        free(entry);
        free(copy);
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    }
    entry->plugin.descriptor = descriptor;
    entry->plugin.path = copy;
    entry->device = facts->st_dev;
    entry->inode = facts->st_ino;
    entry->next = loaded_list;
    loaded_list = entry;
    *out = &entry->plugin;
    return M2_OK;
}

/* Loads the file named NAME, or finds it loaded; the lock is held. */
static int load_locked(const char *path, const char *name,
                       const struct plugin **out, struct m2_error *err)
{
    const struct m2_plugin *descriptor;
    const struct loaded *entry;
    struct stat facts;
    int rc;

    if (stat(path, &facts) != 0)
        return m2_fail(err, M2_E_DEVICE, "plugin %s not found: %s", path,
                       strerror(errno));
    entry = find_loaded(&facts);
    if (entry != NULL) {
        /* Another name of the file must be right as well. */
        rc = handshake_check(entry->plugin.descriptor, path, name, err);
        if (rc == M2_OK)
            *out = &entry->plugin;
        return rc;
    }
    rc = module_open(path, name, &host, &descriptor, err);
    if (rc != M2_OK)
        return rc;
    return remember(descriptor, path, &facts, out, err);
}

/* Loads a file of either kind; path is absolute. */
static int load_file(const char *path, const struct plugin **out,
                     struct m2_error *err)
{
    const char *file_name = strrchr(path, '/') + 1;
    char *name = search_name_of(file_name);
    int rc;

    if (name == NULL)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: its file name is not m2_NAME.so",
                       path);
    pthread_mutex_lock(&loaded_lock);
    rc = load_locked(path, name, out, err);
    pthread_mutex_unlock(&loaded_lock);
    free(name);
    return rc;
}

int plugin_load(const char *name_or_path, enum m2_plugin_kind kind,
                const struct plugin **out, struct m2_error *err)
{
    const struct plugin *plugin;
    char *path;
    int rc;

    if (name_or_path[0] == '\0')
        return m2_fail(err, M2_E_DEVICE, "a plugin's name is empty");
    if (strchr(name_or_path, '/') != NULL)
        rc = search_file(name_or_path, &path, err);
    else
        rc = search_find(name_or_path, &path, err);
    if (rc != M2_OK)
        return rc;
    rc = load_file(path, &plugin, err);
    if (rc == M2_OK && plugin->descriptor->kind != (uint32_t)kind)
        rc = m2_fail(err, M2_E_DEVICE,
                     "plugin %s refused: it is a %s, expected a %s", path,
                     handshake_kind_name(plugin->descriptor->kind),
                     handshake_kind_name(kind));
    free(path);
    if (rc == M2_OK)
        *out = plugin;
    return rc;
}

/* The modules of the search path: absolute paths, sorted by plugin name. */
struct module_list {
    struct module_entry {
        char *name, *path;
    } * items;
    size_t n;
};

static void module_list_free(struct module_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].name);
        free(list->items[i].path);
    }
    free(list->items);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct module_entry *)a)->name,
                  ((const struct module_entry *)b)->name);
}

/* Takes m2_NAME.so of dir into the list, unless an earlier one has its name;
 * name becomes the list's. */
static int module_list_add(struct module_list *list, const char *dir,
                           char *name, struct m2_error *err)
{
    struct module_entry *items;
    char *path = NULL;

    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].name, name) == 0) {
            free(name);
            return M2_OK;
        }
    }
    items = realloc(list->items, (list->n + 1) * sizeof *items);
    if (items != NULL)
        list->items = items;
    if (items == NULL || asprintf(&path, "%s/m2_%s.so", dir, name) < 0) {
        free(name);
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    }
    items[list->n++] = (struct module_entry){name, path};
    return M2_OK;
}

static int module_list_scan(struct module_list *list, const char *dir,
                            struct m2_error *err)
{
    DIR *stream = opendir(dir);
    const struct dirent *entry;
    int rc = M2_OK;

    if (stream == NULL)
        return M2_OK;
    while (rc == M2_OK && (entry = readdir(stream)) != NULL) {
        char *name = search_name_of(entry->d_name);

        if (name != NULL)
            rc = module_list_add(list, dir, name, err);
    }
    closedir(stream);
    return rc;
}

static int module_list_get(struct module_list *list, struct m2_error *err)
{
    struct search_dirs dirs;
    int rc = search_dirs_get(&dirs, err);

    if (rc != M2_OK)
        return rc;
    for (size_t i = 0; i < dirs.n && rc == M2_OK; i++)
        rc = module_list_scan(list, dirs.items[i], err);
    search_dirs_free(&dirs);
    if (rc == M2_OK && list->n > 0)
        qsort(list->items, list->n, sizeof *list->items, by_name);
    return rc;
}

int plugin_each(enum m2_plugin_kind kind,
                int (*visit)(const char *name, const char *path,
                             const struct plugin *plugin, const char *err_text,
                             void *context),
                void *context, struct m2_error *err)
{
    struct module_list list = {0};
    int rc = module_list_get(&list, err);

    for (size_t i = 0; i < list.n && rc == M2_OK; i++) {
        const struct plugin *plugin = NULL;
        struct m2_error reason = {0};

        if (load_file(list.items[i].path, &plugin, &reason) == M2_OK &&
            plugin->descriptor->kind != (uint32_t)kind)
            continue;
        rc = visit(list.items[i].name, list.items[i].path, plugin,
                   plugin == NULL ? reason.text : NULL, context);
    }
    module_list_free(&list);
    return rc;
}

m2_slot_fn plugin_slot(const struct plugin *plugin, unsigned slot)
{
    const struct m2_plugin *descriptor = plugin->descriptor;

    return slot < descriptor->n_slots ? descriptor->slots[slot].fn : NULL;
}
