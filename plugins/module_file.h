/* Opening a module: from a file to a descriptor that passed the handshake. */
#ifndef M2_PLUGINS_MODULE_FILE_H
#define M2_PLUGINS_MODULE_FILE_H

#include "m2_plugin.h"

/* Loads the file at an absolute path and returns its descriptor, of either
 * kind.  Nothing is ever unloaded.  name is NAME of m2_NAME.so. */
int module_open(const char *path, const char *name, const struct m2_host *host,
                const struct m2_plugin **out, struct m2_error *err);

#endif
