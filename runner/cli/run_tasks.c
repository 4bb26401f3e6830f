/* The list of runs as tasks: which are to be worked, and how. */
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"
#include "results/listing.h"
#include "results/store.h"
#include "util/memory.h"
#include "util/timefmt.h"

static const char *text_of(const struct run_entry *entry, const char *key)
{
    const char *text = json_string_value(run_value(entry, NULL, key));

    return text != NULL ? text : "";
}

/* Two invocations with the same wish at once: the other one has done it.  A
 * time to come is that of a wrong clock, and tells nothing. */
static bool ended_meanwhile(const struct run_entry *entry,
                            const struct run_choice *choice)
{
    int64_t finished;

    return time_parse(text_of(entry, "finished"), &finished) &&
           finished > choice->begun_ns && finished <= time_now();
}

/* A published run: skipped, or set aside and run again. */
static int note_published(struct pool_task *task, const char *path,
                          const struct run_choice *choice, struct m2_error *err)
{
    struct run_entry entry;
    int code = run_entry_load(path, &entry, err);

    if (code != 0)
        return code;
    if (policy_action(&choice->policy, entry.state) == ACTION_AGAIN &&
        !ended_meanwhile(&entry, choice)) {
        task->again = true;
        snprintf(task->token, sizeof task->token, "%s",
                 text_of(&entry, "token"));
    } else {
        task->state = TASK_SKIPPED;
        snprintf(task->result, sizeof task->result, "%s", entry.state);
        task->path = memory_string(path, err);
        task->reason = memory_string(text_of(&entry, "reason"), err);
        if (task->path == NULL || task->reason == NULL)
            code = M2_E_MEMORY;
    }
    run_entry_free(&entry);
    return code;
}

static int compare_hash(const void *identity, const void *hash)
{
    return strncmp(identity, *(char *const *)hash, RUN_HASH_LENGTH);
}

static int look_for_published(const struct resolved_sweep *resolved, size_t i,
                              const struct run_choice *choice,
                              struct pool_task *task, struct m2_error *err)
{
    const struct run_place place = {
        choice->root,
        resolved->experiment.config.name,
        resolved->record.runs[i].label,
        resolved->record.runs[i].identity,
    };
    char *path = NULL;
    int code = store_find_published(&place, &path, err);

    if (code == 0 && path != NULL) {
        /* its publisher may have been killed before it had tidied up */
        store_remove_leftovers(&place, path);
        code = note_published(task, path, choice, err);
    }
    free(path);
    return code;
}

/* Attempts that nobody works on are set aside with --fresh; those of others
 * are not ours to begin again. */
static int look_for_attempts(const struct resolved_sweep *resolved,
                             const struct run_choice *choice,
                             struct pool_task *tasks, struct m2_error *err)
{
    const struct sweep_record *record = &resolved->record;
    struct run_list unfinished = {0};
    int code = run_list_load_unfinished(
        choice->root, resolved->experiment.config.name, &unfinished, err);

    for (size_t k = 0; code == 0 && k < unfinished.n; k++)
        for (size_t i = 0; i < record->n_runs; i++)
            if (strncmp(run_name_hash(unfinished.entries[k].run),
                        record->runs[i].identity, RUN_HASH_LENGTH) == 0)
                tasks[i].fresh =
                    policy_action(&choice->policy,
                                  unfinished.entries[k].state) == ACTION_ANEW;
    run_list_free(&unfinished);
    return code;
}

int run_tasks_make(const struct resolved_sweep *resolved,
                   const struct run_choice *choice, struct pool_task **out,
                   struct m2_error *err)
{
    const struct sweep_record *record = &resolved->record;
    struct pool_task *tasks = memory_zeroed(record->n_runs, sizeof *tasks, err);
    struct string_list published = {0};
    int code =
        tasks == NULL
            ? M2_E_MEMORY
            : store_list_hashes(choice->root, resolved->experiment.config.name,
                                &published, err);

    for (size_t i = 0; code == 0 && i < record->n_runs; i++) {
        tasks[i].label = record->runs[i].label;
        tasks[i].identity = record->runs[i].identity;
        if (published.count > 0 &&
            bsearch(tasks[i].identity, published.items, published.count,
                    sizeof *published.items, compare_hash) != NULL)
            code = look_for_published(resolved, i, choice, &tasks[i], err);
    }
    string_list_free(&published);
    if (code == 0 && choice->policy.fresh)
        code = look_for_attempts(resolved, choice, tasks, err);
    if (code != 0) {
        run_tasks_free(tasks, record->n_runs);
        return code;
    }
    *out = tasks;
    return 0;
}

void run_tasks_free(struct pool_task *tasks, size_t n)
{
    for (size_t i = 0; tasks != NULL && i < n; i++) {
        free(tasks[i].reason);
        free(tasks[i].path);
    }
    free(tasks);
}

size_t run_tasks_waiting(const struct pool_task *tasks, size_t n)
{
    size_t waiting = 0;

    for (size_t i = 0; i < n; i++)
        waiting += tasks[i].state == TASK_WAITING;
    return waiting;
}
