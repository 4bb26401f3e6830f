/* What becomes of a worker, and of the run it works on. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "results/listing.h"
#include "schedule/crash.h"
#include "schedule/log_tail.h"
#include "schedule/pool_private.h"
#include "schedule/signals.h"
#include "util/memory.h"
#include "util/timefmt.h"

#define MAX_DEATHS     5
#define EXIT_STOPPED   75
#define TAIL_LINES     5
#define MAX_LAST_WORDS 8192

struct pool_task *job_task(const struct job *job)
{
    return &job->pool->request->tasks[job->task];
}

bool pool_task_same_reason(const struct pool_task *a, const struct pool_task *b)
{
    return a->state == TASK_ERROR && b->state == TASK_ERROR &&
           a->code == b->code && a->reason != NULL && b->reason != NULL &&
           strcmp(a->reason, b->reason) == 0;
}

static void set_text(char **place, const char *text)
{
    free(*place);
    *place = memory_string(text, NULL);
}

/* Whose line it is, where there is more than one run. */
static void add_label(const struct job *job, struct text *out)
{
    if (job->pool->request->n_tasks > 1)
        text_addf(out, "%s: ", job_task(job)->label);
}

/* "m2run: LABEL: WHAT..." */
static void tell(struct job *job, const char *what, const char *more)
{
    struct text line = {0};

    text_add(&line, "m2run: ");
    add_label(job, &line);
    text_addf(&line, "%s%s", what, more);
    progress_message(job->pool->progress, text_string(&line));
    text_free(&line);
}

/* The last lines of a run's log, but for those that say the reason again. */
static void tell_log(struct job *job)
{
    const struct pool_task *task = job_task(job);
    const char *reason = task->reason != NULL ? task->reason : "";
    struct string_list lines = {0};
    struct text line = {0};

    if (log_tail(task->path, TAIL_LINES + 1, &lines, NULL) != 0)
        lines.count = 0;
    while (lines.count > 0 && *reason != '\0' &&
           strstr(lines.items[lines.count - 1], reason) != NULL)
        free(lines.items[--lines.count]);
    for (size_t i = lines.count > TAIL_LINES ? lines.count - TAIL_LINES : 0;
         i < lines.count; i++) {
        text_clear(&line);
        text_addf(&line, "    | %s", lines.items[i]);
        progress_message(job->pool->progress, text_string(&line));
    }
    text_free(&line);
    string_list_free(&lines);
}

/* One line at once for every run that did not end as hoped; where its messages
 * were not shown, the last of them. */
static void tell_failure(struct job *job)
{
    const struct pool_task *task = job_task(job);
    const struct pool_request *request = job->pool->request;
    struct text what = {0};

    text_addf(&what, "%s: ", task->result);
    tell(job, text_string(&what),
         task->reason != NULL ? task->reason : "no reason given");
    if (request->n_tasks > 1 && !request->quiet && task->path != NULL)
        tell_log(job);
    text_free(&what);
}

/* A device that cannot be opened: those that wait for it could not run either,
 * and the reason is told once. */
static bool told_before(const struct job *job)
{
    const struct pool_request *request = job->pool->request;
    const struct pool_task *task = job_task(job);

    for (size_t i = 0; task->state == TASK_ERROR && i < request->n_tasks; i++) {
        const struct pool_task *other = &request->tasks[i];

        if (other != task && other->state == TASK_ERROR &&
            pool_task_same_reason(task, other))
            return true;
    }
    return false;
}

static void note_failure(struct job *job)
{
    struct pool *pool = job->pool;

    pool->n_failures++;
    if (!told_before(job))
        tell_failure(job);
    if (pool->request->stop_on_error ||
        policy_limit_reached(&pool->request->max_failures, pool->n_failures,
                             pool->request->n_tasks))
        pool->giving_up = true;
}

