/* m2run predict: what a trained run says about data, old or arriving. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "predict/batch_predict.h"
#include "predict/predict_stream.h"
#include "results/store.h"
#include "schedule/pool.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"

struct predict_options {
    const char *results, *split, *checkpoint, *output;
    bool live, stream, unbounded, latency, json;
};

/* What is open while a command predicts. */
struct predict_job {
    const struct predict_options *options;
    bool new_data; /* data.path is overridden */
    struct predictor_request request;
    FILE *out;
};

static int write_text(void *context, const struct text *text,
                      struct m2_error *err)
{
    FILE *out = context;

    if (fwrite(text_string(text), 1, text->length, out) == text->length)
        return 0;
    return m2_fail(err, M2_E_FAILED, "writing predictions: %s",
                   strerror(errno));
}

/* A part by its name; M2_E_USAGE when there is none. */
static int find_part(const char *name, enum window_choice *out,
                     struct m2_error *err)
{
    static const char *const names[] = {"train", "val", "test", "all"};

    for (int i = 0; i <= WINDOWS_ALL; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum window_choice)i;
            return 0;
        }
    return m2_fail(err, M2_E_USAGE,
                   "--split: '%s', expected train, val, test or all", name);
}

static enum window_choice choose_windows(const struct predict_job *job,
                                         const struct dataset *dataset)
{
    enum window_choice choice = WINDOWS_ALL;

    if (job->options->live)
        return WINDOWS_LIVE;
    if (job->options->split != NULL)
        find_part(job->options->split, &choice, NULL); /* checked before */
    else if (!job->new_data)
        choice = windows_default(dataset);
    return choice;
}

static int predict_windows_of(const struct predict_job *job,
                              struct m2_error *err)
{
    struct session session;
    struct batch_predict_request request = {
        .session = &session,
        .json = job->options->json,
        .write = write_text,
        .context = job->out,
    };
    int code = predictor_open(&job->request, &session, err);

    if (code != 0)
        return code;
    request.windows = choose_windows(job, &session.dataset);
    code = batch_predict(&request, err);
    session_close(&session);
    return code;
}

static void tell_latency(const struct latency *latency)
{
    if (latency->n == 0)
        log_info("no prediction: no row ended a whole window");
    else
        log_info("%llu predictions: p50 %.2f us, p99 %.2f us, max %.2f us",
                 (unsigned long long)latency->n,
                 latency_quantile(latency, 0.5) * 1e6,
                 latency_quantile(latency, 0.99) * 1e6, latency->max_s * 1e6);
}

static int predict_rows(const struct predict_job *job, struct m2_error *err)
{
    struct predict_stream_request request = {
        .run = job->request,
        .in = stdin,
        .in_name = "stdin",
        .out = job->out,
        .json = job->options->json,
        .unbounded = job->options->unbounded,
    };
    const struct latency *latency;
    int code;

    if (job->options->latency) {
        request.latency = memory_zeroed(1, sizeof *request.latency, err);
        if (request.latency == NULL)
            return M2_E_MEMORY;
    }
    latency = request.latency;
    code = predict_stream(&request, err);
    if (code == 0 && latency != NULL)
        tell_latency(latency);
    free(request.latency);
    return code;
}

/* Writes to the file of -o, or to stdout. */
static int predict_to(struct predict_job *job, struct m2_error *err)
{
    const char *path = job->options->output;
    int code;

    job->out = path != NULL ? fopen(path, "w") : stdout;
    if (job->out == NULL)
        return m2_fail(err, M2_E_USAGE, "%s: %s", path, strerror(errno));
    code = job->options->stream ? predict_rows(job, err)
                                : predict_windows_of(job, err);
    if (path != NULL && fclose(job->out) != 0 && code == 0)
        code = m2_fail(err, M2_E_FAILED, "%s: %s", path, strerror(errno));
    return code;
}

static bool overrides_path(const char *const *overrides, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(overrides[i], "=");

        if ((length == 9 && strncmp(overrides[i], "data.path", 9) == 0) ||
            (length == 4 && strncmp(overrides[i], "path", 4) == 0))
            return true;
    }
    return false;
}

static int predict_run(const struct predict_options *options, const char *run,
                       const char *const *overrides, size_t n,
                       struct m2_error *err)
{
    struct predict_job job = {.options = options,
                              .new_data = overrides_path(overrides, n)};
    struct experiment experiment = {0};
    char *config = path_join(run, "config.yaml", err);
    int code = config == NULL ? M2_E_MEMORY
                              : file_check_regular(config, M2_E_RESULTS, err);

