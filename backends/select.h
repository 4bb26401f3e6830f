/* Which backend and device a word like "cuda:1" means. */
#ifndef M2_BACKENDS_SELECT_H
#define M2_BACKENDS_SELECT_H

#include "m2_plugin.h"

struct plugin; /* plugins/loader.h */

struct device_choice {
    char backend[4096]; /* a bare name, or a file */
    int index;
};

/* "cpu", "ref", "cuda", "cuda:1", "/path/m2_x.so", "auto".  Auto takes the
 * first of cuda and cpu that has a device, and *why (at least 256 bytes) says
 * so; otherwise *why is empty.  Nothing but auto loads a plugin. */
int device_choose(const char *device, struct device_choice *out, char why[256],
                  struct m2_error *err);

/* Loads the backend of a choice. */
int device_load(const struct device_choice *choice, const struct plugin **out,
                struct m2_error *err);

#endif
