/* m2run worker: one run of a record, in a process of its own (hidden). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/run_list.h"
#include "config/identity.h"
#include "data/dataset.h"
#include "reproduce/trace_file.h"
#include "schedule/events.h"
#include "schedule/signals.h"
#include "train/job.h"
#include "util/log.h"
#include "util/number.h"
#include "util/timefmt.h"

#define PROGRESS_S 0.1

struct worker {
    const char *results;
    const char *silent_owner, *set_aside;
    const char *traces;   /* file for the trace of every step, or NULL */
    const char *auto_why; /* how `auto` was decided, or NULL */
    int64_t threads, parent, cut_after, device;
    bool takeover, mixed, fresh, brief, quiet;
    struct record_run run;
    struct text base;
    struct experiment experiment;
    bool loaded;
    double told_s; /* when progress was sent last */
    int events;    /* file descriptor */
    int trace_fd;  /* of traces, -1: none */
};

static void send_progress(void *context, const struct train_progress *progress)
{
    struct worker *worker = context;
    double now = time_monotonic();
    struct event event = {
        .kind = EVENT_PROGRESS,
        .step = progress->step,
        .total = progress->total,
        .saved = progress->saved,
        .loss = progress->loss,
        .rate = progress->samples_per_s,
        .eta = progress->seconds_left,
    };

    if (worker->trace_fd >= 0 &&
        trace_file_write(worker->trace_fd, progress->step, progress->trace,
                         NULL) != 0) {
        close(worker->trace_fd); /* the comparison does without */
        worker->trace_fd = -1;
    }
    if (now - worker->told_s < PROGRESS_S && progress->step < progress->total)
        return;
    worker->told_s = now;
    event_send(worker->events, &event);
}

static bool stop_requested(void *context)
{
    (void)context;
    return stop_requests() > 0;
}

/* The frozen config of the run: the record's base and its settings. */
static int load_config(struct worker *worker, const char *record, int64_t index,
                       struct m2_error *err)
{
    struct experiment_request request = {
        .path = record,
        .lookup = &source_lookup_plugins,
    };
    struct messages messages = {0};
    struct text text = {0};
    int code = sweep_record_read(record, (size_t)index, &worker->base,
                                 &worker->run, err);

    if (code != 0)
        return code;
    request.text = text_string(&worker->base);
    request.size = worker->base.length;
    request.overrides = (const char *const *)worker->run.set.items;
    request.n_overrides = worker->run.set.count;
    code = experiment_load(&request, &worker->experiment, &messages, err);
    worker->loaded = true;
    messages_print(&messages, &text);
    if (code != 0)
        log_error("%s", text_string(&text));
    text_free(&text);
    messages_free(&messages);
    return code;
}

/* The data may have changed since the record was written. */
static int check_identity(struct worker *worker, const char *fingerprint,
                          struct m2_error *err)
{
    char identity[SHA256_HEX_SIZE];
    int code =
        resolve_identity(&worker->experiment.schema, &worker->experiment.config,
                         fingerprint, identity, err);

    if (code == 0 && strcmp(identity, worker->run.identity) != 0)
        code = m2_fail(err, M2_E_DATA,
                       "%s: the data or a file it starts from has changed "
                       "since the sweep was recorded (identity %.12s, "
                       "recorded %.12s)",
                       worker->run.label, identity, worker->run.identity);
    return code;
}

/* "device auto: cuda (...)", where this run has the device that it names. */
static const char *device_why(const struct worker *worker)
{
    static const char start[] = "device auto: ";
    const char *device = worker->experiment.config.device;
    const char *word = worker->auto_why;

    if (word == NULL || strncmp(word, start, strlen(start)) != 0)
        return NULL;
    word += strlen(start);
    return strncmp(word, device, strlen(device)) == 0 &&
                   word[strlen(device)] == ' '
               ? worker->auto_why
               : NULL;
}

static int run_job(struct worker *worker, const char *fingerprint,
                   struct job_result *result, struct m2_error *err)
{
    const struct config *config = &worker->experiment.config;
    struct text text = {0};
    json_t *settings = settings_json(&worker->experiment.schema, config);
    const struct job_request request = {
        .place = {worker->results, config->name, worker->run.label,
                  worker->run.identity},
        .config = config,
        .config_text = (config_write(&worker->experiment.schema, config, &text),
                        text_string(&text)),
        .settings = settings,
        .fingerprint = fingerprint,
        .threads =
            (int)(config->threads > 0 ? config->threads : worker->threads),
        .device_slot = (int)(worker->device + 1),
        .device_why = device_why(worker),
        .takeover = worker->takeover,
        .silent_owner = worker->silent_owner,
        .mixed = worker->mixed,
        .set_aside = worker->set_aside,
        .fresh = worker->fresh,
        .cut_after = worker->cut_after,
        .progress = send_progress,
        .stop_requested = stop_requested,
        .context = worker,
    };
    int code = job_run(&request, result, err);

