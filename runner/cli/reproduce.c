/* m2run reproduce: a run once more, and whether every bit is the same. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/reproduce_report.h"
#include "results/store.h"
#include "schedule/pool.h"
#include "train/fact_sheet.h"
#include "util/file.h"
#include "util/log.h"
#include "util/number.h"

#define ALL_STEPS INT64_MAX

struct reproduce_options {
    const char *results, *into, *tolerance_text;
    double tolerance;
    int64_t steps;
    bool keep, json, quiet;
};

/* What a repetition is made of. */
struct reproduction {
    const struct reproduce_options *options;
    struct recorded_run run;
    struct fact_differences facts;
    struct rerun rerun;
    struct difference difference;
    int threads;
    int64_t cut_after; /* last step that is computed; 0: to the end */
    int exit_code;
};

/* ---- before -------------------------------------------------------------- */

/* A look on another device is a look at numbers; another index of the same
 * backend is none.  `now` is the backend of this process. */
static void warn_device(const struct reproduction *job, const char *now)
{
    const char *recorded =
        json_string_value(run_value(&job->run.entry, "backend", "name"));
    const char *device = job->run.experiment.config.device;

    if (recorded != NULL && now != NULL && strcmp(recorded, now) != 0 &&
        job->options->tolerance == 0)
        log_warning("device %s: the run was computed on %s, other bits are to "
                    "be expected; --tolerance R compares numbers",
                    device, recorded);
}

/* What is not as it was when the run was made, before its hours are spent. */
static int tell_facts(struct reproduction *job, struct m2_error *err)
{
    json_t *now = NULL;
    struct text text = {0};
    int code =
        fact_sheet_now(&job->run.experiment.config, job->threads, &now, err);

    if (code == 0)
        code = facts_compare(job->run.entry.record, now, &job->facts, err);
    if (code != 0) {
        json_decref(now);
        return code;
    }
    text_add(&text, "changed since the run, and can change its bits:\n");
    facts_write(&job->facts, "  ", &text);
    if (facts_that_change_bits(&job->facts) > 0)
        log_info("%.*s", (int)text.length - 1, text_string(&text));
    else
        log_info("nothing recorded that can change a bit has changed since the "
                 "run");
    text_free(&text);
    if (json_is_true(run_value(&job->run.entry, NULL, "mixed")))
        log_info("the run was resumed under other numerics (--mixed): it is "
                 "repeated under those of this process alone");
    warn_device(job, json_string_value(json_object_get(
                         json_object_get(now, "backend"), "name")));
    json_decref(now);
    return 0;
}

/* Up to which step the new run has to go. */
static int choose_end(struct reproduction *job, struct m2_error *err)
{
    int64_t steps = job->options->steps;
    const json_t *done = run_value(&job->run.entry, NULL, "step");

    job->cut_after = job->run.last_step;
    if (steps < job->run.first_row)
        return m2_fail(err, M2_E_USAGE,
                       "--steps %" PRId64 ": nothing is recorded up to there: "
                       "the first row of metrics.csv is that of step %" PRId64,
                       steps, job->run.first_row);
    if (steps == ALL_STEPS || (job->cut_after > 0 && steps >= job->cut_after))
        return 0;
    if (job->cut_after > 0 || !json_is_integer(done) ||
        steps < json_integer_value(done))
        job->cut_after = steps;
    return 0;
}

/* ---- the new run --------------------------------------------------------- */

static int work(struct reproduction *job, struct m2_error *err)
{
    struct text record = {0};
    char *label = NULL;
    int code = recorded_run_record(&job->run, &record, &label, err);

    if (code == 0) {
        const struct rerun_request request = {
            .run = job->run.entry.path,
            .into = job->options->into,
            .record = text_string(&record),
            .name = job->run.experiment.config.name,
            .label = label,
            .identity = job->run.new_identity,
            .threads = job->threads,
            .cut_after = job->cut_after,
            .quiet = log_level() < LOG_INFO,
        };

        code = rerun_work(&request, &job->rerun, err);
    }
    text_free(&record);
    free(label);
    return code;
}

