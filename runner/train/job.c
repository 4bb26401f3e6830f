/* One run: claim, train, score, publish. */
#include "train/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/aside.h"
#include "results/attempt.h"
#include "results/listing.h"
#include "train/fact_sheet.h"
#include "train/record.h"
#include "train/resume.h"
#include "train/scores.h"
#include "train/tell.h"
#include "util/file.h"
#include "util/log.h"
#include "util/timefmt.h"

struct job {
    const struct job_request *request;
    struct job_result *result;
    struct attempt *attempt;
    struct session session;
    bool session_open;
    struct evaluator *evaluator;
    struct resume_point resume;
    struct train_outcome outcome;
    struct score best, test;
    json_t *sheet; /* facts of this process, as far as they are known */
    char started[TIME_TEXT_SIZE];
};

/* ---- callbacks of the loop --------------------------------------------- */

static int after_step(void *context, const struct train_progress *progress,
                      struct m2_error *err)
{
    struct job *job = context;

    if (job->request->progress != NULL)
        job->request->progress(job->request->context, progress);
    return attempt_heartbeat(job->attempt, err);
}

static bool stop_requested(void *context)
{
    const struct job *job = context;

    return job->request->stop_requested != NULL &&
           job->request->stop_requested(job->request->context);
}

/* Only the checkpoint that the run goes on from is needed, and that one until
 * there is a newer one. */
static bool make_room(void *context, bool saved)
{
    const struct job *job = context;

    if (!saved && !job->resume.found)
        return false;
    return attempt_prune(job->attempt, saved ? NULL : job->resume.dir);
}

/* ---- files of the attempt ---------------------------------------------- */

static int write_file(const struct job *job, const char *name, const char *text,
                      size_t size, struct m2_error *err)
{
    const struct file_at file = attempt_file(job->attempt, name);

    return file_write_at(&file, text, size, M2_E_RESULTS, err);
}

/* log.txt begins with what the earlier attempts said: the newest that had come
 * so far holds the words of those before it. */
static int open_log(const struct job *job, struct m2_error *err)
{
    const struct file_at file = attempt_file(job->attempt, "log.txt");
    int code = 0;

    for (char *const *dir = attempt_earlier(job->attempt);
         code == 0 && *dir != NULL && !file_exists_at(&file); dir++)
        code = attempt_copy_file(job->attempt, *dir, "log.txt", err);
    return code != 0 ? code : log_open_at(&file, err);
}

static int begin_files(const struct job *job, struct m2_error *err)
{
    const struct file_at checkpoints =
        attempt_file(job->attempt, "checkpoints");
    const char *config = job->request->config_text;
    int code = open_log(job, err); /* before anything else can fail */

    if (code == 0)
        code = file_make_dir_at(&checkpoints, M2_E_RESULTS, err);
    if (code == 0)
        code = write_file(job, "config.yaml", config, strlen(config), err);
    return code;
}

static int write_record(struct job *job, const char *state, const char *reason,
                        struct m2_error *err)
{
    const struct record_facts facts = {
        .name = job->request->place.name,
        .identity = job->request->place.identity,
        .state = state,
        .reason = reason,
        .attempt = job->attempt,
        .earlier_attempts = job->resume.attempts,
        .started =
            job->resume.started != NULL ? job->resume.started : job->started,
        .from_step = job->resume.found ? job->resume.resume.state.step : 0,
        .from_attempt = job->resume.found ? job->resume.attempt : 0,
        .threads = job->request->threads,
        .sheet = job->sheet,
        .session = job->session_open ? &job->session : NULL,
        .config = job->request->config,
        .settings = job->request->settings,
        .fingerprint = job->request->fingerprint,
        .outcome = job->outcome.total_steps > 0 ? &job->outcome : NULL,
        .evaluator = job->evaluator,
        .best = &job->best,
        .test = &job->test,
    };
    json_t *record = record_make(&facts);
    int code = record == NULL
                   ? m2_fail(err, M2_E_MEMORY, "run.json: out of memory")
                   : attempt_write_record(job->attempt, record, err);

    json_decref(record);
    return code;
}

/* ---- what comes after the loop ------------------------------------------- */

/* The test part is scored once, on the best checkpoint. */
static int score_test(struct job *job, struct m2_error *err)
{
    bool has_best = job->request->config->checkpoint.keep_best > 0 &&
                    job->outcome.state.best_step > 0;
    const struct test_request request = {
        .session = &job->session,
        .evaluator = job->evaluator,
        .dir = attempt_path(job->attempt),
        .name = has_best ? "best" : "last",
        .identity = job->request->place.identity,
    };

    return scores_test(&request, &job->test, err);
}

