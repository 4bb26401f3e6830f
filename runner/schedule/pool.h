/* Working a list of runs with worker processes.
 *
 * One run is one process: `m2run worker RECORD INDEX`, started with
 * posix_spawn, never fork alone.  A worker tells its parent what happens in
 * lines on its stdout (events.h) and writes messages to its stderr; both are
 * pipes.  A crash, a NaN or a lack of memory costs that run alone.
 *
 * Workers ignore SIGINT and SIGHUP: the parent decides, and asks them to stop
 * (signals.h; the first time: finish the step, checkpoint, exit 75; the second
 * time, or after the grace time: at once).  One that does not end even then,
 * because it was stopped (SIGSTOP) or waits for a disk, is killed.  Workers
 * that lose their parent stop as on the first request.  A worker that crashes
 * (SIGSEGV, SIGABRT, ...) has failed; one that is killed otherwise is started
 * again, unless five in a row end without a new checkpoint. */
#ifndef M2_SCHEDULE_POOL_H
#define M2_SCHEDULE_POOL_H

#include <stdbool.h>

#include "results/owner.h"
#include "schedule/policy.h"

#define POOL_MAX_JOBS 64

/* Seconds to finish a step and write a checkpoint: a batch system that kills
 * 30 seconds after SIGTERM comes too late. */
#define POOL_GRACE_S 25

enum task_state {
    TASK_WAITING,
    TASK_RUNNING,
    TASK_HELD,    /* claimed elsewhere: tried again later */
    TASK_SKIPPED, /* published before this invocation */
    TASK_ENDED,   /* published by this invocation */
    TASK_STOPPED, /* stopped on request; resumable */
    TASK_ERROR,   /* could not run: reason and code say why */
};

struct pool_task {
    const char *label;    /* borrowed */
    const char *identity; /* borrowed, 64 hex digits */
    const char *device;   /* as the experiment names it, borrowed; NULL: not
                             known */
    int n_devices;        /* accelerators to choose from, 0: not on one */
    enum task_state state;
    char result[16];    /* "done", "failed", "diverged", "oom", ... */
    int code;           /* enum m2_code of an error */
    int deaths;         /* workers killed since the last checkpoint */
    int64_t saved_step; /* of the last checkpoint that was heard of */
    bool again;         /* what is published under `token` is set aside */
    bool fresh;         /* so are the attempts there are */
    char token[OWNER_TOKEN_LENGTH + 1];
    char *reason; /* owned */
    char *path;   /* directory of the published run; owned */
};

/* Whether two runs could not run for one reason. */
bool pool_task_same_reason(const struct pool_task *a,
                           const struct pool_task *b);

struct pool_request {
    const char *record; /* sweep record that workers read */
    const char *root, *name;
    struct pool_task *tasks;
    size_t n_tasks;
    int jobs;           /* workers at once, 1 .. POOL_MAX_JOBS */
    int threads;        /* per worker */
    bool stop_on_error; /* --on-error stop */
    struct failure_limit max_failures;
    double grace_s; /* from the first stop request to the second; 0: no
                       limit */
    bool no_wait;   /* do not wait for runs claimed elsewhere */
    bool takeover;
    bool quiet;
    const char *const *worker_options; /* extra arguments, NULL-terminated */
};

struct pool_result {
    size_t n_done, n_failed, n_stopped, n_skipped, n_held, n_errors;
    int first_error; /* enum m2_code of the first TASK_ERROR, 0: none */
};

/* Works the list until it is done or stopped.  Returns M2_OK when the pool
 * itself worked; what became of the runs is in the tasks and the result. */
int pool_run(const struct pool_request *request, struct pool_result *out,
             struct m2_error *err);

/* Cores this process may use: affinity and cgroup quota, at least 1. */
int cores_allowed(void);

#endif
