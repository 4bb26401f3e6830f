/* m2run prove: the same bits after kills, on other threads, in other jobs? */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/prove.h"
#include "cli/run_list.h"
#include "results/store.h"
#include "results/scratch.h"
#include "schedule/pool.h"
#include "schedule/signals.h"
#include "util/log.h"
#include "util/timefmt.h"

enum { MAX_RUNS = 4, DEFAULT_STEPS = 40, DEFAULT_KILLS = 8 };

struct prove_options {
    const char *results;
    int64_t steps, kills, seed;
    bool keep, json;
};

struct prove {
    const struct prove_options *options;
    struct resolved_sweep resolved;
    struct pass_run runs[MAX_RUNS];
    size_t n_runs;
    char *root; /* results folder */
    struct scratch scratch;
    char *record;
    double began_s;
};

/* ---- the short version --------------------------------------------------- */

/* Few steps, a row and so a trace for each, two evaluations on every eighth
 * window, ten checkpoints, and two seeds, so that there is something to work at
 * once.  What the user sets comes later, and wins. */
static int add_settings(const struct prove_options *options,
                        const struct arguments *arguments,
                        struct string_list *out, struct m2_error *err)
{
    const struct {
        const char *key;
        int64_t value;
    } settings[] = {
        {"train.steps", options->steps},
        {"train.schedule.warmup_steps", options->steps / 4},
        {"train.log_every", 1},
        {"train.eval_every", options->steps > 1 ? options->steps / 2 : 1},
        {"checkpoint.every", options->steps >= 10 ? options->steps / 10 : 1},
        {"checkpoint.keep_last", 1},
        {"checkpoint.keep_best", 1},
        {"data.eval_stride", 8},
        {"seeds", 2},
    };
    int code = 0;

    for (size_t i = 0; code == 0 && i < sizeof settings / sizeof settings[0];
         i++) {
        struct text text = {0};

        text_addf(&text, "%s=%" PRId64, settings[i].key, settings[i].value);
        code = string_list_add_owned(out, text_steal(&text, err), err);
    }
    for (size_t i = 1; code == 0 && i < arguments->n; i++)
        code = string_list_add(out, arguments->items[i], err);
    if (code == 0) /* the passes choose */
        code = string_list_add(out, "threads=0", err);
    return code;
}

/* The first run, the last one, and those evenly between. */
static void choose_runs(struct prove *prove)
{
    const struct sweep_record *record = &prove->resolved.record;

    prove->n_runs = record->n_runs < MAX_RUNS ? record->n_runs : MAX_RUNS;
    for (size_t i = 0; i < prove->n_runs; i++) {
        size_t index = prove->n_runs < 2
                           ? 0
                           : i * (record->n_runs - 1) / (prove->n_runs - 1);

        prove->runs[i] = (struct pass_run){
            .label = record->runs[index].label,
            .identity = record->runs[index].identity,
            .index = index,
        };
    }
}

static int prepare(struct prove *prove, const struct arguments *arguments,
                   struct m2_error *err)
{
    struct string_list settings = {0};
    struct text text = {0};
    const char *const *overrides;
    int code = add_settings(prove->options, arguments, &settings, err);

    overrides = (const char *const *)settings.items;
    if (code == 0)
        code = resolve_sweep(arguments->items[0], overrides, settings.count,
                             prove->root, &prove->resolved, err);
    if (code == 0)
        code = sweep_record_text(&prove->resolved.experiment,
                                 &prove->resolved.record, overrides,
                                 settings.count, &text, err);
    if (code == 0)
        code = scratch_open(prove->root, ".prove-", &prove->scratch, err);
    if (code == 0)
        code =
            sweep_record_write(prove->scratch.path, &text, &prove->record, err);
    if (code == 0)
        choose_runs(prove);
    text_free(&text);
    string_list_free(&settings);
    return code;
}

/* ---- proving ------------------------------------------------------------- */