/* What another attempt has published, now or before; takes the path. */
static int take_published(struct job *job, char *path, struct m2_error *err)
{
    struct run_entry entry;
    const char *reason;
    int code = run_entry_load(path, &entry, err);

    job->result->path = path;
    job->result->end = JOB_PUBLISHED;
    if (code != 0)
        return code;
    reason = json_string_value(run_value(&entry, NULL, "reason"));
    snprintf(job->result->state, sizeof job->result->state, "%s", entry.state);
    snprintf(job->result->reason, sizeof job->result->reason, "%s",
             reason != NULL ? reason : "");
    run_entry_free(&entry);
    return 0;
}

static int publish(struct job *job, const char *state, const char *reason,
                   struct m2_error *err)
{
    char *path = NULL;
    bool won = false;
    int code = write_record(job, state, reason, err);

    if (code != 0)
        return code;
    log_close();
    code = attempt_publish(job->attempt, &won, &path, err);
    job->attempt = NULL;
    return code != 0 ? code : take_published(job, path, err);
}

/* ---- the run ----------------------------------------------------------- */

static int open_session(struct job *job, struct m2_error *err)
{
    const struct session_request request = {
        .config = job->request->config,
        .threads = job->request->threads,
        .device_slot = job->request->device_slot,
        .training = true,
    };
    int code = session_open(&request, &job->session, err);

    if (code != 0)
        return code;
    job->session_open = true;
    tell_facts(&job->session);
    code = evaluator_create(&job->session, &job->evaluator, err);
    if (code == 0)
        tell_baselines(job->evaluator);
    return code;
}

static int train(struct job *job, struct m2_error *err)
{
    const struct trainer_request request = {
        .session = &job->session,
        .identity = job->request->place.identity,
        .dirfd = attempt_dirfd(job->attempt),
        .dir = attempt_path(job->attempt),
        .resume = job->resume.found ? &job->resume.resume : NULL,
        .cut_after = job->request->cut_after,
        .after_step = after_step,
        .stop_requested = stop_requested,
        .make_room = make_room,
        .context = job,
    };

    int code = trainer_run(&request, job->evaluator, &job->outcome, err);

    return session_explain(&job->session, code, err);
}

/* A stop keeps the attempt for a later one; its record says why. */
static int end_stopped(struct job *job, struct m2_error *err)
{
    const char *reason = err->text;

    snprintf(job->result->reason, sizeof job->result->reason, "%s", reason);
    snprintf(job->result->state, sizeof job->result->state, "%s", "stopped");
    job->result->end = JOB_STOPPED;
    log_info("%s", reason);
    return write_record(job, "stopped", job->result->reason, err);
}

static int finish(struct job *job, struct m2_error *err)
{
    int code = scores_read_back(attempt_path(job->attempt), job->evaluator,
                                &job->outcome, &job->best, err);

    if (code == 0)
        code = score_test(job, err);
    if (code != 0)
        return code;
    tell_end(&job->session, &job->outcome, &job->best, &job->test);
    return publish(job, "done", "", err);
}

/* What is known of this process by now. */
static int take_facts(struct job *job, struct m2_error *err)
{
    const struct fact_request request = {
        .config = job->request->config,
        .session = job->session_open ? &job->session : NULL,
        .threads = job->request->threads,
        .device_why = job->request->device_why,
    };
    json_t *sheet = NULL;
    int code = fact_sheet_make(&request, &sheet, err);

    if (code != 0)
        return code;
    json_decref(job->sheet);
    job->sheet = sheet;
    return 0;
}

static int find_resume(struct job *job, struct m2_error *err)
{
    const struct resume_request request = {
        .attempt = job->attempt,
        .identity = job->request->place.identity,
        .numerics = job->session.numerics,
        .mixed = job->request->mixed,
        .needs_best = job->request->config->checkpoint.keep_best > 0,
    };

    return resume_find(&request, &job->resume, err);
}

/* A run that is to begin at its first step has nothing to go on from. */
static int set_attempts_aside(const struct job *job, struct m2_error *err)
{
    size_t n = 0;
    int code = aside_attempts(job->attempt, &n, err);

    if (code == 0 && n > 0)
        log_detail("%zu earlier attempt%s now in .old", n,
                   n == 1 ? " is" : "s are");
    return code;
}

