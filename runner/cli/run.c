/* m2run run: works every run of an experiment that is not published yet. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/run.h"
#include "results/driver.h"
#include "results/store.h"
#include "schedule/pool.h"
#include "schedule/signals.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

struct run_options {
    const char *results, *on_error, *max_failures, *retry;
    int64_t jobs, grace_s;
    bool mixed, detach, verbose, quiet;
    struct run_policy policy;
    int64_t begun_ns;           /* when the command was */
    struct failure_limit limit; /* of max_failures */
};

/* ---- working ----------------------------------------------------------- */

/* What begins, where it is more than one run. */
static void print_begin(const struct pool_request *request)
{
    size_t waiting = run_tasks_waiting(request->tasks, request->n_tasks);

    if (request->n_tasks > 1 && waiting > 0)
        log_info("%s: %zu of %zu runs to do, %d at a time on %d thread%s each",
                 request->name, waiting, request->n_tasks, request->jobs,
                 request->threads, request->threads == 1 ? "" : "s");
}

/* One invocation, when its runs are known. */
struct invocation {
    const struct run_options *options;
    const struct arguments *arguments;
    const struct resolved_sweep *resolved;
    const char *root, *record;
    struct pool_task *tasks;
    int slots; /* of run_devices_find */
};

static int choose_jobs(const struct invocation *all)
{
    size_t n = all->resolved->record.n_runs;
    size_t waiting = run_tasks_waiting(all->tasks, n);
    int64_t jobs =
        all->options->jobs > 0 ? all->options->jobs : cores_allowed();

    if (jobs > POOL_MAX_JOBS)
        jobs = POOL_MAX_JOBS;
    if ((size_t)jobs > waiting)
        jobs = (int64_t)waiting;
    jobs = run_devices_jobs(all->slots, all->options->jobs, (int)jobs);
    if (all->options->jobs == 0 && jobs > 1)
        return run_memory_jobs(all->root, all->arguments, all->tasks, n,
                               (int)jobs);
    return jobs > 0 ? (int)jobs : 1;
}

static int work(const struct invocation *all, struct pool_result *result,
                struct m2_error *err)
{
    const struct run_options *options = all->options;
    const char *worker_options[8] = {NULL};
    size_t n_options = 0, n = all->resolved->record.n_runs;
    bool quiet = log_level() < LOG_INFO;
    struct pool_request request = {
        .record = all->record,
        .root = all->root,
        .name = all->resolved->experiment.config.name,
        .tasks = all->tasks,
        .n_tasks = n,
        .jobs = choose_jobs(all),
        .stop_on_error =
            options->on_error != NULL && strcmp(options->on_error, "stop") == 0,
        .max_failures = options->limit,
        .grace_s = (double)options->grace_s,
        .no_wait = options->policy.no_wait,
        .takeover = options->policy.takeover,
        .quiet = quiet,
        .worker_options = worker_options,
    };
    struct driver *driver = NULL;
    int code = driver_begin(all->root, request.name, &driver, err);

    if (options->mixed)
        worker_options[n_options++] = "--mixed";
    if (n > 1 && !options->verbose)
        worker_options[n_options++] = "--brief";
    if (quiet)
        worker_options[n_options++] = "--quiet";
    if (all->resolved->auto_why[0] != '\0') {
        worker_options[n_options++] = "--auto";
        worker_options[n_options++] = all->resolved->auto_why;
    }
    request.threads = cores_allowed() / request.jobs;
    if (request.threads < 1)
        request.threads = 1;
    signals_for_parent();
    if (!quiet)
        print_begin(&request);
    if (code == 0)
        code = pool_run(&request, result, err);
    driver_end(driver);
    return code;
}

static int write_record(const struct resolved_sweep *resolved, const char *root,
                        const struct arguments *arguments, char **path_out,
                        struct m2_error *err)
{
    char *dir = path_join(root, resolved->experiment.config.name, err);
    struct text text = {0};
    int code = dir == NULL
                   ? M2_E_MEMORY
                   : sweep_record_text(&resolved->experiment, &resolved->record,
                                       arguments->items + 1, arguments->n - 1,
                                       &text, err);

    if (code == 0)
        code = sweep_record_write(dir, &text, path_out, err);
    text_free(&text);
    free(dir);
    return code;
}

static int run_experiment(const struct run_options *options,
                          const struct arguments *arguments, int *exit_out,
                          struct m2_error *err)
{
    struct resolved_sweep resolved;
    struct pool_task *tasks = NULL;
    struct pool_result result;
    int slots = 0;
    char *root = store_root(options->results), *record = NULL;
    int code = root == NULL
                   ? m2_fail(err, M2_E_MEMORY, "out of memory")
                   : resolve_sweep(arguments->items[0], arguments->items + 1,
                                   arguments->n - 1, root, &resolved, err);