    if (code == 0)
        code = load_experiment(config, overrides, n, &experiment, err);
    if (code == 0) {
        job.request = (struct predictor_request){
            .run = run,
            .config = &experiment.config,
            .checkpoint = options->checkpoint != NULL &&
                                  strcmp(options->checkpoint, "last") == 0
                              ? CHECKPOINT_LAST
                              : CHECKPOINT_BEST,
            .threads = experiment.config.threads > 0
                           ? (int)experiment.config.threads
                           : cores_allowed(),
        };
        code = predict_to(&job, err);
    }
    experiment_free(&experiment);
    free(config);
    return code;
}

static int check_options(const struct predict_options *options, size_t n,
                         struct m2_error *err)
{
    enum window_choice ignored;

    if (n == 0)
        return m2_fail(err, M2_E_USAGE, "predict: which run?");
    if (options->checkpoint != NULL &&
        strcmp(options->checkpoint, "best") != 0 &&
        strcmp(options->checkpoint, "last") != 0)
        return m2_fail(err, M2_E_USAGE,
                       "--checkpoint: '%s', expected best or last",
                       options->checkpoint);
    if (options->stream && (options->split != NULL || options->live))
        return m2_fail(err, M2_E_USAGE,
                       "predict: --stream has no parts: leave out --split "
                       "and --live");
    if (options->live && options->split != NULL)
        return m2_fail(err, M2_E_USAGE,
                       "predict: --live is a choice of windows by itself: "
                       "leave out --split");
    if (!options->stream && (options->unbounded || options->latency))
        return m2_fail(err, M2_E_USAGE,
                       "predict: --unbounded and --latency belong to "
                       "--stream");
    if (options->split != NULL)
        return find_part(options->split, &ignored, err);
    return 0;
}

static int find_and_predict(const struct predict_options *options,
                            const struct arguments *arguments,
                            struct m2_error *err)
{
    char *root, *run = NULL;
    int code = check_options(options, arguments->n, err);

    for (size_t i = 1; code == 0 && i < arguments->n; i++)
        if (strncmp(arguments->items[i], "split=", strlen("split=")) == 0)
            code = m2_fail(err, M2_E_USAGE,
                           "predict: '%s': a part is chosen with --split",
                           arguments->items[i]);
    if (code != 0)
        return code;
    root = store_root(options->results);
    code = root == NULL ? m2_fail(err, M2_E_MEMORY, "out of memory")
                        : store_resolve(root, arguments->items[0], &run, err);
    if (code == 0)
        code = predict_run(options, run, arguments->items + 1, arguments->n - 1,
                           err);
    free(run);
    free(root);
    return code;
}

int command_predict(int argc, char **argv)
{
    static const struct command_help help = {
        "predict", "RUN [KEY=VALUE ...]",
        "Writes the predictions of a trained run as CSV, one line per window\n"
        "and step: time (of the last input bar), known_at (its close),\n"
        "target_time, instrument, step, pred, true, pred_level, true_level.\n"
        "Without --split: the test part, else val, else train; everything when\n"
        "data.path= brings other data. What is not known yet is empty: --live\n"
        "writes such windows alone, the newest last.\n"
        "With --stream rows come on stdin (CSV, a header line with a time and\n"
        "the columns the features need), and every row is answered at once,\n"
        "with empty predictions until a whole window is there.",
        "  m2run predict @last\n"
        "  m2run predict 3fa9c1d2e4b5 --live data.path=today.csv\n"
        "  tail -n +1 -f bars.csv | m2run predict @last --stream"};
    struct predict_options options = {0};
    const struct option_spec specs[] = {
        {"split", 0, OPTION_TEXT, "PART", "train, val, test or all",
         &options.split},
        {"live", 0, OPTION_FLAG, NULL,
         "only windows whose targets are not known yet", &options.live},
        {"checkpoint", 0, OPTION_TEXT, "WHICH", "best (if kept) or last",
         &options.checkpoint},
        {"stream", 0, OPTION_FLAG, NULL, "answer rows from stdin",
         &options.stream},
        {"unbounded", 0, OPTION_FLAG, NULL,
         "stream: keep the state since the last gap, without windows",
         &options.unbounded},
        {"latency", 0, OPTION_FLAG, NULL,
         "stream: report p50 and p99 of a step on stderr", &options.latency},
        {"output", 'o', OPTION_TEXT, "FILE", "instead of stdout",
         &options.output},
        {"json", 0, OPTION_FLAG, NULL, "one JSON object per line",
         &options.json},
        {"results", 0, OPTION_TEXT, "DIR", "results folder", &options.results},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0)
        code = find_and_predict(&options, &arguments, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
