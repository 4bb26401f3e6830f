/* m2run prove: the same bits after kills, on other threads, in other jobs? */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/run_list.h"
#include "prove/proof.h"
#include "results/store.h"
#include "schedule/pool.h"
#include "schedule/signals.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"
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
    char *root;    /* results folder */
    char *scratch; /* below it */
    char *record;
    double began_s;
};

/* ---- the short version --------------------------------------------------- */

/* Few steps, a row and so a trace for each, two evaluations, ten checkpoints,
 * and two seeds, so that there is something to work at once.  What the user
 * sets comes later, and wins. */
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
        {"seeds", 2},
        {"threads", 0},
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

static int make_scratch(struct prove *prove, struct m2_error *err)
{
    int code = file_make_dirs(prove->root, M2_E_RESULTS, err);

    if (code == 0)
        prove->scratch = path_join(prove->root, ".prove-XXXXXX", err);
    if (code == 0 && prove->scratch == NULL)
        code = M2_E_MEMORY;
    if (code == 0 && mkdtemp(prove->scratch) == NULL) {
        code = m2_fail(err, M2_E_RESULTS, "%s: cannot make a folder in it",
                       prove->root);
        free(prove->scratch);
        prove->scratch = NULL;
    }
    return code;
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
        code = make_scratch(prove, err);
    if (code == 0)
        code = sweep_record_write(prove->scratch, &text, &prove->record, err);
    if (code == 0)
        choose_runs(prove);
    text_free(&text);
    string_list_free(&settings);
    return code;
}

/* ---- telling ------------------------------------------------------------- */

static void tell_pass(void *context, const struct proof_pass *pass)
{
    const struct prove *prove = context;
    char seconds[NUMBER_TEXT_SIZE];
    struct text text = {0};

    text_addf(&text, "%-9s %zu run%s, %d at a time on %d thread%s each, %s",
              pass->name, prove->n_runs, prove->n_runs == 1 ? "" : "s",
              pass->jobs, pass->threads, pass->threads == 1 ? "" : "s",
              number_print_duration(pass->seconds, seconds));
    if (pass->kills > 0)
        text_addf(&text,
                  "; %zu kill%s with work left, %zu of them midway; %zu "
                  "worker%s went on from a checkpoint",
                  pass->kills, pass->kills == 1 ? "" : "s", pass->midway,
                  pass->resumed, pass->resumed == 1 ? "" : "s");
    if (pass->compared)
        text_add(&text, pass->differs ? ": different" : ": the same bytes");
    if (prove->options->json)
        log_info("%s", text_string(&text));
    else
        printf("%s\n", text_string(&text));
    fflush(stdout);
    text_free(&text);
}

static void print_proof(const struct prove *prove, const struct proof *proof)
{
    const struct proof_pass *last = &proof->passes[proof->n_passes - 1];
    char seconds[NUMBER_TEXT_SIZE], bytes[NUMBER_TEXT_SIZE];

    if (proof->label != NULL) {
        printf("different: %s of %s, %s against straight\n%s",
               proof->file != NULL ? proof->file : "the end", proof->label,
               last->name, text_string(&proof->differences));
        return;
    }
    printf("all bytes agree: metrics.csv, checkpoints and scores of %zu "
           "run%s of %" PRId64 " steps, %zu times; %zu "
           "files, %s, %zu kills, %s\n",
           prove->n_runs, prove->n_runs == 1 ? "" : "s", proof->steps,
           proof->n_passes, proof->n_files,
           number_print_bytes((uint64_t)proof->bytes, bytes),
           proof->passes[PROOF_KILLED].kills,
           number_print_duration(time_monotonic() - prove->began_s, seconds));
}

static json_t *pass_json(const struct proof_pass *pass)
{
    struct json_builder object = json_build();

    json_add_text(&object, "pass", pass->name);
    json_add_integer(&object, "jobs", pass->jobs);
    json_add_integer(&object, "threads", pass->threads);
    json_add_integer(&object, "kills", (int64_t)pass->kills);
    json_add_integer(&object, "midway", (int64_t)pass->midway);
    json_add_integer(&object, "resumed", (int64_t)pass->resumed);
    json_add(&object, "seconds", json_number_or_null(pass->seconds));
    json_add(&object, "agrees",
             pass->compared ? json_boolean(!pass->differs) : json_null());
    return json_built(&object);
}

