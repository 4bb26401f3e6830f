/* Workers that are started, killed and started again until a list is done. */
#include "prove/pass.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "prove/aim.h"
#include "results/listing.h"
#include "results/store.h"
#include "schedule/events.h"
#include "schedule/signals.h"
#include "schedule/worker_process.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

/* A run can be held only by a worker of ours that has just been killed. */
#define MAX_HELD 100

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_ENDED };

/* A run and the worker on it. */
struct job {
    struct pass *pass;
    size_t at; /* index of the run */
    enum job_state state;
    struct worker_process process;
    bool told, held, killed;
    struct event event; /* the last one that ends a worker */
    int n_held;
    double started_s;
    struct aim aim;
};

struct pass {
    const struct pass_request *request;
    struct pass_result *result;
    struct job *jobs; /* (n_runs) */
    char *program;
};

void pass_result_free(struct pass_result *result)
{
    for (size_t i = 0; i < result->n_runs; i++) {
        free(result->runs[i].path);
        free(result->runs[i].reason);
    }
    free(result->runs);
    *result = (struct pass_result){0};
}

static struct run_place place_of(const struct job *job)
{
    const struct pass_request *request = job->pass->request;
    const struct pass_run *run = &request->runs[job->at];

    return (struct run_place){request->root, request->name, run->label,
                              run->identity};
}

/* ---- starting ------------------------------------------------------------ */

static int start(struct job *job, struct m2_error *err)
{
    const struct pass_request *request = job->pass->request;
    char index[24], threads[16], parent[24];
    const char *const argv[] = {job->pass->program, "worker",    "--results",
                                request->root,      "--threads", threads,
                                "--parent",         parent,      "--quiet",
                                request->record,    index,       NULL};
    const struct run_place place = place_of(job);
    int code;

    snprintf(index, sizeof index, "%zu", request->runs[job->at].index);
    snprintf(threads, sizeof threads, "%d", request->threads);
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    job->told = job->held = job->killed = false;
    aim_begin(&job->aim, &place);
    code = worker_spawn(&job->process, (char *const *)(uintptr_t)argv, err);
    if (code != 0)
        return code;
    job->state = JOB_RUNNING;
    if (job->started_s == 0)
        job->started_s = time_monotonic();
    return 0;
}

static size_t count_in(const struct pass *pass, enum job_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < pass->request->n_runs; i++)
        n += pass->jobs[i].state == state;
    return n;
}

static int start_waiting(struct pass *pass, struct m2_error *err)
{
    size_t running = count_in(pass, JOB_RUNNING);
    int code = 0;

    for (size_t i = 0; code == 0 && i < pass->request->n_runs &&
                       running < (size_t)pass->request->jobs;
         i++)
        if (pass->jobs[i].state == JOB_WAITING) {
            code = start(&pass->jobs[i], err);
            running++;
        }
    return code;
}

/* ---- ends ---------------------------------------------------------------- */

/* Attempts that began from a checkpoint with steps left to do. */
static size_t count_resumed(const char *dir)
{
    struct run_entry entry;
    json_int_t last;
    size_t n = 0, i;
    json_t *attempt;

    if (run_entry_load(dir, &entry, NULL) != 0)
        return 0;
    last = json_integer_value(run_value(&entry, NULL, "step"));
    json_array_foreach (run_value(&entry, NULL, "attempts"), i, attempt) {
        json_int_t from =
            json_integer_value(json_object_get(attempt, "from_step"));

        n += from > 0 && from < last;
    }
    run_entry_free(&entry);
    return n;
}

static int take_end(struct job *job, struct m2_error *err)
{
    struct pass_outcome *outcome = &job->pass->result->runs[job->at];
    char *metrics = path_join(job->event.path, "metrics.csv", err);
    struct file_facts facts = {0};

    free(outcome->path);
    outcome->path = memory_string(job->event.path, err);
    outcome->reason = memory_string(job->event.reason, err);
    snprintf(outcome->state, sizeof outcome->state, "%s", job->event.state);
    if (metrics != NULL)
        file_get_facts(metrics, M2_E_RESULTS, &facts, NULL);
    free(metrics);
    outcome->bytes = facts.size;
    job->pass->result->resumed += count_resumed(job->event.path);
    outcome->seconds = time_monotonic() - job->started_s;
    job->state = JOB_ENDED;
    return outcome->path == NULL || outcome->reason == NULL || metrics == NULL
               ? M2_E_MEMORY
               : 0;
}

/* A worker that was killed leaves its run as it is: only what is not published
 * has been hit. */
static int take_kill(struct job *job, struct m2_error *err)
{
    const struct run_place place = place_of(job);
    char *published = NULL;
    int code = store_find_published(&place, &published, err);

    if (code == 0 && published == NULL) {
        job->pass->result->kills++;
        job->pass->result->midway += aim_hit(&job->aim, &place);
    }
    free(published);
    job->state = JOB_WAITING; /* if only to hear how it ended */
    return code;
}

