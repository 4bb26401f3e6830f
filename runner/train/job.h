/* One run from claim to publication: what a worker process does. */
#ifndef M2_TRAIN_JOB_H
#define M2_TRAIN_JOB_H

#include <jansson.h>

#include "config/config.h"
#include "results/store.h"
#include "train/trainer.h"

struct job_request {
    struct run_place place;
    const struct config *config;
    const char *config_text; /* canonical: config.yaml of the run */
    const json_t *settings;  /* {key: text} of the same, for run.json */
    const char *fingerprint; /* of the data, as in the identity */
    int threads;
    bool takeover;
    int device_slot;          /* of struct session_request */
    const char *device_why;   /* how `auto` was decided, or NULL */
    const char *silent_owner; /* of struct claim_request */
    bool mixed;               /* resume under other numerics */
    const char *set_aside;    /* token of a published folder that is moved to
                                 .old first, or NULL */
    bool fresh;               /* so are earlier attempts */
    int64_t cut_after;        /* of struct trainer_request */
    void (*progress)(void *context, const struct train_progress *progress);
    bool (*stop_requested)(void *context);
    void *context;
};

enum job_end {
    JOB_PUBLISHED, /* now or before: state and path say what */
    JOB_HELD,      /* another process works on it, or has superseded us */
    JOB_STOPPED,   /* on request, checkpoint written */
};

struct job_result {
    enum job_end end;
    char state[16];    /* done, diverged, oom, failed; stopped */
    char reason[2040]; /* of a state that is not done */
    char *path;        /* published folder (owned), or NULL */
};

/* A code that is not M2_OK means that nothing was published: the data or the
 * device cannot be used, or the results folder cannot be written.  An attempt
 * without a checkpoint is then removed: the reason is in err. */
int job_run(const struct job_request *request, struct job_result *out,
            struct m2_error *err);

#endif
