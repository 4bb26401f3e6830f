/* What `m2run run` says at its end. */
#include <string.h>

#include "cli/command.h"
#include "cli/run.h"
#include "results/store.h"
#include "util/log.h"

enum { MAX_LISTED = 20 };

/* "12 runs: 9 done, 2 failed, 1 diverged": one word per group of runs. */
static const char *group_of(const struct pool_task *task)
{
    switch (task->state) {
    case TASK_SKIPPED:
    case TASK_ENDED:
        return task->result;
    case TASK_ERROR:
        return "could not run";
    case TASK_HELD:
        return "worked on elsewhere";
    case TASK_STOPPED:
        return "stopped";
    case TASK_WAITING:
    case TASK_RUNNING:
        break;
    }
    return "not begun";
}

static bool is_failure(const struct pool_task *task)
{
    return task->state == TASK_ERROR ||
           ((task->state == TASK_SKIPPED || task->state == TASK_ENDED) &&
            strcmp(task->result, "done") != 0);
}

static void add_count(struct text *text, const struct pool_task *tasks,
                      size_t n, const char *group)
{
    size_t count = 0, before = 0;

    for (size_t i = 0; i < n; i++)
        if (strcmp(group_of(&tasks[i]), group) == 0) {
            count++;
            before += tasks[i].state == TASK_SKIPPED;
        }
    if (count == 0 && strcmp(group, "done") != 0)
        return;
    text_addf(text, "%s%zu %s", strcmp(group, "done") == 0 ? " " : ", ", count,
              group);
    if (before > 0)
        text_addf(text, " (%zu published before)", before);
}

static void print_counts(const struct pool_task *tasks, size_t n)
{
    static const char *const groups[] = {
        "done",          "failed",  "diverged",  "oom",
        "could not run", "stopped", "not begun", "worked on elsewhere",
    };
    struct text text = {0};

    text_addf(&text, "%zu run%s:", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        add_count(&text, tasks, n, groups[i]);
    log_info("%s", text_string(&text));
    text_free(&text);
}

/* One reason for which nothing could run: it has just been told. */
static bool one_reason_for_all(const struct pool_task *tasks, size_t n)
{
    size_t i = 0;

    while (i < n && pool_task_same_reason(&tasks[0], &tasks[i]))
        i++;
    return i == n;
}

/* Of the runs that could not run for one reason, the first. */
static bool is_listed(const struct pool_task *tasks, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (pool_task_same_reason(&tasks[k], &tasks[i]))
            return false;
    return is_failure(&tasks[i]);
}

static void list_failure(const struct pool_task *task)
{
    const char *reason = task->reason != NULL ? task->reason : "";

    if (task->path != NULL && *task->path != '\0')
        log_info("  %s %s-%.*s: %s\n    m2run show %.*s", task->result,
                 task->label, RUN_HASH_LENGTH, task->identity, reason,
                 RUN_HASH_LENGTH, task->identity);
    else
        log_info("  %s %s: %s", group_of(task), task->label, reason);
}

/* A word of a command as a shell takes it. */
static void add_word(struct text *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789.,_-+=:/@%";

    text_add_char(out, ' ');
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        text_add(out, word);
        return;
    }
    text_add_char(out, '\'');
    for (; *word != '\0'; word++)
        if (*word == '\'')
            text_add(out, "'\\''");
        else
            text_add_char(out, *word);
    text_add_char(out, '\'');
}

static void print_retry(const struct pool_task *tasks, size_t n,
                        const struct arguments *arguments)
{
    static const char *const states[] = {"failed", "diverged", "oom"};
    struct text text = {0};
    size_t found = 0;

    for (size_t s = 0; s < sizeof states / sizeof *states; s++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(tasks[i].result, states[s]) == 0) {
                text_addf(&text, "%s%s", found++ > 0 ? "," : "", states[s]);
                break;
            }
    if (found > 0) {
        struct text words = {0};

        for (size_t i = 0; i < arguments->n; i++)
            add_word(&words, arguments->items[i]);
        log_info("again: m2run run%s --retry %s", text_string(&words),
                 text_string(&text));
        text_free(&words);
    }
    text_free(&text);
}

void run_report_print(const struct pool_task *tasks, size_t n,
                      const struct arguments *arguments)
{
    size_t failed = 0;

    for (size_t i = 0; i < n; i++)
        if (tasks[i].path != NULL && *tasks[i].path != '\0')
            printf("%s %s\n", tasks[i].result, tasks[i].path);
    fflush(stdout);
    print_counts(tasks, n);
    if (one_reason_for_all(tasks, n))
        return;
    for (size_t i = 0; i < n; i++)
        if (is_listed(tasks, i) && ++failed <= MAX_LISTED)
            list_failure(&tasks[i]);
    if (failed > MAX_LISTED)
        log_info("  and %zu more", failed - MAX_LISTED);
    if (failed > 0)
        print_retry(tasks, n, arguments);
}

int run_report_code(const struct pool_result *result, size_t n)
{
    if (result->n_done == n)
        return 0;
    if (result->n_errors > 0)
        return exit_code_of(result->first_error);
    if (result->n_failed > 0)
        return exit_code_of(M2_E_FAILED);
    return exit_code_of(M2_E_STOPPED);
}