static int reap(struct job *job, struct m2_error *err)
{
    const struct pass_run *run = &job->pass->request->runs[job->at];
    bool told = job->told;
    int status = 0;

    while (waitpid(job->process.pid, &status, 0) < 0 && errno == EINTR)
        ;
    worker_close(&job->process);
    if (told && job->event.kind == EVENT_ERROR)
        return m2_fail(err, job->event.code, "%s: %s", run->label,
                       job->event.reason);
    if (told && strcmp(job->event.state, "stopped") == 0)
        return m2_fail(err, M2_E_STOPPED, "%s", job->event.reason);
    if (told)
        return take_end(job, err);
    if (job->killed)
        return take_kill(job, err);
    job->state = JOB_WAITING;
    if (job->held && ++job->n_held < MAX_HELD)
        return 0;
    if (WIFSIGNALED(status))
        return m2_fail(err, M2_E_FAILED,
                       "%s: the worker was ended by signal %d (%s), which was "
                       "not ours",
                       run->label, WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    return m2_fail(err, M2_E_FAILED, "%s: the worker ended without a word",
                   run->label);
}

/* ---- listening, killing -------------------------------------------------- */

static void take_event(void *context, char *line)
{
    struct job *job = context;
    struct event event;

    event_parse(line, &event);
    if (event.kind == EVENT_END || event.kind == EVENT_ERROR) {
        job->event = event;
        job->told = true;
    } else if (event.kind == EVENT_HELD) {
        job->held = true;
    }
}

static void ignore_line(void *context, char *line)
{
    (void)context;
    (void)line;
}

/* Reads what has come within a millisecond, of every worker. */
static void listen_to_all(struct pass *pass)
{
    struct pollfd polls[2 * PASS_MAX_JOBS];
    struct line_pipe *pipes[2 * PASS_MAX_JOBS];
    struct job *jobs[2 * PASS_MAX_JOBS];
    nfds_t n = 0;

    for (size_t i = 0; i < pass->request->n_runs; i++) {
        struct job *job = &pass->jobs[i];
        struct line_pipe *both[2] = {&job->process.events,
                                     &job->process.messages};

        for (int k = 0; job->state == JOB_RUNNING && k < 2; k++)
            if (both[k]->fd >= 0) {
                assert(n < 2 * PASS_MAX_JOBS);
                polls[n] = (struct pollfd){both[k]->fd, POLLIN, 0};
                pipes[n] = both[k];
                jobs[n++] = job;
            }
    }
    if (poll(polls, n, 1) <= 0)
        return;
    for (nfds_t i = 0; i < n; i++)
        if (polls[i].revents != 0)
            line_pipe_read(pipes[i],
                           pipes[i] == &jobs[i]->process.events ? take_event
                                                                : ignore_line,
                           jobs[i]);
}

static void kill_worker(struct job *job)
{
    if (kill(job->process.pid, SIGKILL) == 0)
        job->killed = true;
}

static int go_on(struct pass *pass, struct m2_error *err)
{
    int code = start_waiting(pass, err);

    if (code != 0)
        return code;
    listen_to_all(pass);
    for (size_t i = 0; code == 0 && i < pass->request->n_runs; i++) {
        struct job *job = &pass->jobs[i];
        const struct run_place place = place_of(job);

        if (job->state != JOB_RUNNING)
            continue;
        if (job->process.events.fd < 0 && job->process.messages.fd < 0)
            code = reap(job, err);
        else if (!job->killed && !job->told && aim_is_due(&job->aim, &place))
            kill_worker(job);
    }
    if (code == 0 && stop_requests() > 0)
        code = m2_fail(err, M2_E_STOPPED, "stopped on request");
    return code;
}

/* ---- the pass ------------------------------------------------------------ */

static void end_workers(struct pass *pass)
{
    for (size_t i = 0; pass->jobs != NULL && i < pass->request->n_runs; i++) {
        struct job *job = &pass->jobs[i];

        if (job->state != JOB_RUNNING || job->process.pid == 0)
            continue;
        kill_worker(job);
        while (waitpid(job->process.pid, NULL, 0) < 0 && errno == EINTR)
            ;
        worker_close(&job->process);
    }
}

static void prepare_jobs(struct pass *pass)
{
    const struct pass_request *request = pass->request;
    size_t n = request->n_runs;

    for (size_t i = 0; i < n; i++) {
        const struct pass_run *run = &request->runs[i];
        struct aim_request aim = {
            .stream = random_stream(request->seed, run->identity),
            .final_bytes = run->final_bytes,
            .step_s = run->step_s,
            .kills = request->kills / n + (i < request->kills % n),
        };

        pass->jobs[i].pass = pass;
        pass->jobs[i].at = i;
        aim_prepare(&pass->jobs[i].aim, &aim);
    }
}

int pass_work(const struct pass_request *request, struct pass_result *out,
              struct m2_error *err)
{
    struct pass pass = {.request = request, .result = out};
    double began_s = time_monotonic();
    int code = 0;

    *out = (struct pass_result){
        .runs = memory_zeroed(request->n_runs, sizeof *out->runs, err),
        .n_runs = request->n_runs,
    };
    pass.jobs = memory_zeroed(request->n_runs, sizeof *pass.jobs, err);
    pass.program = path_executable(err);
    if (out->runs == NULL)
        out->n_runs = 0;
    if (out->runs == NULL || pass.jobs == NULL || pass.program == NULL)
        code = M2_E_MEMORY;
    else
        prepare_jobs(&pass);
    while (code == 0 && count_in(&pass, JOB_ENDED) < request->n_runs)
        code = go_on(&pass, err);
    if (code != 0)
        end_workers(&pass);
    out->seconds = time_monotonic() - began_s;
    free(pass.program);
    free(pass.jobs);
    return code;
}