static int work(struct prove *prove, struct m2_error *err)
{
    const struct prove_options *options = prove->options;
    struct prove_report report = {
        .name = prove->resolved.experiment.config.name,
        .folder = options->keep ? prove->scratch.path : NULL,
        .runs = prove->runs,
        .n_runs = prove->n_runs,
        .of_runs = prove->resolved.record.n_runs,
        .seed = options->seed,
        .json = options->json,
        .began_s = prove->began_s,
    };
    const struct proof_request request = {
        .scratch = prove->scratch.path,
        .record = prove->record,
        .name = report.name,
        .runs = prove->runs,
        .n_runs = prove->n_runs,
        .kills = (size_t)options->kills,
        .seed = (uint64_t)options->seed,
        .cores = cores_allowed(),
        .tell = prove_tell_pass,
        .context = &report,
    };
    struct proof proof;
    int code;

    log_info("%s: %zu of %zu runs, %" PRId64
             " steps each, kills by --seed %" PRId64,
             report.name, report.n_runs, report.of_runs, options->steps,
             options->seed);
    code = proof_work(&request, &proof, err);
    if (code == 0)
        code = prove_print(&report, &proof, err);
    if (code == 0 && proof.label != NULL)
        code = M2_E_DIFFERS;
    if (options->keep)
        log_info("kept in %s", prove->scratch.path);
    proof_free(&proof);
    return code;
}

static int prove_experiment(const struct prove_options *options,
                            const struct arguments *arguments,
                            struct m2_error *err)
{
    struct prove prove = {.options = options, .began_s = time_monotonic()};
    struct m2_error cause;
    int code;

    prove.root = store_root(options->results);
    if (prove.root == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    signals_for_parent();
    code = prepare(&prove, arguments, err);
    if (code == 0)
        code = work(&prove, err);
    if (scratch_close(&prove.scratch, options->keep, &cause) != 0)
        log_warning("%s", cause.text);
    resolved_sweep_free(&prove.resolved);
    free(prove.record);
    free(prove.root);
    return code;
}

/* ---- the command --------------------------------------------------------- */

static int check_options(const struct prove_options *options,
                         const struct arguments *arguments,
                         struct m2_error *err)
{
    if (arguments->n == 0)
        return m2_fail(err, M2_E_USAGE, "prove: which experiment file?");
    if (options->steps < 4 || options->steps > 1000000)
        return m2_fail(err, M2_E_USAGE,
                       "prove: --steps is 4 to 1000000: fewer leave nothing "
                       "between the first row and the last");
    if (options->kills < 1 || options->kills > 1000)
        return m2_fail(err, M2_E_USAGE, "prove: --kills is 1 to 1000");
    if (options->seed < 0)
        return m2_fail(err, M2_E_USAGE, "prove: --seed cannot be negative");
    return 0;
}

int command_prove(int argc, char **argv)
{
    static const struct command_help help = {
        "prove", "FILE [KEY=VALUE ...]",
        "Do the bits of an experiment stay the same, here, on this machine and\n"
        "file system? Works up to four of its runs, cut to a few steps and two\n"
        "seeds, four times: straight; with workers that are killed at random\n"
        "moments and started again; all at once on one thread each; two at a\n"
        "time on three threads each. Then every byte is compared. Ends with 0\n"
        "when all agree, 7 and the first difference when they do not.",
        "  m2run prove experiments/quickstart.yaml\n"
        "  m2run prove exp.yaml device=cuda --steps 200 --kills 30"};
    struct prove_options options = {
        .steps = DEFAULT_STEPS,
        .kills = DEFAULT_KILLS,
        .seed = time_now() / 1000 % 1000000,
    };
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR",
         "results folder, below which it works [results]", &options.results},
        {"steps", 0, OPTION_INT, "N", "steps of each run [40]", &options.steps},
        {"kills", 0, OPTION_INT, "N", "workers to be killed [8]",
         &options.kills},
        {"seed", 0, OPTION_INT, "N", "of the kills [drawn, and printed]",
         &options.seed},
        {"keep", 0, OPTION_FLAG, NULL, "keep what was computed", &options.keep},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0)
        code = check_options(&options, &arguments, &err);
    if (code == 0)
        code = prove_experiment(&options, &arguments, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    if (code == M2_E_DIFFERS) /* which has been printed */
        return exit_code_of(code);
    return code == 0 ? 0 : report_error(code, &err);
}
