/* What a process of its own finds out about a backend: the process that starts
 * runs loads none, for a GPU's driver does not survive it well. */
#ifndef M2_CLI_DEVICE_ASK_H
#define M2_CLI_DEVICE_ASK_H

#include "m2_plugin.h"

struct device_answer {
    char backend[64]; /* its name */
    int count;        /* of devices; 0: reason says why */
    char reason[1024];
    char why[256]; /* how `auto` was decided, else "" */
};

/* word: as `device` of an experiment file.  An error only when the question
 * could not be asked. */
int device_ask(const char *word, struct device_answer *out,
               struct m2_error *err);

#endif
