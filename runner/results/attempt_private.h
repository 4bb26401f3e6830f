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

void attempt_free_earlier(struct attempt *attempt);

#endif
