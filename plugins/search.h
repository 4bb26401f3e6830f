/* Where plugins are looked for: the part of the loader that knows directories.
 *
 * The order is the one of loader.h.  Every directory handed out is absolute.
 * An entry of M2RUN_PLUGIN_PATH that is empty or relative would mean the
 * working directory and is therefore left out. */
#ifndef M2_PLUGINS_SEARCH_H
#define M2_PLUGINS_SEARCH_H

#include "m2_plugin.h"

struct search_dirs {
    char **items; /* absolute */
    size_t n;
};

/* The directories of this moment, in order; search_dirs_free afterwards.
 * M2_E_MEMORY only. */
int search_dirs_get(struct search_dirs *out, struct m2_error *err);
void search_dirs_free(struct search_dirs *dirs);

/* The plugin's name in a file name m2_NAME.so (without directory), or NULL.
 * The caller frees it. */
char *search_name_of(const char *file_name);

/* The absolute path of m2_NAME.so in the first directory that has one, in
 * *out (the caller frees it).  Otherwise M2_E_DEVICE and a message with every
 * directory tried. */
int search_find(const char *name, char **out, struct m2_error *err);

/* The absolute path of a file named by the user, symbolic links in the
 * directory resolved, the file's own name kept. */
int search_file(const char *path, char **out, struct m2_error *err);

#endif
