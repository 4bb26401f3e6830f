/* The loop that keeps workers busy. */
#include "schedule/pool.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/attempt.h"
#include "schedule/pool_private.h"
#include "schedule/signals.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

#define HELD_RETRY_S    1.0
#define STOP_DISTANCE_S 0.05
#define KILL_AFTER_S    2.0

static size_t count_ended(const struct pool_request *request)
{
    size_t n = 0;

    for (size_t i = 0; i < request->n_tasks; i++)
        n += request->tasks[i].state == TASK_SKIPPED ||
             request->tasks[i].state == TASK_ENDED ||
             request->tasks[i].state == TASK_ERROR;
    return n;
}

static void finish_job(struct job *job)
{
    int status = 0;

    while (waitpid(job->process.pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!job->ended)
        job_silent_end(job, status);
    worker_close(&job->process);
    progress_start(job->pool->progress, job->slot, NULL);
    progress_ended(job->pool->progress, count_ended(job->pool->request));
}

/* argv of a worker; the strings live in `text`, separated by NUL. */
static int start_job(struct job *job, size_t task, struct m2_error *err)
{
    const struct pool_request *request = job->pool->request;
    char index[24], threads[16], parent[16], device[16];
    const char *argv[32];
    size_t n = 0;
    int code;

    snprintf(index, sizeof index, "%zu", task);
    snprintf(threads, sizeof threads, "%d", request->threads);
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    argv[n++] = job->pool->program;
    argv[n++] = "worker";
    argv[n++] = "--results";
    argv[n++] = request->root;
    argv[n++] = "--threads";
    argv[n++] = threads;
    argv[n++] = "--parent";
    argv[n++] = parent;
    if (request->tasks[task].n_devices > 1) { /* each job has its own */
        snprintf(device, sizeof device, "%d",
                 job->slot % request->tasks[task].n_devices);
        argv[n++] = "--device";
        argv[n++] = device;
    }
    if (request->takeover)
        argv[n++] = "--takeover";
    if (request->tasks[task].again) {
        argv[n++] = "--set-aside";
        argv[n++] = request->tasks[task].token;
    }
    if (request->tasks[task].fresh)
        argv[n++] = "--fresh";
    if (request->tasks[task].state == TASK_HELD) {
        argv[n++] = "--silent-owner";
        argv[n++] = job->pool->watches[task].token;
    }
    for (const char *const *option = request->worker_options;
         option != NULL && *option != NULL && n < 28; option++)
        argv[n++] = *option;
    argv[n++] = request->record;
    argv[n++] = index;
    argv[n] = NULL;
    job->task = task;
    job->ended = false;
    job->stops_passed = 0;
    text_clear(&job->last_words);
    code = worker_spawn(&job->process, (char *const *)(uintptr_t)argv, err);
    if (code == 0) {
        request->tasks[task].state = TASK_RUNNING;
        progress_start(job->pool->progress, job->slot,
                       request->tasks[task].label);
    }
    return code;
}

/* Can a run that somebody else held be had now?  When looking fails, a worker
 * will say why. */
static bool is_free(const struct pool *pool, size_t task)
{
    const struct pool_request *request = pool->request;
    const struct run_place place = {request->root, request->name,
                                    request->tasks[task].label,
                                    request->tasks[task].identity};
    enum claim claim;

    return attempt_look(&place, &pool->watches[task], &claim, NULL) != 0 ||
           claim == CLAIM_OWNED || claim == CLAIM_PUBLISHED;
}

/* The next run to work on: waiting ones first, then, now and then, those that
 * somebody else held. */
static bool next_task(struct pool *pool, size_t *out)
{
    const struct pool_request *request = pool->request;

    for (size_t i = 0; i < request->n_tasks; i++)
        if (request->tasks[i].state == TASK_WAITING) {
            *out = i;
            return true;
        }
    if (request->no_wait || time_monotonic() - pool->looked_at_s < HELD_RETRY_S)
        return false;
    for (size_t i = 0; i < request->n_tasks; i++)
        if (request->tasks[i].state == TASK_HELD && is_free(pool, i)) {
            *out = i;
            return true;
        }
    pool->looked_at_s = time_monotonic();
    return false;
}

static int start_jobs(struct pool *pool, struct m2_error *err)
{
    for (int i = 0; i < pool->request->jobs; i++) {
        size_t task;
        int code;

        if (pool->jobs[i].process.pid != 0)
            continue;
        if (pool->giving_up || stop_requests() > 0 || !next_task(pool, &task))
            break;
        code = start_job(&pool->jobs[i], task, err);
        if (code != 0)
            return code;
    }
    return 0;
}

static bool held_runs_left(const struct pool *pool)
{
    if (pool->request->no_wait || pool->giving_up || stop_requests() > 0)
        return false;
    for (size_t i = 0; i < pool->request->n_tasks; i++)
        if (pool->request->tasks[i].state == TASK_HELD)
            return true;
    return false;
}

static bool any_running(const struct pool *pool)
{
    for (int i = 0; i < pool->request->jobs; i++)
        if (pool->jobs[i].process.pid != 0)
            return true;
    return false;
}

static void tell_grace(struct pool *pool)
{
    struct text line = {0};

    if (pool->request->quiet || !any_running(pool))
        return;
    text_add(&line, "stopping: a step is finished and a checkpoint written");
    if (pool->request->grace_s > 0)
        text_addf(&line, ", for at most %g seconds", pool->request->grace_s);
    text_add(&line, "; a second request stops at once");
    progress_message(pool->progress, text_string(&line));
    text_free(&line);
}

/* How many requests the workers are to hear of by now. */
static int requests_now(struct pool *pool)
{
    int requests = stop_requests();
    double now = time_monotonic();

    if (requests > 0 && pool->asked_s == 0) {
        pool->asked_s = now;
        tell_grace(pool);
    }
    if (requests == 1 && pool->request->grace_s > 0 &&
        now - pool->asked_s >= pool->request->grace_s) {
        pool->out_of_grace = true;
        requests = 2;
    }
    return requests;
}

/* Two signals of one kind that wait to be delivered are one, so the second
 * request follows with a distance; and a process that was stopped hears
 * neither. */
static void pass_stop(struct job *job, int requests)
{
    double now = time_monotonic();

    if (job->stops_passed < requests &&
        (job->stops_passed == 0 || now - job->stopped_s >= STOP_DISTANCE_S)) {
        kill(job->process.pid, SIGNAL_STOP_WORKER);
        job->stops_passed++;
        job->stopped_s = now;
    } else if (job->stops_passed >= 2 && now - job->stopped_s >= KILL_AFTER_S) {
        kill(job->process.pid, SIGKILL);
        job->stopped_s = now;
    }
}

static void pass_stops(struct pool *pool)
{
    int requests = requests_now(pool);

    for (int i = 0; i < pool->request->jobs; i++)
        if (pool->jobs[i].process.pid != 0)
            pass_stop(&pool->jobs[i], requests);
}

/* After an error of the pool itself: workers keep what they have done. */
static void stop_workers(struct pool *pool)
{
    for (int i = 0; i < pool->request->jobs; i++) {
        struct job *job = &pool->jobs[i];

        if (job->process.pid != 0 && job->stops_passed == 0) {
            kill(job->process.pid, SIGNAL_STOP_WORKER);
            job->stops_passed++;
        }
    }
}

static bool job_has_pipes(const struct job *job)
{
    return job->process.events.fd >= 0 || job->process.messages.fd >= 0;
}

/* Waits for lines of any worker; a worker whose pipes are both closed has
 * ended. */
static void read_jobs(struct pool *pool)
{
    struct pollfd fds[2 * POOL_MAX_JOBS];
    int n_jobs = pool->request->jobs;

    for (int i = 0; i < n_jobs; i++) {
        const struct worker_process *process = &pool->jobs[i].process;

        fds[2 * i] = (struct pollfd){process->events.fd, POLLIN, 0};
        fds[2 * i + 1] = (struct pollfd){process->messages.fd, POLLIN, 0};
    }
    if (poll(fds, (nfds_t)(2 * n_jobs), 200) <= 0)
        return;
    for (int i = 0; i < n_jobs; i++) {
        struct job *job = &pool->jobs[i];

        if (job->process.pid == 0)
            continue;
        if (fds[2 * i + 1].revents != 0)
            line_pipe_read(&job->process.messages, job_message_line, job);
        if (fds[2 * i].revents != 0)
            line_pipe_read(&job->process.events, job_event_line, job);
        if (!job_has_pipes(job))
            finish_job(job);
    }
}

static void count_results(const struct pool_request *request,
                          struct pool_result *out)
{
    for (size_t i = 0; i < request->n_tasks; i++) {
        const struct pool_task *task = &request->tasks[i];
        bool done = strcmp(task->result, "done") == 0;

        out->n_skipped += task->state == TASK_SKIPPED;
        out->n_done +=
            (task->state == TASK_ENDED || task->state == TASK_SKIPPED) && done;
        out->n_failed +=
            (task->state == TASK_ENDED || task->state == TASK_SKIPPED) && !done;
        out->n_stopped +=
            task->state == TASK_STOPPED || task->state == TASK_WAITING;
        out->n_held += task->state == TASK_HELD;
        if (task->state == TASK_ERROR && out->n_errors++ == 0)
            out->first_error = task->code;
    }
}

static int pool_open(struct pool *pool, const struct pool_request *request,
                     struct m2_error *err)
{
    assert(request->jobs >= 1 && request->jobs <= POOL_MAX_JOBS);
    *pool = (struct pool){.request = request};
    pool->program = path_executable(err);
    pool->jobs = memory_zeroed((size_t)request->jobs, sizeof *pool->jobs, err);
    pool->watches = memory_zeroed(request->n_tasks, sizeof *pool->watches, err);
    pool->progress =
        progress_new(request->jobs, request->n_tasks, request->quiet);
    if (pool->program == NULL || pool->jobs == NULL || pool->watches == NULL)
        return M2_E_MEMORY;
    for (int i = 0; i < request->jobs; i++)
        pool->jobs[i] = (struct job){
            .process = {.events = {.fd = -1}, .messages = {.fd = -1}},
            .pool = pool,
            .slot = i,
        };
    progress_ended(pool->progress, count_ended(request));
    return 0;
}

static void pool_close(struct pool *pool)
{
    progress_free(pool->progress);
    for (int i = 0; pool->jobs != NULL && i < pool->request->jobs; i++)
        text_free(&pool->jobs[i].last_words);
    free(pool->watches);
    free(pool->jobs);
    free(pool->program);
}

static int pool_loop(struct pool *pool, struct m2_error *err)
{
    int code = 0;

    for (;;) {
        if (code == 0)
            code = start_jobs(pool, err);
        if (!any_running(pool) && (code != 0 || !held_runs_left(pool)))
            return code;
        if (code != 0)
            stop_workers(pool);
        pass_stops(pool);
        read_jobs(pool);
    }
}

int pool_run(const struct pool_request *request, struct pool_result *out,
             struct m2_error *err)
{
    struct pool pool;
    int code = pool_open(&pool, request, err);

    *out = (struct pool_result){0};
    if (code == 0)
        code = pool_loop(&pool, err);
    pool_close(&pool);
    count_results(request, out);
    return code;
}