    if (root == NULL)
        return code;
    if (code == 0)
        warn_of_stale_runs(root, resolved.experiment.config.name);
    if (code == 0)
        code = write_record(&resolved, root, arguments, &record, err);
    if (code == 0)
        code = run_tasks_make(
            &resolved,
            &(struct run_choice){root, options->policy, options->begun_ns},
            &tasks, err);
    if (code == 0)
        code = run_devices_find(&resolved, tasks, &slots, err);
    if (code == 0)
        code = work(&(struct invocation){options, arguments, &resolved, root,
                                         record, tasks, slots},
                    &result, err);
    if (code == 0) {
        run_report_print(tasks, resolved.record.n_runs, arguments);
        *exit_out = run_report_code(&result, resolved.record.n_runs);
    }
    run_tasks_free(tasks, resolved.record.n_runs);
    resolved_sweep_free(&resolved);
    free(record);
    free(root);
    return code;
}

/* ---- detaching --------------------------------------------------------- */

extern char **environ;

/* Starts the same command without --detach in a session of its own, its output
 * in a file; prints its pid. */
static int detach(int argc, char **argv, struct m2_error *err)
{
    const char *log = "m2run-detached.log";
    char *program = path_executable(err);
    char **words = memory_zeroed((size_t)argc + 2, sizeof *words, err);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int cause, n = 0;
    pid_t pid;

    if (program == NULL || words == NULL) {
        free(program);
        free(words);
        return M2_E_MEMORY;
    }
    words[n++] = program;
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--detach") != 0)
            words[n++] = argv[i];
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log,
                                     O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    cause = posix_spawn(&pid, program, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(words);
    free(program);
    if (cause != 0)
        return m2_fail(err, M2_E_FAILED, "cannot start: %s", strerror(cause));
    printf("%ld\n", (long)pid);
    log_info("running in the background as process %ld, output in %s; "
             "`m2run ls --watch` follows it, `m2run stop` ends it",
             (long)pid, log);
    return 0;
}

/* ---- the command ------------------------------------------------------- */

static int check_options(struct run_options *options,
                         const struct arguments *arguments,
                         struct m2_error *err)
{
    if (arguments->n == 0)
        return m2_fail(err, M2_E_USAGE,
                       "run: which experiment? `m2run run FILE`");
    if (options->jobs < 0 || options->grace_s < 0)
        return m2_fail(err, M2_E_USAGE,
                       "run: --jobs and --grace cannot be negative");
    if (options->on_error != NULL && strcmp(options->on_error, "stop") != 0 &&
        strcmp(options->on_error, "continue") != 0)
        return m2_fail(err, M2_E_USAGE,
                       "run: --on-error is stop or continue, not '%s'",
                       options->on_error);
    if (options->retry != NULL &&
        policy_parse_retry(options->retry, &options->policy.retry, err) != 0)
        return M2_E_USAGE;
    return options->max_failures == NULL
               ? 0
               : policy_parse_limit(options->max_failures, &options->limit,
                                    err);
}

int command_run(int argc, char **argv)
{
    static const struct command_help help = {
        "run", "FILE [KEY=VALUE ...]",
        "Works every run of the experiment that is not published yet: starts,\n"
        "continues, extends or shares a sweep. A KEY is a full name or a\n"
        "unique ending; KEY=A,B,C adds an axis, ~KEY resets to the default.",
        "  m2run run experiments/quickstart.yaml\n"
        "  m2run run exp.yaml lr=1e-3,3e-4 window=120 -j2"};
    struct run_options options = {.grace_s = POOL_GRACE_S,
                                  .begun_ns = time_now()};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder [results]",
         &options.results},
        {"jobs", 'j', OPTION_INT, "N", "runs at once [cores, or one per GPU]",
         &options.jobs},
        {"on-error", 0, OPTION_TEXT, "WHAT",
         "stop or continue after a failed run [continue]", &options.on_error},
        {"max-failures", 0, OPTION_TEXT, "N",
         "give up after N failed runs, or N%", &options.max_failures},
        {"retry", 0, OPTION_TEXT, "STATES",
         "run again: failed, diverged, oom, all", &options.retry},
        {"fresh", 0, OPTION_FLAG, NULL,
         "run everything again, from the first step", &options.policy.fresh},
        {"grace", 0, OPTION_INT, "SECONDS",
         "to finish a step when asked to stop, 0: no limit [25]",
         &options.grace_s},
        {"no-wait", 0, OPTION_FLAG, NULL,
         "do not wait for runs that others work on", &options.policy.no_wait},
        {"takeover", 0, OPTION_FLAG, NULL,
         "take unfinished runs whoever holds them", &options.policy.takeover},
        {"mixed", 0, OPTION_FLAG, NULL,
         "resume runs that were begun under other numerics", &options.mixed},
        {"detach", 0, OPTION_FLAG, NULL, "run in the background",
         &options.detach},
        {"verbose", 'v', OPTION_FLAG, NULL,
         "every line of every run, in a sweep, too", &options.verbose},
        {"quiet", 'q', OPTION_FLAG, NULL, "warnings and errors only",
         &options.quiet},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int exit_code = 0;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0)
        code = check_options(&options, &arguments, &err);
    if (options.quiet && log_level() > LOG_WARNING)
        log_set_level(LOG_WARNING);
    if (code == 0)
        code = options.detach
                   ? detach(argc, argv, &err)
                   : run_experiment(&options, &arguments, &exit_code, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? exit_code : report_error(code, &err);
}
