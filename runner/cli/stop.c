/* m2run stop: asks what runs on this machine to finish its step, write a
 * checkpoint and end. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "results/driver.h"
#include "results/listing.h"
#include "results/store.h"
#include "train/stale.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"

/* A process that works an experiment, or one run of it. */
struct target {
    char *experiment;
    char *run; /* NULL: the process works a list of runs */
    struct owner owner;
};

struct target_list {
    struct target *items;
    size_t count, capacity;
    const char *experiment; /* being looked at */
    int code;
    struct m2_error *err;
};

static void targets_free(struct target_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].experiment);
        free(list->items[i].run);
    }
    free(list->items);
}

static int add_target(struct target_list *list, const char *experiment,
                      const char *run, const struct owner *owner)
{
    struct target *target;
    int code = array_reserve(&list->items, &list->capacity, list->count + 1,
                             sizeof *list->items, list->err);

    if (code != 0)
        return code;
    target = &list->items[list->count++];
    *target = (struct target){
        .experiment = memory_string(experiment, list->err),
        .run = run != NULL ? memory_string(run, list->err) : NULL,
        .owner = *owner,
    };
    if (target->experiment == NULL || (run != NULL && target->run == NULL))
        return M2_E_MEMORY;
    return 0;
}

/* ---- what runs ----------------------------------------------------------- */

static void add_driver(void *context, const struct owner *owner)
{
    struct target_list *list = context;

    if (list->code == 0)
        list->code = add_target(list, list->experiment, NULL, owner);
}

static int add_worker(struct target_list *list, const struct run_entry *entry)
{
    struct owner owner;
    bool locked = false;
    int dirfd, code = 0;

    if (strcmp(entry->state, "running") != 0)
        return 0;
    dirfd = open(entry->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirfd < 0) /* it has just ended */
        return 0;
    if (owner_read(dirfd, &owner, &locked, NULL) == 0 && locked)
        code = add_target(list, entry->experiment, entry->run, &owner);
    close(dirfd);
    return code;
}

static int add_drivers(struct target_list *list, const char *root)
{
    struct string_list names = {0};
    int code = 0;

    if (file_is_dir(root))
        code = path_list(root, M2_E_RESULTS, &names, list->err);
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        if (names.items[i][0] == '.')
            continue;
        list->experiment = names.items[i];
        code = driver_each(root, names.items[i], add_driver, list, list->err);
        if (code == 0)
            code = list->code;
    }
    string_list_free(&names);
    return code;
}

static int find_targets(const char *root, struct target_list *list)
{
    struct run_list runs = {0};
    int code = add_drivers(list, root);

    if (code == 0)
        code = run_list_load(root, NULL, &runs, list->err);
    for (size_t i = 0; code == 0 && i < runs.n; i++)
        code = add_worker(list, &runs.entries[i]);
    run_list_free(&runs);
    return code;
}

/* ---- which of them ------------------------------------------------------- */

struct choice_of {
    const char *experiment; /* NULL: of every experiment */
    const char *run;        /* NULL: every run */
    const char *state;      /* of the run, and why */
    const char *reason;
};

static bool is_chosen(const struct choice_of *choice,
                      const struct target *target)
{
    if (choice->run != NULL)
        return target->run != NULL && strcmp(choice->run, target->run) == 0 &&
               strcmp(choice->experiment, target->experiment) == 0;
    return choice->experiment == NULL ||
           strcmp(choice->experiment, target->experiment) == 0;
}

/* Without a name there must be no doubt. */
static int check_one_experiment(const struct target_list *list,
                                struct m2_error *err)
{
    struct string_list names = {0};
    struct text text = {0};
    int code = 0;

    for (size_t i = 0; i < list->count; i++)
        if (string_list_find(&names, list->items[i].experiment) == names.count)
            code = string_list_add(&names, list->items[i].experiment, err);
    if (names.count > 1) {
        for (size_t i = 0; i < names.count; i++)
            text_addf(&text, "%s%s", i > 0 ? ", " : "", names.items[i]);
        code = m2_fail(err, M2_E_USAGE,
                       "stop: %zu experiments run: %s; name one, or use --all",
                       names.count, text_string(&text));
    }
    text_free(&text);
    string_list_free(&names);
    return code;
}

/* The parent of a process, or -1. */
static int64_t parent_of(int64_t pid)
{
    struct text text = {0};
    char path[64];
    const char *line;
    long long parent = -1;

    snprintf(path, sizeof path, "/proc/%" PRId64 "/status", pid);
    if (file_read(path, 65536, M2_E_RESULTS, &text, NULL) == 0) {
        line = strstr(text_string(&text), "\nPPid:");
        if (line == NULL || sscanf(line, "\nPPid: %lld", &parent) != 1)
            parent = -1;
    }
    text_free(&text);
    return parent;
}

/* A driver asks its workers itself; a second request would end them at once,
 * without a checkpoint. */
