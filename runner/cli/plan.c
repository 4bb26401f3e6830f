/* m2run plan: the runs of an experiment, and what each will take. */
#include "cli/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/run.h"
#include "schedule/pool.h"
#include "train/resume.h"
#include "util/log.h"
#include "util/memory.h"

void plan_run_name(const struct plan *plan, size_t i, char out[RUN_NAME_SIZE])
{
    const struct record_run *run = &plan->resolved.record.runs[i];

    run_name_print(run->label, run->identity, out);
}

int plan_threads(const struct plan *plan, const struct config *config)
{
    return config->threads > 0 ? (int)config->threads : plan->threads;
}

/* ---- states ------------------------------------------------------------- */

static int compare_hashes(const void *left, const void *right)
{
    const struct run_entry *const *a = left, *const *b = right;

    return strcmp(run_name_hash((*a)->run), run_name_hash((*b)->run));
}

static int compare_identity(const void *identity, const void *entry)
{
    const struct run_entry *const *found = entry;

    return strncmp(identity, run_name_hash((*found)->run), RUN_HASH_LENGTH);
}

/* Whether `run` would work each: what is published is skipped. */
static int find_states(struct plan *plan, struct m2_error *err)
{
    struct run_list *list = &plan->published;
    const struct run_entry **by_hash =
        memory_zeroed(list->n, sizeof *by_hash, err);

    if (by_hash == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < list->n; i++)
        by_hash[i] = &list->entries[i];
    if (list->n > 0)
        qsort(by_hash, list->n, sizeof *by_hash, compare_hashes);
    for (size_t i = 0; i < plan->resolved.record.n_runs; i++) {
        const struct run_entry *const *found =
            list->n == 0
                ? NULL
                : bsearch(plan->resolved.record.runs[i].identity, by_hash,
                          list->n, sizeof *by_hash, compare_identity);
        struct planned_run *run = &plan->runs[i];

        run->state = found != NULL ? (*found)->state : "pending";
        run->action = policy_action(&plan->options->policy, run->state);
        run->is_to_do = found == NULL || !(*found)->published ||
                        run->action == ACTION_AGAIN;
        plan->n_to_do += run->is_to_do;
    }
    free(by_hash);
    return 0;
}

/* ---- what each takes ---------------------------------------------------- */

/* Accelerators that the runs to do may use. */
static int find_slots(struct plan *plan, struct m2_error *err)
{
    size_t n = plan->resolved.record.n_runs;
    struct pool_task *tasks = memory_zeroed(n, sizeof *tasks, err);
    int code;

    if (tasks == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        tasks[i].state = plan->runs[i].is_to_do ? TASK_WAITING : TASK_SKIPPED;
    code = run_devices_find(&plan->resolved, tasks, &plan->slots, err);
    free(tasks);
    return code;
}

/* As `run` chooses them. */
static void choose_jobs(struct plan *plan)
{
    int cores = cores_allowed();
    int64_t jobs = plan->options->jobs > 0 ? plan->options->jobs : cores;

    if (jobs > POOL_MAX_JOBS)
        jobs = POOL_MAX_JOBS;
    if ((uint64_t)jobs > plan->n_to_do)
        jobs = (int64_t)plan->n_to_do;
    jobs = run_devices_jobs(plan->slots, plan->options->jobs, (int)jobs);
    plan->jobs = jobs > 0 ? (int)jobs : 1;
    plan->threads = cores / plan->jobs > 0 ? cores / plan->jobs : 1;
}

/* Parameters and both moments, in each checkpoint that is kept; rows and texts
 * beside them. */
static uint64_t disk_bytes(const struct run_plan *plan,
                           const struct config *config)
{
    enum { ROW_BYTES = 320, TEXT_BYTES = 48 << 10 };
    int64_t every = config->train.eval_every > 0 ? config->train.eval_every
                                                 : plan->steps_per_epoch;
    int64_t log_every = config->train.log_every;
    uint64_t n = (uint64_t)(config->checkpoint.keep_last > 0) +
                 (uint64_t)(config->checkpoint.keep_best > 0);
    int64_t rows = every > 0 ? plan->steps / every + 1 : 1;

    if (log_every > 0)
        rows += plan->steps / log_every;
    return n * 3 * plan->model.parameter_bytes + (uint64_t)rows * ROW_BYTES +
           TEXT_BYTES;
}

/* Which of several runs is to blame. */
static int name_run(const struct plan *plan, size_t i, int code,
                    struct m2_error *err)
{
    struct m2_error cause = *err;

    if (plan->resolved.sweep.n_runs == 1)
        return code;
    return m2_fail(err, code, "%s: %.*s", plan->resolved.record.runs[i].label,
                   (int)(sizeof cause.text - RUN_NAME_SIZE), cause.text);
}

/* A worker of `run` looks at the same checkpoints before it goes on. */
static int check_resume(struct plan *plan, size_t i, const char *numerics,
                        struct m2_error *err)
{
    const struct config *config = &plan->resolved.sweep.runs[i].config;
    const struct record_run *record = &plan->resolved.record.runs[i];
    const struct run_place place = {plan->root, config->name, record->label,
                                    record->identity};
    const struct resume_request request = {
        .identity = record->identity,
        .numerics = numerics,
        .mixed = plan->options->mixed,
        .needs_best = config->checkpoint.keep_best > 0,
    };
    char *active = store_active_path(&place);
    struct m2_error cause;
    int code = active == NULL ? m2_fail(&cause, M2_E_MEMORY, "out of memory")
                              : resume_check(&request, active, &cause);

    free(active);
    if (code != M2_E_RESULTS)
        return code == 0 ? 0 : m2_fail(err, code, "%s", cause.text);
    log_warning("%s", cause.text);
    plan->runs[i].action = ACTION_REFUSE;
    plan->n_refused++;
    return 0;
}

static int plan_runs(struct plan *plan, struct m2_error *err)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    struct planner *planner = NULL;
    int code = planner_create(&planner, err);

    for (size_t i = 0; code == 0 && i < sweep->n_runs; i++) {
        const struct config *config = &sweep->runs[i].config;
        struct planned_run *run = &plan->runs[i];

        code = planner_plan(planner, config, plan_threads(plan, config),
                            &run->plan, err);
        if (code != 0)
            code = name_run(plan, i, code, err);
        else if (run->action == ACTION_CONTINUE)
            code = check_resume(plan, i, planner_numerics(planner), err);
        run->disk_bytes = disk_bytes(&run->plan, config);
        run->seconds = NAN;
    }
    planner_free(planner);
    return code;
}

