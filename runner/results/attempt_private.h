/* The inside of an attempt, shared by claiming and publishing only. */
#ifndef M2_RESULTS_ATTEMPT_PRIVATE_H
#define M2_RESULTS_ATTEMPT_PRIVATE_H

#include "results/attempt.h"

struct attempt {
    struct run_place place; /* strings owned below */
    char *root, *name, *identity;
    char *label;
    char *active; /* .active/<hash12> */
    char *path;   /* .active/<hash12>/NNNN */
    int number;
    int dirfd;
    int owner_fd;
    struct owner owner;
    double last_beat_s;
    char **earlier; /* newest first, NULL-terminated */
};

/* Name of an attempt's folder. */
#define ATTEMPT_FORMAT "%04d"

/* Is what lies at attempt->path the folder that we have open?  After all were
 * removed another process may have begun with the same number. */
bool attempt_has_its_path(const struct attempt *attempt);

#endif
