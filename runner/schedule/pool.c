/* The loop that keeps workers busy and takes note of what became of them. */
#include "schedule/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schedule/crash.h"
#include "schedule/progress.h"
#include "schedule/signals.h"
#include "schedule/worker_process.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

#define MAX_DEATHS   5
#define HELD_RETRY_S 1.0
#define EXIT_STOPPED 75

struct job {
    struct worker_process process;
    struct pool *pool;
    int slot;
    size_t task;      /* index, when process.pid is not 0 */
    bool ended;       /* an end, held or error event has come */
    int stops_passed; /* stop requests handed on */
};

struct pool {
    const struct pool_request *request;
    struct pool_result *result;
    struct job *jobs;
    struct progress *progress;
    char *program;
    double held_at_s; /* when a held run was seen last */
    size_t n_failures;
    bool giving_up; /* no new workers */
};

static struct pool_task *task_of(const struct job *job)
{
    return &job->pool->request->tasks[job->task];
}

static void set_text(char **place, const char *text)
{
    free(*place);
    *place = memory_string(text, NULL);
}

/* One line at once for every run that did not end as hoped. */
static void tell_failure(struct job *job)
{
    const struct pool_task *task = task_of(job);
    struct text line = {0};

    text_addf(&line, "m2run: %s: %s: %s", task->label, task->result,
              task->reason != NULL ? task->reason : "no reason given");
    progress_message(job->pool->progress, text_string(&line));
    text_free(&line);
}

static void note_failure(struct job *job)
{
    struct pool *pool = job->pool;

    pool->n_failures++;
    tell_failure(job);
    if (pool->request->stop_on_error ||
        (pool->request->max_failures > 0 &&
         (int64_t)pool->n_failures >= pool->request->max_failures))
        pool->giving_up = true;
}

static void on_end(struct job *job, const struct event *event)
{
    struct pool_task *task = task_of(job);

    job->ended = true;
    snprintf(task->result, sizeof task->result, "%s", event->state);
    set_text(&task->path, event->path);
    set_text(&task->reason, event->reason);
    if (strcmp(event->state, "stopped") == 0) {
        task->state = TASK_STOPPED;
        return;
    }
    task->state = TASK_ENDED;
    if (strcmp(event->state, "done") != 0)
        note_failure(job);
}

static void on_error(struct job *job, const struct event *event)
{
    struct pool_task *task = task_of(job);

    job->ended = true;
    task->state = TASK_ERROR;
    task->code = event->code;
    snprintf(task->result, sizeof task->result, "%s", "error");
    set_text(&task->reason, event->reason);
    note_failure(job);
}

static void on_event_line(void *context, char *line)
{
    struct job *job = context;
    struct event event;

    event_parse(line, &event);
    switch (event.kind) {
    case EVENT_PROGRESS:
        if (event.step > task_of(job)->last_step)
            task_of(job)->deaths = 0;
        task_of(job)->last_step = event.step;
        progress_update(job->pool->progress, job->slot, &event);
        break;
    case EVENT_END:
        on_end(job, &event);
        break;
    case EVENT_HELD:
        job->ended = true;
        task_of(job)->state = TASK_HELD;
        job->pool->held_at_s = time_monotonic();
        break;
    case EVENT_ERROR:
        on_error(job, &event);
        break;
    case EVENT_NONE:
        break;
    }
}

static void on_message_line(void *context, char *line)
{
    struct job *job = context;
    struct text text = {0};

    if (job->pool->request->jobs > 1)
        text_addf(&text, "%s: ", task_of(job)->label);
    text_add(&text, line);
    progress_message(job->pool->progress, text_string(&text));
    text_free(&text);
}

static void publish_crash(struct job *job, int number)
{
    const struct pool_request *request = job->pool->request;
    struct pool_task *task = task_of(job);
    struct run_place place = {request->root, request->name, task->label,
                              task->identity};
    struct text reason = {0};
    struct m2_error err;

    text_addf(&reason, "the worker was killed by signal %d (%s)", number,
              strsignal(number));
    set_text(&task->reason, text_string(&reason));
    snprintf(task->result, sizeof task->result, "%s", "failed");
    task->state = TASK_ENDED;
    free(task->path);
    task->path = NULL;
    if (crash_publish(&place, text_string(&reason), &task->path, &err) != 0)
        log_warning("%s: cannot publish the failed run: %s", task->label,
                    err.text);
    text_free(&reason);
    note_failure(job);
}

/* A worker that ended without an event: a crash is published, a stop is a
 * stop, anything else (SIGKILL, a lost node) is tried again. */