static int work(struct job *job, struct m2_error *err)
{
    int code = job->request->fresh ? set_attempts_aside(job, err) : 0;

    if (code == 0)
        code = begin_files(job, err);
    if (code == 0)
        code = resume_history(job->attempt, &job->resume, err);
    if (code == 0)
        code = take_facts(job, err);
    if (code == 0)
        code = write_record(job, "running", "", err);
    if (code == 0)
        code = open_session(job, err);
    if (code == 0)
        code = take_facts(job, err);
    if (code == 0)
        code = find_resume(job, err);
    if (code == 0)
        code = write_record(job, "running", "", err);
    /* From here on its record tells of the earlier attempts, and the next one
     * goes on from this folder or from the one it was begun with. */
    if (code == 0 && job->resume.found)
        attempt_prune(job->attempt, job->resume.dir);
    if (code == 0)
        code = train(job, err);
    return code != 0 ? code : finish(job, err);
}

/* A state that a run can end in, or NULL: the run can still be done. */
static const char *state_of(int code)
{
    switch (code) {
    case M2_E_DIVERGED:
        return "diverged";
    case M2_E_MEMORY:
        return "oom";
    case M2_E_FAILED:
        return "failed";
    default:
        return NULL;
    }
}

/* Without a checkpoint there is nothing that a later attempt could use. */
static bool has_checkpoint(const struct job *job)
{
    const struct file_at last =
        attempt_file(job->attempt, "checkpoints/last.safetensors");
    const struct file_at best =
        attempt_file(job->attempt, "checkpoints/best.safetensors");

    return file_exists_at(&last) || file_exists_at(&best);
}

/* A full disk, or a folder that cannot be written any more: nothing is lost
 * but the steps since the last checkpoint.  The record is written where there
 * is still room for it. */
static void end_unwritable(struct job *job, struct m2_error *err)
{
    struct m2_error cause = *err;

    write_record(job, "stopped", cause.text, NULL);
    m2_fail(err, M2_E_RESULTS,
            "%.1500s; %s keeps the last checkpoint, the same command continues",
            cause.text, attempt_path(job->attempt));
}

/* The run cannot go on, for the reason in err. */
static int end_failed(struct job *job, int code, struct m2_error *err)
{
    const char *state = state_of(code);
    struct m2_error cause = *err;

    log_note("m2run: error: %s", cause.text);
    if (state != NULL)
        return publish(job, state, cause.text, err);
    if (!has_checkpoint(job)) {
        log_close();
        attempt_discard(job->attempt);
        job->attempt = NULL;
    } else if (code == M2_E_RESULTS) {
        end_unwritable(job, err);
    }
    return code;
}

static int run_claimed(struct job *job, struct m2_error *err)
{
    int code = work(job, err);

    /* a device that was opened and then lost is the end of this run, not a
     * device that cannot be used */
    if (code == M2_E_DEVICE && job->session_open)
        code = M2_E_FAILED;
    if (code == M2_E_STOPPED)
        code = end_stopped(job, err);
    else if (code != 0 && job->attempt != NULL &&
             !attempt_superseded(job->attempt))
        code = end_failed(job, code, err);
    if (code != 0 && job->attempt != NULL && attempt_superseded(job->attempt)) {
        job->result->end = JOB_HELD;
        code = 0;
    }
    return code;
}

static void close_job(struct job *job)
{
    log_close();
    attempt_release(job->attempt);
    resume_free(&job->resume);
    json_decref(job->sheet);
    evaluator_free(job->evaluator);
    if (job->session_open)
        session_close(&job->session);
}

static int set_published_aside(const struct job_request *request,
                               struct m2_error *err)
{
    char *path = NULL;
    int code = aside_published(&request->place, request->set_aside, &path, err);

    if (code == 0 && path != NULL)
        log_detail("what was published before is now %s", path);
    free(path);
    return code;
}

int job_run(const struct job_request *request, struct job_result *out,
            struct m2_error *err)
{
    struct job job = {.request = request, .result = out};
    const struct claim_request claim_request = {
        .place = request->place,
        .takeover = request->takeover,
        .silent_owner = request->silent_owner,
    };
    enum claim claim;
    char *published = NULL;
    int code = 0;

    *out = (struct job_result){0};
    time_print(time_now(), job.started);
    if (request->set_aside != NULL)
        code = set_published_aside(request, err);
    if (code == 0)
        code = attempt_claim(&claim_request, &claim, &job.attempt, &published,
                             err);
    if (code != 0)
        return code;
    if (claim == CLAIM_PUBLISHED)
        return take_published(&job, published, err);
    if (claim != CLAIM_OWNED) {
        out->end = JOB_HELD;
        return 0;
    }
    code = run_claimed(&job, err);
    close_job(&job);
    return code;
}
