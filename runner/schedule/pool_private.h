/* The inside of a pool, shared by its loop and by what becomes of a worker. */
#ifndef M2_SCHEDULE_POOL_PRIVATE_H
#define M2_SCHEDULE_POOL_PRIVATE_H

#include "results/owner.h"
#include "schedule/pool.h"
#include "schedule/progress.h"
#include "schedule/worker_process.h"

struct job {
    struct worker_process process;
    struct pool *pool;
    int slot;
    size_t task;            /* index, when process.pid is not 0 */
    bool ended;             /* an end, held or error event has come */
    int stops_passed;       /* stop requests handed on */
    double stopped_s;       /* when the last one was */
    struct text last_words; /* what it wrote to stderr beside messages */
};

struct pool {
    const struct pool_request *request;
    struct job *jobs;            /* (request->jobs) */
    struct owner_watch *watches; /* (n_tasks) of runs that others hold */
    struct progress *progress;
    char *program;
    double looked_at_s; /* when no held run could be had */
    size_t n_failures;
    bool giving_up;    /* no new workers */
    double asked_s;    /* when the first stop request was seen, 0: not yet */
    bool out_of_grace; /* workers were stopped at once because of it */
};

struct pool_task *job_task(const struct job *job);

/* A line from a worker's stdout or stderr; context is its job. */
void job_event_line(void *context, char *line);
void job_message_line(void *context, char *line);

/* The worker has ended without an event; status is that of waitpid. */
void job_silent_end(struct job *job, int status);

#endif
