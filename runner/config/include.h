/* Reading an experiment file and the files that it includes. */
#ifndef M2_CONFIG_INCLUDE_H
#define M2_CONFIG_INCLUDE_H

#include "config/tree.h"

/* Reads a file ("-": standard input) with all its includes as one tree.  NULL
 * after an error, which is in `messages`, or when out of memory. */
struct node *include_read(struct tree *tree, const char *path,
                          struct messages *messages);

/* The same for a text; an include is an error in it. */
struct node *include_read_text(struct tree *tree, const char *name,
                               const void *bytes, size_t size,
                               struct messages *messages);

#endif