static int compare(struct reproduction *job, int64_t last_step,
                   struct m2_error *err)
{
    const struct difference_request request = {
        .recorded = job->run.entry.path,
        .again = job->rerun.dir,
        .traces = job->rerun.traces,
        .identity = job->run.identity,
        .last_step = last_step,
        .tolerance = job->options->tolerance,
    };

    return difference_find(&request, &job->difference, err);
}

/* ---- after --------------------------------------------------------------- */

static int print_report(const struct reproduce_report *report, bool json,
                        struct m2_error *err)
{
    struct text text = {0};
    int code;

    if (json)
        return print_json(reproduce_json(report), err);
    reproduce_write(report, &text);
    code = text_check(&text, err);
    if (code == 0)
        fputs(text_string(&text), stdout);
    text_free(&text);
    return code;
}

/* What is the same need not be kept twice; what differs is to be looked at. */
static int conclude(struct reproduction *job, struct m2_error *err)
{
    struct reproduce_report report = {
        .run = &job->run,
        .rerun = &job->rerun,
        .difference = &job->difference,
        .facts = &job->facts,
        .tolerance = job->options->tolerance,
        .last_step = job->cut_after,
        .kept = job->difference.differs || job->options->keep,
    };
    int code = print_report(&report, job->options->json, err);

    job->exit_code =
        exit_code_of(job->difference.differs ? M2_E_DIFFERS : M2_OK);
    if (report.kept)
        log_info("the new run is %s", job->rerun.path);
    else if (code == 0)
        code = file_remove_tree(job->rerun.path, M2_E_RESULTS, err);
    return code;
}

/* Steps of an unfinished run that its record knows of. */
static int64_t steps_so_far(const char *dir)
{
    struct run_entry entry;
    int64_t step = 0;

    if (dir != NULL && run_entry_load(dir, &entry, NULL) == 0) {
        step = json_integer_value(run_value(&entry, NULL, "step"));
        run_entry_free(&entry);
    }
    return step;
}

static int end_stopped(struct reproduction *job, struct m2_error *err)
{
    int64_t step = steps_so_far(job->rerun.dir);
    int code = 0;

    job->exit_code = exit_code_of(M2_E_STOPPED);
    if (step < 1) {
        log_info("stopped before the first step");
        return 0;
    }
    code = compare(job, step, err);
    if (code == 0)
        log_info("stopped at step %" PRId64 ", %s so far (%zu rows): the same "
                 "command continues in %s",
                 step, job->difference.differs ? "different" : "identical",
                 job->difference.n_rows, job->rerun.path);
    return code;
}

/* A crash or a lack of memory says nothing of the recorded run. */
static int end_failed(const struct reproduction *job, struct m2_error *err)
{
    return m2_fail(
        err, M2_E_FAILED, "the new run ended as %s: %.1000s; it is %s",
        job->rerun.state, job->rerun.reason != NULL ? job->rerun.reason : "",
        job->rerun.path);
}

static int end(struct reproduction *job, struct m2_error *err)
{
    int code;

    switch (job->rerun.end) {
    case RERUN_STOPPED:
        return end_stopped(job, err);
    case RERUN_ERROR: /* stderr has been told */
        job->exit_code = exit_code_of(job->rerun.code);
        return 0;
    default:
        break;
    }
    if (strcmp(job->rerun.state, "failed") == 0 ||
        strcmp(job->rerun.state, "oom") == 0)
        return end_failed(job, err);
    code = compare(job, job->cut_after, err);
    return code != 0 ? code : conclude(job, err);
}

/* ---- the command --------------------------------------------------------- */

/* config.yaml or run.json are not those of the run: nothing that is computed
 * from them could prove it. */