static void on_end(struct job *job, const struct event *event)
{
    struct pool_task *task = job_task(job);

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

static void set_error(struct pool_task *task, int code, const char *reason)
{
    task->state = TASK_ERROR;
    task->code = code;
    snprintf(task->result, sizeof task->result, "%s", "error");
    set_text(&task->reason, reason);
}

/* The runs that wait for a device that cannot be opened. */
static void give_up_device(const struct job *job)
{
    const struct pool_request *request = job->pool->request;
    const struct pool_task *task = job_task(job);

    for (size_t i = 0; task->device != NULL && i < request->n_tasks; i++) {
        struct pool_task *other = &request->tasks[i];

        if (other->state == TASK_WAITING && other->device != NULL &&
            strcmp(other->device, task->device) == 0)
            set_error(other, task->code, task->reason);
    }
}

static void on_error(struct job *job, const struct event *event)
{
    job->ended = true;
    set_error(job_task(job), event->code, event->reason);
    note_failure(job);
    if (event->code == M2_E_DEVICE && job_task(job)->reason != NULL)
        give_up_device(job);
}

/* A new checkpoint shows that starting the worker again leads somewhere. */
static void note_progress(struct pool_task *task, const struct event *event)
{
    task->fresh = false; /* attempts are ours from now on */
    if (event->saved > task->saved_step) {
        task->saved_step = event->saved;
        task->deaths = 0;
    }
}

void job_event_line(void *context, char *line)
{
    struct job *job = context;
    struct event event;

    event_parse(line, &event);
    switch (event.kind) {
    case EVENT_PROGRESS:
        note_progress(job_task(job), &event);
        progress_update(job->pool->progress, job->slot, &event);
        break;
    case EVENT_END:
        on_end(job, &event);
        break;
    case EVENT_HELD:
        job->ended = true;
        job_task(job)->state = TASK_HELD;
        job_task(job)->fresh = false; /* somebody has begun it again */
        job->pool->looked_at_s = time_monotonic();
        break;
    case EVENT_ERROR:
        on_error(job, &event);
        break;
    case EVENT_NONE:
        break;
    }
}

void job_message_line(void *context, char *line)
{
    struct job *job = context;
    struct text text = {0};

    if (job->last_words.length + strlen(line) < MAX_LAST_WORDS)
        text_addf(&job->last_words, "%s\n", line);
    add_label(job, &text);
    text_add(&text, line);
    progress_message(job->pool->progress, text_string(&text));
    text_free(&text);
}

/* What the run was published as: by us just now, by the worker just before it
 * crashed, or by somebody else. */
static void take_published(struct pool_task *task)
{
    struct run_entry entry;
    const char *reason;

    if (run_entry_load(task->path, &entry, NULL) != 0)
        return;
    reason = json_string_value(run_value(&entry, NULL, "reason"));
    snprintf(task->result, sizeof task->result, "%s", entry.state);
    set_text(&task->reason, reason != NULL ? reason : "");
    run_entry_free(&entry);
}

static void publish_crash(struct job *job, const char *reason)
{
    const struct pool_request *request = job->pool->request;
    struct pool_task *task = job_task(job);
    struct run_place place = {request->root, request->name, task->label,
                              task->identity};
    const struct crash crash = {reason, text_string(&job->last_words)};
    struct m2_error err;
    int code;

    set_text(&task->reason, reason);
    snprintf(task->result, sizeof task->result, "%s", "failed");
    task->state = TASK_ENDED;
    free(task->path);
    task->path = NULL;
    code = crash_publish(&place, &crash, &task->path, &err);
    if (code != 0) {
        tell(job, "warning: cannot publish the failed run: ", err.text);
    } else if (task->path == NULL) {
        tell(job, "warning: somebody else goes on with it: ", reason);
        task->state = TASK_HELD;
        return;
    } else {
        take_published(task);
    }
    if (strcmp(task->result, "done") != 0)
        note_failure(job);
}

/* A worker that ends by itself always says why, unless it could not begin. */
static void note_silent_exit(struct job *job, int status)
{
    struct pool_task *task = job_task(job);
    char reason[80];

    snprintf(reason, sizeof reason,
             "the worker ended with exit code %d without a word", status);
    task->state = TASK_ERROR;
    task->code = status >= -M2_E_USAGE && status <= -M2_E_DIFFERS
                     ? -status
                     : M2_E_INTERNAL;
    snprintf(task->result, sizeof task->result, "%s", "error");
    set_text(&task->reason, reason);
    note_failure(job);
}

static bool is_crash(int signal)
{
    return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS ||
           signal == SIGILL || signal == SIGFPE;
}

/* Killed from outside (SIGKILL, a lack of memory): tried again, unless that
 * leads nowhere. */
static void note_killed(struct job *job, int signal)
{
    struct pool_task *task = job_task(job);
    char reason[160];

    if (is_crash(signal)) {
        snprintf(reason, sizeof reason,
                 "the worker was killed by signal %d (%s)", signal,
                 strsignal(signal));
        publish_crash(job, reason);
    } else if (++task->deaths >= MAX_DEATHS) {
        snprintf(reason, sizeof reason,
                 "%d workers died without a new checkpoint, the last one by "
                 "signal %d (%s)",
                 MAX_DEATHS, signal, strsignal(signal));
        publish_crash(job, reason);
    } else {
        snprintf(reason, sizeof reason,
                 "the worker was killed by signal %d (%s); starting it again",
                 signal, strsignal(signal));
        tell(job, "warning: ", reason);
        task->state = TASK_WAITING;
    }
}

/* Without a word of its own: it was stopped at once. */
static void note_stopped(struct job *job)
{
    struct pool_task *task = job_task(job);
    struct text reason = {0};

    task->state = TASK_STOPPED;
    snprintf(task->result, sizeof task->result, "%s", "stopped");
    text_addf(&reason, "stopped at once%s; ",
              job->pool->out_of_grace ? ", for the grace time is over" : "");
    if (task->saved_step > 0)
        text_addf(&reason, "the last checkpoint is of step %" PRId64,
                  task->saved_step);
    else
        text_add(&reason, "there is no new checkpoint");
    set_text(&task->reason, text_string(&reason));
    tell(job, text_string(&reason), "");
    text_free(&reason);
}

void job_silent_end(struct job *job, int status)
{
    if (WIFSIGNALED(status) && is_crash(WTERMSIG(status))) {
        note_killed(job, WTERMSIG(status));
    } else if (stop_requests() > 0 ||
               (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STOPPED)) {
        note_stopped(job);
    } else if (WIFSIGNALED(status)) {
        note_killed(job, WTERMSIG(status));
    } else {
        note_silent_exit(job, WEXITSTATUS(status));
    }
}