static int make_plan(struct plan *plan, struct m2_error *err)
{
    size_t n = plan->resolved.sweep.n_runs;
    int code = run_list_load(plan->root, plan->resolved.experiment.config.name,
                             &plan->published, err);

    plan->runs = memory_zeroed(n, sizeof *plan->runs, err);
    if (plan->runs == NULL)
        return M2_E_MEMORY;
    if (code == 0)
        code = find_states(plan, err);
    if (code == 0)
        code = find_slots(plan, err);
    if (code != 0)
        return code;
    choose_jobs(plan);
    plan->total_s = plan->wall_s = NAN;
    code = plan_runs(plan, err);
    if (code == 0)
        code = plan_fit(plan, err);
    if (code == 0 && plan->options->time)
        code = plan_time(plan, err);
    return code;
}

/* ---- the command ------------------------------------------------------- */

static int plan_experiment(const struct plan_options *options,
                           const struct arguments *arguments,
                           struct m2_error *err)
{
    struct plan plan = {.options = options};
    char *root = store_root(options->results);
    int code = root == NULL
                   ? m2_fail(err, M2_E_MEMORY, "out of memory")
                   : resolve_sweep(arguments->items[0], arguments->items + 1,
                                   arguments->n - 1, root, &plan.resolved, err);

    if (root == NULL)
        return code;
    plan.root = root;
    if (code == 0)
        warn_of_stale_runs(root, plan.resolved.experiment.config.name);
    if (code == 0)
        code = make_plan(&plan, err);
    if (code == 0)
        code = plan_print(&plan, err);
    if (code == 0 && plan.problems.count > 0)
        code = m2_fail(err, M2_E_CONFIG, "this does not fit: %s",
                       plan.problems.items[0]);
    string_list_free(&plan.problems);
    free(plan.runs);
    run_list_free(&plan.published);
    resolved_sweep_free(&plan.resolved);
    free(root);
    return code;
}

static int check_options(struct plan_options *options,
                         const struct arguments *arguments,
                         struct m2_error *err)
{
    if (arguments->n == 0)
        return m2_fail(err, M2_E_USAGE, "plan: which experiment file?");
    if (options->jobs < 0)
        return m2_fail(err, M2_E_USAGE, "plan: --jobs cannot be negative");
    if (options->json && options->csv)
        return m2_fail(err, M2_E_USAGE, "plan: --json or --csv, not both");
    return options->retry == NULL
               ? 0
               : policy_parse_retry(options->retry, &options->policy.retry,
                                    err);
}

int command_plan(int argc, char **argv)
{
    static const struct command_help help = {
        "plan", "FILE [KEY=VALUE ...]",
        "Lists the runs that `m2run run` would work, with their states, what\n"
        "it would do with each (docs/results.md has the table of rules), and\n"
        "what each takes: windows, steps, parameters, memory on the device and\n"
        "of the process; and whether memory and disk suffice: 3 is returned\n"
        "where they do not. The data are loaded and the device is opened, but\n"
        "nothing is written. With --time, a few steps of every shape that is\n"
        "to do are measured in processes of their own, as many at once as\n"
        "there will be jobs, for an estimate of the hours.",
        "  m2run plan experiments/quickstart.yaml --time\n"
        "  m2run plan exp.yaml d_model=256,512 -j 2 --json"};
    struct plan_options options = {0};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder [results]",
         &options.results},
        {"jobs", 'j', OPTION_INT, "N", "runs at once [cores, or one per GPU]",
         &options.jobs},
        {"retry", 0, OPTION_TEXT, "STATES",
         "as of run: failed, diverged, oom, all", &options.retry},
        {"fresh", 0, OPTION_FLAG, NULL, "as of run: everything again",
         &options.policy.fresh},
        {"mixed", 0, OPTION_FLAG, NULL,
         "as of run: resume under other numerics", &options.mixed},
        {"time", 0, OPTION_FLAG, NULL, "measure steps, estimate hours",
         &options.time},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {"csv", 0, OPTION_FLAG, NULL, "the runs as CSV", &options.csv},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0)
        code = check_options(&options, &arguments, &err);
    if (code == 0)
        code = plan_experiment(&options, &arguments, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