static int end_altered(struct reproduction *job, struct m2_error *err)
{
    const struct reproduce_report report = {.run = &job->run};

    job->exit_code = exit_code_of(M2_E_DIFFERS);
    return print_report(&report, job->options->json, err);
}

static int reproduce(struct reproduction *job, const char *path,
                     const struct arguments *arguments, struct m2_error *err)
{
    int64_t threads;
    int code = recorded_run_open(path, arguments->items + 1, arguments->n - 1,
                                 &job->run, err);

    if (code == 0 && job->run.altered.length > 0)
        return end_altered(job, err);
    if (code != 0)
        return code;
    threads = job->run.experiment.config.threads;
    job->threads = threads > 0 ? (int)threads : cores_allowed();
    code = choose_end(job, err);
    if (code == 0)
        code = tell_facts(job, err);
    if (code == 0)
        code = work(job, err);
    return code != 0 ? code : end(job, err);
}

static int find_and_reproduce(const struct reproduce_options *options,
                              const struct arguments *arguments, int *exit_out,
                              struct m2_error *err)
{
    struct reproduction job = {.options = options};
    char *root = store_root(options->results), *path = NULL;
    int code = root == NULL
                   ? m2_fail(err, M2_E_MEMORY, "out of memory")
                   : store_resolve(root, arguments->items[0], &path, err);

    if (code == 0) {
        code = reproduce(&job, path, arguments, err);
        recorded_run_free(&job.run);
    }
    difference_free(&job.difference);
    fact_differences_free(&job.facts);
    rerun_free(&job.rerun);
    *exit_out = job.exit_code;
    free(path);
    free(root);
    return code;
}

static int check_options(struct reproduce_options *options,
                         const struct arguments *arguments,
                         struct m2_error *err)
{
    if (arguments->n == 0)
        return m2_fail(err, M2_E_USAGE, "reproduce: which run?");
    if (options->steps < 1)
        return m2_fail(err, M2_E_USAGE, "--steps: expected at least 1");
    if (options->tolerance_text == NULL)
        return 0;
    if (!number_parse_double(options->tolerance_text, &options->tolerance) ||
        options->tolerance <= 0)
        return m2_fail(err, M2_E_USAGE,
                       "--tolerance: '%s', expected a number above 0",
                       options->tolerance_text);
    return 0;
}

int command_reproduce(int argc, char **argv)
{
    static const struct command_help help = {
        "reproduce", "RUN [KEY=VALUE ...]",
        "Trains a run again from its config.yaml, into RUN.repro-K, and compares\n"
        "every number and every parameter, bit by bit. What was recorded of\n"
        "machine, build and data and has changed since is told first. A record\n"
        "that was altered is told from a computation that differs. Data that\n"
        "were moved are found by data.path=, and known by their SHA-256; other\n"
        "keys: model.init_from, device, threads. Exit code 0: identical,\n"
        "7: different. The new run is removed when nothing differs.",
        "  m2run reproduce @last\n"
        "  m2run reproduce /mnt/copy/lr-0.001_s0-3fa9c1d2e4b5 data.path=bars.csv\n"
        "  m2run reproduce 3fa9c1d2 --tolerance 1e-3 device=ref --steps 20"};
    struct reproduce_options options = {.steps = ALL_STEPS};
    const struct option_spec specs[] = {
        {"tolerance", 0, OPTION_TEXT, "R",
         "relative difference that is accepted [0: bits]",
         &options.tolerance_text},
        {"steps", 0, OPTION_INT, "N", "only the first N steps", &options.steps},
        {"keep", 0, OPTION_FLAG, NULL, "keep the new run in any case",
         &options.keep},
        {"into", 0, OPTION_TEXT, "DIR",
         "folder for the new run [beside the run]", &options.into},
        {"json", 0, OPTION_FLAG, NULL, "the result as JSON", &options.json},
        {"results", 0, OPTION_TEXT, "DIR", "results folder", &options.results},
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
        code = find_and_reproduce(&options, &arguments, &exit_code, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? exit_code : report_error(code, &err);
}