static json_t *passes_json(const struct proof *proof)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < proof->n_passes; i++)
        ok = json_append(list, pass_json(&proof->passes[i]));
    return ok ? list : json_drop(list);
}

static json_t *runs_json(const struct prove *prove)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < prove->n_runs; i++)
        ok = json_append(list, json_any_text(prove->runs[i].label));
    return ok ? list : json_drop(list);
}

static json_t *difference_json(const struct proof *proof)
{
    struct json_builder object = json_build();

    json_add_text(&object, "pass", proof->passes[proof->n_passes - 1].name);
    json_add_text(&object, "run", proof->label);
    json_add_text(&object, "file", proof->file);
    json_add_text(&object, "what", text_string(&proof->differences));
    return json_built(&object);
}

static int print_proof_json(const struct prove *prove,
                            const struct proof *proof, struct m2_error *err)
{
    struct json_builder object = json_build();

    json_add_text(&object, "name", prove->resolved.experiment.config.name);
    json_add(&object, "agrees", json_boolean(proof->label == NULL));
    json_add(&object, "runs", runs_json(prove));
    json_add_integer(&object, "of_runs",
                     (int64_t)prove->resolved.record.n_runs);
    json_add_integer(&object, "steps", proof->steps);
    json_add_integer(&object, "seed", prove->options->seed);
    json_add(&object, "passes", passes_json(proof));
    json_add_integer(&object, "files", (int64_t)proof->n_files);
    json_add_integer(&object, "bytes", proof->bytes);
    json_add_integer(&object, "rows", (int64_t)proof->n_rows);
    json_add_integer(&object, "tensors", (int64_t)proof->n_tensors);
    json_add(&object, "seconds",
             json_number_or_null(time_monotonic() - prove->began_s));
    json_add(&object, "difference",
             proof->label != NULL ? difference_json(proof) : json_null());
    if (prove->options->keep)
        json_add_text(&object, "folder", prove->scratch);
    return print_json(json_built(&object), err);
}

/* ---- proving ------------------------------------------------------------- */

static int work(struct prove *prove, struct m2_error *err)
{
    const struct proof_request request = {
        .scratch = prove->scratch,
        .record = prove->record,
        .name = prove->resolved.experiment.config.name,
        .runs = prove->runs,
        .n_runs = prove->n_runs,
        .kills = (size_t)prove->options->kills,
        .seed = (uint64_t)prove->options->seed,
        .cores = cores_allowed(),
        .tell = tell_pass,
        .context = prove,
    };
    struct proof proof;
    int code;

    log_info("%s: %zu of %zu runs, %" PRId64 " steps each, kills by --seed "
             "%" PRId64,
             request.name, prove->n_runs, prove->resolved.record.n_runs,
             prove->options->steps, prove->options->seed);
    code = proof_work(&request, &proof, err);
    if (code == 0 && prove->options->json)
        code = print_proof_json(prove, &proof, err);
    else if (code == 0)
        print_proof(prove, &proof);
    if (code == 0 && proof.label != NULL)
        code = M2_E_DIFFERS;
    proof_free(&proof);
    return code;
}

static int remove_scratch(const struct prove *prove, bool had_root)
{
    int code = 0;

    if (prove->scratch != NULL && prove->options->keep)
        log_info("kept in %s", prove->scratch);
    else if (prove->scratch != NULL)
        code = file_remove_tree(prove->scratch, M2_E_RESULTS, NULL);
    if (!had_root)
        rmdir(prove->root); /* only when nothing else is in it */
    return code;
}

static int prove_experiment(const struct prove_options *options,
                            const struct arguments *arguments,
                            struct m2_error *err)
{
    struct prove prove = {.options = options, .began_s = time_monotonic()};
    bool had_root;
    int code;

    prove.root = store_root(options->results);
    if (prove.root == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    had_root = file_is_dir(prove.root);
    signals_for_parent();
    code = prepare(&prove, arguments, err);
    if (code == 0)
        code = work(&prove, err);
    if (remove_scratch(&prove, had_root) != 0)
        log_warning("%s could not be removed", prove.scratch);
    resolved_sweep_free(&prove.resolved);
    free(prove.record);
    free(prove.scratch);
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