static void on_silent_end(struct job *job, int status)
{
    struct pool_task *task = task_of(job);
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (number == SIGSEGV || number == SIGABRT || number == SIGBUS ||
        number == SIGILL || number == SIGFPE) {
        publish_crash(job, number);
    } else if (stop_requests() > 0 ||
               (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STOPPED)) {
        task->state = TASK_STOPPED;
        snprintf(task->result, sizeof task->result, "%s", "stopped");
    } else if (++task->deaths >= MAX_DEATHS) {
        publish_crash(job, number != 0 ? number : SIGKILL);
    } else {
        log_warning("%s: the worker died (%s %d); starting it again",
                    task->label, number != 0 ? "signal" : "exit code",
                    number != 0 ? number : WEXITSTATUS(status));
        task->state = TASK_WAITING;
    }
}

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
        on_silent_end(job, status);
    worker_close(&job->process);
    progress_start(job->pool->progress, job->slot, NULL);
    progress_ended(job->pool->progress, count_ended(job->pool->request));
}

/* argv of a worker; the strings live in `text`, separated by NUL. */
static int start_job(struct job *job, size_t task, struct m2_error *err)
{
    const struct pool_request *request = job->pool->request;
    char index[24], threads[16];
    const char *argv[32];
    size_t n = 0;
    int code;

    snprintf(index, sizeof index, "%zu", task);
    snprintf(threads, sizeof threads, "%d", request->threads);
    argv[n++] = job->pool->program;
    argv[n++] = "worker";
    argv[n++] = "--results";
    argv[n++] = request->root;
    argv[n++] = "--threads";
    argv[n++] = threads;
    if (request->takeover)
        argv[n++] = "--takeover";
    for (const char *const *option = request->worker_options;
         option != NULL && *option != NULL && n < 28; option++)
        argv[n++] = *option;
    argv[n++] = request->record;
    argv[n++] = index;
    argv[n] = NULL;
    job->task = task;
    job->ended = false;
    job->stops_passed = 0;
    code = worker_spawn(&job->process, (char *const *)(uintptr_t)argv, err);
    if (code == 0) {
        request->tasks[task].state = TASK_RUNNING;
        progress_start(job->pool->progress, job->slot,
                       request->tasks[task].label);
    }
    return code;
}

/* The next run to work on: waiting ones first, then, now and then, those that
 * somebody else held. */
static bool next_task(const struct pool *pool, size_t *out)
{
    const struct pool_request *request = pool->request;

    for (size_t i = 0; i < request->n_tasks; i++)
        if (request->tasks[i].state == TASK_WAITING) {
            *out = i;
            return true;
        }
    if (request->no_wait || time_monotonic() - pool->held_at_s < HELD_RETRY_S)
        return false;
    for (size_t i = 0; i < request->n_tasks; i++)
        if (request->tasks[i].state == TASK_HELD) {
            *out = i;
            return true;
        }
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

static void pass_stops(struct pool *pool)
{
    for (int i = 0; i < pool->request->jobs; i++) {
        struct job *job = &pool->jobs[i];

        while (job->process.pid != 0 && job->stops_passed < stop_requests()) {
            kill(job->process.pid, SIGTERM);
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
    struct pollfd fds[2 * 64];
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
            line_pipe_read(&job->process.messages, on_message_line, job);
        if (fds[2 * i].revents != 0)
            line_pipe_read(&job->process.events, on_event_line, job);
        if (!job_has_pipes(job))
            finish_job(job);
    }
}

static bool any_running(const struct pool *pool)
{
    for (int i = 0; i < pool->request->jobs; i++)
        if (pool->jobs[i].process.pid != 0)
            return true;
    return false;
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

int pool_run(const struct pool_request *request, struct pool_result *out,
             struct m2_error *err)
{
    struct pool pool = {.request = request, .result = out};
    int code = 0;

    *out = (struct pool_result){0};
    pool.program = path_executable(err);
    pool.jobs = memory_zeroed((size_t)request->jobs, sizeof *pool.jobs, err);
    pool.progress =
        progress_new(request->jobs, request->n_tasks, request->quiet);
    if (pool.program == NULL || pool.jobs == NULL)
        code = M2_E_MEMORY;
    for (int i = 0; code == 0 && i < request->jobs; i++)
        pool.jobs[i] = (struct job){
            .process = {.events = {.fd = -1}, .messages = {.fd = -1}},
            .pool = &pool,
            .slot = i,
        };
    progress_ended(pool.progress, count_ended(request));
    while (code == 0) {
        code = start_jobs(&pool, err);
        if (code == 0 && !any_running(&pool) && !held_runs_left(&pool))
            break;
        pass_stops(&pool);
        read_jobs(&pool);
    }
    progress_free(pool.progress);
    count_results(request, out);
    free(pool.jobs);
    free(pool.program);
    return code;
}