static bool is_asked_by_driver(const struct target_list *list,
                               const struct target *target)
{
    int64_t parent;

    if (target->run == NULL)
        return false;
    parent = parent_of(target->owner.pid);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].run == NULL && list->items[i].owner.pid == parent)
            return true;
    return false;
}

/* ---- asking -------------------------------------------------------------- */

static bool ask(const struct target *target, const struct owner *self)
{
    const char *run = target->run != NULL ? target->run : "";

    if (target->owner.pid <= 0) /* kill() would take it for a group */
        return false;
    if (strcmp(target->owner.boot_id, self->boot_id) != 0) {
        log_warning("%s/%s runs on host %s: stop it there", target->experiment,
                    run, target->owner.host);
        return false;
    }
    if (kill((pid_t)target->owner.pid, SIGTERM) != 0) {
        if (errno != ESRCH)
            log_warning("%s/%s: process %" PRId64 ": %s", target->experiment,
                        run, target->owner.pid, strerror(errno));
        return false;
    }
    printf("%s%s%s: asked process %" PRId64 " to stop\n", target->experiment,
           *run != '\0' ? "/" : "", run, target->owner.pid);
    return true;
}

static int ask_chosen(const struct target_list *list,
                      const struct choice_of *choice, struct m2_error *err)
{
    struct owner self;
    size_t n = 0;
    int code = owner_self(&self, err);

    if (code != 0)
        return code;
    for (size_t i = 0; i < list->count; i++) {
        const struct target *target = &list->items[i];

        if (is_chosen(choice, target) &&
            (choice->run != NULL || !is_asked_by_driver(list, target)))
            n += ask(target, &self);
    }
    if (n > 0)
        return 0;
    if (choice->run != NULL)
        return m2_fail(err, M2_E_FAILED,
                       "stop: %s/%s does not run here; it is %s%s%s",
                       choice->experiment, choice->run, choice->state,
                       *choice->reason != '\0' ? ": " : "", choice->reason);
    return m2_fail(err, M2_E_FAILED, "stop: nothing%s%s runs here",
                   choice->experiment != NULL ? " of " : "",
                   choice->experiment != NULL ? choice->experiment : "");
}

static int stop_run(const char *root, const char *word,
                    const struct target_list *list, struct m2_error *err)
{
    struct run_entry entry = {0};
    char *path = NULL;
    int code = store_resolve(root, word, &path, err);

    if (code == 0)
        code = run_entry_load(path, &entry, err);
    if (code == 0)
        code = stale_mark(&entry, 1, err);
    if (code == 0) {
        const char *reason =
            json_string_value(run_value(&entry, NULL, "reason"));
        const struct choice_of choice = {entry.experiment, entry.run,
                                         entry.state,
                                         reason != NULL ? reason : ""};

        code = ask_chosen(list, &choice, err);
    }
    run_entry_free(&entry);
    free(path);
    return code;
}

/* A word is an experiment when it names a folder of the results. */
static int stop_word(const char *root, const char *word,
                     const struct target_list *list, struct m2_error *err)
{
    char *name = NULL, *dir = NULL;
    int code = experiment_name(word, &name, err);

    if (code == 0 && (dir = path_join(root, name, err)) == NULL)
        code = M2_E_MEMORY;
    if (code == 0 && strchr(name, '/') == NULL && file_is_dir(dir)) {
        const struct choice_of choice = {.experiment = name};

        code = ask_chosen(list, &choice, err);
    } else if (code == 0) {
        code = stop_run(root, word, list, err);
    }
    free(dir);
    free(name);
    return code;
}

static int stop(const char *results, const char *word, bool all,
                struct m2_error *err)
{
    static const struct choice_of everything = {0};
    struct target_list list = {.err = err};
    char *root = store_root(results);
    int code = root == NULL ? m2_fail(err, M2_E_MEMORY, "out of memory") : 0;

    if (code == 0)
        code = find_targets(root, &list);
    if (code == 0 && word != NULL)
        code = stop_word(root, word, &list, err);
    else if (code == 0) {
        code = all ? 0 : check_one_experiment(&list, err);
        if (code == 0)
            code = ask_chosen(&list, &everything, err);
    }
    targets_free(&list);
    free(root);
    return code;
}

int command_stop(int argc, char **argv)
{
    static const struct command_help help = {
        "stop", "[FILE|NAME|RUN]",
        "Asks what runs on this machine to finish its step, write a checkpoint\n"
        "and end; `m2run run` goes on from there. Without an argument: the one\n"
        "experiment that runs. Prints what was asked, does not wait for it.\n"
        "Ends with 1 when nothing runs.",
        "  m2run stop quickstart\n  m2run stop --all"};
    const char *results = NULL;
    bool all = false;
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder [results]",
         &results},
        {"all", 'a', OPTION_FLAG, NULL, "every experiment", &all},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n + (all ? 1 : 0) > 1)
        code =
            m2_fail(&err, M2_E_USAGE, "stop: one experiment or run, or --all");
    if (code == 0)
        code = stop(results, arguments.n == 1 ? arguments.items[0] : NULL, all,
                    &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
