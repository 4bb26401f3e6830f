/* One pass of a proof: every run of a list is worked from nothing, in a results
 * folder of its own, by worker processes as `m2run run` starts them; some of
 * these are killed on the way, and started again.
 *
 * A kill is SIGKILL at a random moment.  It is aimed: the size that a run's
 * metrics.csv has in the end is known from an earlier pass, and a kill is due
 * when the file has reached a random part of it, plus a random delay of up to
 * two steps, so that it falls within steps, writes and checkpoints, too.  Every
 * third kill of a run is due while the worker still begins.  A kill counts only
 * when the worker died of it and the run was not yet published. */
#ifndef M2_PROVE_PASS_H
#define M2_PROVE_PASS_H

#include <stdbool.h>

#include "m2_plugin.h"

#define PASS_MAX_JOBS 16

struct pass_run {
    const char *label;    /* borrowed */
    const char *identity; /* borrowed */
    size_t index;         /* in the sweep record */
    int64_t final_bytes;  /* of metrics.csv, for aiming; 0: not known */
    double step_s;        /* seconds of a step, for aiming */
};

struct pass_request {
    const char *record; /* sweep record that workers read */
    const char *root;   /* results folder of this pass */
    const char *name;   /* experiment */
    const struct pass_run *runs;
    size_t n_runs;
    int jobs, threads; /* workers at once, at most PASS_MAX_JOBS; of each */
    size_t kills;      /* in all, dealt out to the runs in turn */
    uint64_t seed;     /* of the kills */
};

struct pass_outcome {
    char *path;     /* published directory; owned */
    char state[16]; /* done, failed, ... */
    char *reason;   /* of a state that is not done; owned */
    int64_t bytes;  /* of its metrics.csv */
    double seconds; /* from the first start to the end, kills included */
};

struct pass_result {
    struct pass_outcome *runs; /* (n_runs) */
    size_t n_runs;
    size_t kills;   /* that hit a worker whose run was not done */
    size_t midway;  /* of these, with rows written and rows to come */
    size_t resumed; /* workers that went on from a checkpoint before
                       the last step */
    double seconds;
};

/* M2_OK when every run is published, in whatever state.  M2_E_STOPPED on a
 * stop request: workers are killed.  Others: a worker could not run; the
 * message is its own.  Free *out whatever the result. */
int pass_work(const struct pass_request *request, struct pass_result *out,
              struct m2_error *err);
void pass_result_free(struct pass_result *result);

#endif
