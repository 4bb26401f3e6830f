/* One run, worked once more. */
#include "reproduce/rerun_private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/attempt.h"
#include "results/store.h"
#include "schedule/pool.h"
#include "schedule/signals.h"
#include "sweep/record.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

#define ORPHAN_WAIT_S  30.0
#define ORPHAN_LOOK_NS 50000000

void rerun_free(struct rerun *rerun)
{
    free(rerun->path);
    free(rerun->dir);
    free(rerun->traces);
    free(rerun->reason);
    *rerun = (struct rerun){0};
}

static int write_record(const struct rerun_request *request,
                        const struct rerun_folder *folder, char **path_out,
                        struct m2_error *err)
{
    struct text text = {0};
    char *dir = path_join(folder->work, request->name, err);
    int code = dir == NULL ? M2_E_MEMORY : 0;

    text_add(&text, request->record);
    if (code == 0)
        code = text_check(&text, err);
    if (code == 0)
        code = sweep_record_write(dir, &text, path_out, err);
    text_free(&text);
    free(dir);
    return code;
}

/* Our folder has no other reproduce at work in it: whoever still holds the run
 * is the worker of one that was killed, and ends after a step and a
 * checkpoint. */
static void await_orphan(const struct rerun_request *request,
                         const struct rerun_folder *folder)
{
    const struct run_place place = {folder->work, request->name, request->label,
                                    request->identity};
    const struct timespec moment = {.tv_nsec = ORPHAN_LOOK_NS};
    double until = time_monotonic() + ORPHAN_WAIT_S;
    struct owner_watch watch = {0};
    enum claim claim = CLAIM_HELD;

    while (attempt_look(&place, &watch, &claim, NULL) == 0 &&
           claim == CLAIM_HELD && stop_requests() == 0 &&
           time_monotonic() < until)
        nanosleep(&moment, NULL);
}

static int work_task(const struct rerun_request *request,
                     const struct rerun_folder *folder, const char *traces,
                     struct pool_task *task, struct m2_error *err)
{
    char cut_after[24], *record = NULL;
    const char *options[] = {"--traces",
                             traces,
                             "--cut-after",
                             cut_after,
                             request->quiet ? "--quiet" : "--brief",
                             NULL};
    struct pool_request pool = {
        .root = folder->work,
        .name = request->name,
        .tasks = task,
        .n_tasks = 1,
        .jobs = 1,
        .threads = request->threads,
        .no_wait = true,
        .quiet = request->quiet,
        .worker_options = options,
    };
    struct pool_result result;
    int code = write_record(request, folder, &record, err);

    snprintf(cut_after, sizeof cut_after, "%lld",
             (long long)request->cut_after);
    pool.record = record;
    signals_for_parent();
    if (code == 0)
        await_orphan(request, folder);
    if (code == 0)
        code = pool_run(&pool, &result, err);
    free(record);
    return code;
}

/* The newest attempt of a run that was stopped; NULL when there is none. */
static int find_attempt(const struct rerun_request *request,
                        const struct rerun_folder *folder, char **out,
                        struct m2_error *err)
{
    const struct run_place place = {folder->work, request->name, request->label,
                                    request->identity};
    struct string_list names = {0};
    char *active = store_active_path(&place);
    int code = active == NULL ? m2_fail(err, M2_E_MEMORY, "out of memory") : 0;

    if (code == 0 && file_is_dir(active))
        code = path_list(active, M2_E_RESULTS, &names, err);
    for (size_t i = names.count; code == 0 && *out == NULL && i > 0; i--)
        if (store_attempt_number(names.items[i - 1]) > 0) {
            *out = path_join(active, names.items[i - 1], err);
            code = *out == NULL ? M2_E_MEMORY : 0;
        }
    string_list_free(&names);
    free(active);
    return code;
}

/* How it ended, and where its files are now. */
static int take_end(const struct rerun_request *request,
                    const struct rerun_folder *folder, struct pool_task *task,
                    struct rerun *out, struct m2_error *err)
{
    int code = 0;

    snprintf(out->state, sizeof out->state, "%s", task->result);
    out->reason = task->reason;
    task->reason = NULL;
    switch (task->state) {
    case TASK_ENDED:
    case TASK_SKIPPED:
        out->end = RERUN_ENDED;
        out->dir = task->path;
        task->path = NULL;
        return 0;
    case TASK_STOPPED:
    case TASK_WAITING:
        out->end = stop_requests() == 0 ? RERUN_CUT : RERUN_STOPPED;
        code = find_attempt(request, folder, &out->dir, err);
        if (code == 0 && out->end == RERUN_CUT && out->dir == NULL)
            code = m2_fail(err, M2_E_INTERNAL, "%s: no attempt is left",
                           folder->work);
        return code;
    case TASK_HELD:
        return m2_fail(err, M2_E_RESULTS,
                       "%s: another process works in this folder",
                       folder->path);
    default:
        out->end = RERUN_ERROR;
        out->code = task->code;
        return find_attempt(request, folder, &out->dir, err);
    }
}

/* What is whole moves up; what holds nothing goes. */
static int finish(struct rerun_folder *folder, struct rerun *out,
                  struct m2_error *err)
{
    int code;

    if (out->end == RERUN_STOPPED || out->end == RERUN_ERROR) {
        if (out->dir == NULL)
            file_remove_tree(folder->path, M2_E_RESULTS, NULL);
        return 0;
    }
    code = rerun_folder_finish(folder, out->dir, err);
    if (code != 0)
        return code;
    free(out->dir);
    out->dir = memory_string(folder->path, err);
    free(out->traces);
    out->traces = path_join(folder->path, TRACE_FILE, err);
    return out->dir == NULL || out->traces == NULL ? M2_E_MEMORY : 0;
}

int rerun_work(const struct rerun_request *request, struct rerun *out,
               struct m2_error *err)
{
    struct pool_task task = {
        .label = request->label,
        .identity = request->identity,
        .state = TASK_WAITING,
    };
    struct rerun_folder folder;
    int code = rerun_folder_open(request, &folder, err);

    *out = (struct rerun){0};
    if (code == 0) {
        out->path = memory_string(folder.path, err);
        out->traces = path_join(folder.work, TRACE_FILE, err);
        code = out->path == NULL || out->traces == NULL ? M2_E_MEMORY : 0;
    }
    if (code == 0)
        code = work_task(request, &folder, out->traces, &task, err);
    if (code == 0)
        code = take_end(request, &folder, &task, out, err);
    if (code == 0)
        code = finish(&folder, out, err);
    free(task.reason);
    free(task.path);
    rerun_folder_close(&folder);
    return code;
}