    json_decref(settings);
    text_free(&text);
    return code;
}

static int work(struct worker *worker, const char *record, int64_t index,
                struct job_result *result, struct m2_error *err)
{
    struct text fingerprint = {0};
    int code = load_config(worker, record, index, err);

    if (code == 0)
        code =
            dataset_fingerprint(&worker->experiment.config, &fingerprint, err);
    if (code == 0)
        code = check_identity(worker, text_string(&fingerprint), err);
    if (code == 0 && worker->traces != NULL)
        code = trace_file_open(worker->traces, &worker->trace_fd, err);
    if (code == 0)
        code = run_job(worker, text_string(&fingerprint), result, err);
    if (worker->trace_fd >= 0)
        close(worker->trace_fd);
    text_free(&fingerprint);
    return code;
}

/* Tells the parent how it ended; the exit code says it once more. */
static int tell_end(struct worker *worker, int code,
                    const struct job_result *result, const struct m2_error *err)
{
    struct event event = {.kind = EVENT_END};

    if (code != 0) {
        event.kind = EVENT_ERROR;
        event.code = code;
        snprintf(event.reason, sizeof event.reason, "%s", err->text);
    } else if (result->end == JOB_HELD) {
        event.kind = EVENT_HELD;
    } else {
        snprintf(event.state, sizeof event.state, "%s", result->state);
        snprintf(event.reason, sizeof event.reason, "%s", result->reason);
        snprintf(event.path, sizeof event.path, "%s",
                 result->path != NULL ? result->path : "");
    }
    event_send(worker->events, &event);
    if (code != 0)
        return exit_code_of(code);
    if (result->end == JOB_HELD || result->end == JOB_STOPPED)
        return exit_code_of(M2_E_STOPPED);
    return strcmp(result->state, "done") == 0 ? 0 : 1;
}

static int worker_main(struct worker *worker, const struct arguments *arguments)
{
    struct job_result result = {0};
    struct m2_error err = {0};
    int64_t index;
    int code, exit_code;

    if (arguments->n != 2 || !number_parse_int(arguments->items[1], &index) ||
        index < 0) {
        code = m2_fail(&err, M2_E_USAGE, "worker: RECORD INDEX expected");
        return report_error(code, &err);
    }
    signals_for_worker(worker->parent);
    if (worker->brief)
        log_set_level(LOG_INFO);
    if (worker->quiet)
        log_set_level(LOG_WARNING);
    code = work(worker, arguments->items[0], index, &result, &err);
    exit_code = tell_end(worker, code, &result, &err);
    free(result.path);
    record_run_free(&worker->run);
    text_free(&worker->base);
    if (worker->loaded)
        experiment_free(&worker->experiment);
    return exit_code;
}

int command_worker(int argc, char **argv)
{
    static const struct command_help help = {
        "worker", "RECORD INDEX",
        "Works run number INDEX of a sweep record. `m2run run` starts these;\n"
        "so may any other launcher.",
        NULL};
    struct worker worker = {
        .threads = 1, .device = -1, .events = STDOUT_FILENO, .trace_fd = -1};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder", &worker.results},
        {"threads", 0, OPTION_INT, "N", "CPU threads", &worker.threads},
        {"device", 0, OPTION_INT, "N",
         "device number, where the run names none", &worker.device},
        {"auto", 0, OPTION_TEXT, "TEXT", "how device auto was decided",
         &worker.auto_why},
        {"parent", 0, OPTION_INT, "PID", "end when this process has ended",
         &worker.parent},
        {"silent-owner", 0, OPTION_TEXT, "TOKEN",
         "an unfinished run's owner that has been silent for long",
         &worker.silent_owner},
        {"takeover", 0, OPTION_FLAG, NULL,
         "do not ask whether an unfinished run's owner lives",
         &worker.takeover},
        {"mixed", 0, OPTION_FLAG, NULL, "resume under other numerics",
         &worker.mixed},
        {"set-aside", 0, OPTION_TEXT, "TOKEN",
         "move the published run with this token to .old first",
         &worker.set_aside},
        {"fresh", 0, OPTION_FLAG, NULL, "move earlier attempts to .old first",
         &worker.fresh},
        {"traces", 0, OPTION_TEXT, "FILE", "write the trace of every step",
         &worker.traces},
        {"cut-after", 0, OPTION_INT, "STEP",
         "end after this step, as if killed there", &worker.cut_after},
        {"brief", 0, OPTION_FLAG, NULL, "one of many: only how it ended",
         &worker.brief},
        {"quiet", 'q', OPTION_FLAG, NULL, "warnings and errors only",
         &worker.quiet},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && worker.results == NULL)
        code = m2_fail(&err, M2_E_USAGE, "worker: --results is needed");
    if (code == 0)
        code = worker_main(&worker, &arguments);
    else
        code = code == 1 ? 0 : report_error(code, &err);
    free(arguments.items);
    return code;
}
