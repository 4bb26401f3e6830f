/* Loading plugins: search, dlopen, handshake, refusal.
 *
 * Search order for a bare name: each --plugin-dir, then M2RUN_PLUGIN_PATH
 * (colon-separated), then the build tree's modules when the running binary
 * lies in it, then the installed directory plugins-1.  Never the working
 * directory.  A name with a slash is a file.  Only absolute paths reach
 * dlopen.  Three failures have three messages:
 *   not found (every directory tried), does not load (dlerror verbatim),
 *   refused (what differs: both ABI numbers, both sizes, both names).
 * Plugins stay loaded until the process ends. */
#ifndef M2_PLUGINS_LOADER_H
#define M2_PLUGINS_LOADER_H

#include "m2_plugin.h"

/* A loaded plugin; lives until the process ends. */
struct plugin {
    const struct m2_plugin *descriptor;
    char *path; /* absolute */
};

/* Where the lines that plugins log go; level 0 is info, 1 a warning.  At the
 * start warnings go to stderr and info nowhere.  Valid for plugins loaded
 * before, too. */
void plugin_set_log(void (*log)(int level, const char *text));

/* Directories given on the command line, searched first, in order. */
int plugin_add_dir(const char *dir, struct m2_error *err);

/* Loads by name ("cpu") or by path ("./m2_mine.so").  The same file is loaded
 * once; *out is shared. */
int plugin_load(const char *name_or_path, enum m2_plugin_kind kind,
                const struct plugin **out, struct m2_error *err);

/* Every m2_*.so of the search path, sorted by name, first of a name wins.
 * Loading one may fail: *err_text is then the reason.  For `m2run devices`.
 * The callback returns 0 to go on. */
int plugin_each(enum m2_plugin_kind kind,
                int (*visit)(const char *name, const char *path,
                             const struct plugin *plugin, const char *err_text,
                             void *context),
                void *context, struct m2_error *err);

/* A slot's function, or NULL when the plugin does not provide it. */
m2_slot_fn plugin_slot(const struct plugin *plugin, unsigned slot);

/* The linked-in reference backend, as if loaded. */
const struct plugin *plugin_builtin_ref(void);

/* Colon-separated list of the directories that are searched, in order; the
 * caller frees it. */
char *plugin_search_path(void);

#endif
