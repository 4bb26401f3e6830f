/* Timing training steps and single predictions. */
#include "predict/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/target.h"
#include "results/scratch.h"
#include "train/trainer.h"
#include "util/fma_peak.h"
#include "util/interrupt.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/process.h"
#include "util/timefmt.h"

enum { WARM_UP_STEPS = 3, PREDICTIONS = 200 };

struct bench {
    const struct bench_request *request;
    struct bench_result *result;
    struct config config; /* the request's, without evaluations */
    struct session session;
    double *times;         /* (steps), then (PREDICTIONS) */
    double last_s;         /* end of the step before */
    bool measured;         /* all steps are timed */
    double begin_s, age_s; /* moment and age of the process at the start */
};

static int compare_doubles(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *values, int64_t n)
{
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
    return n % 2 == 1 ? values[n / 2]
                      : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* ---- training ------------------------------------------------------------ */

static int after_step(void *context, const struct train_progress *progress,
                      struct m2_error *err)
{
    struct bench *bench = context;
    double now = time_monotonic();
    int64_t timed = progress->step - WARM_UP_STEPS;

    if (timed > 0)
        bench->times[timed - 1] = now - bench->last_s;
    (void)err;
    bench->last_s = now;
    bench->measured = timed == bench->request->steps;
    return 0;
}

/* Asked before every step: the first time, everything is ready; the last time,
 * or after a signal, the loop writes a checkpoint and ends. */
static bool is_to_end(void *context)
{
    struct bench *bench = context;

    if (bench->result->first_step_s == 0)
        bench->result->first_step_s =
            bench->age_s + time_monotonic() - bench->begin_s;
    return bench->measured || interrupt_came() != 0;
}

/* One step more than are made: the last one would be evaluated. */
static int make_config(struct bench *bench, struct m2_error *err)
{
    struct config *config = &bench->config;
    int code = config_copy(bench->request->config, config, err);

    if (code != 0)
        return code;
    config->train.epochs = 0;
    config->train.steps = WARM_UP_STEPS + bench->request->steps + 1;
    config->train.eval_every = config->train.log_every =
        config->checkpoint.every = INT64_MAX;
    config->train.early_stopping.patience = 0;
    return 0;
}

static int train_in(struct bench *bench, const char *dir, int dirfd,
                    struct m2_error *err)
{
    static const char no_identity[] =
        "0000000000000000000000000000000000000000000000000000000000000000";
    const struct trainer_request request = {
        .session = &bench->session,
        .identity = no_identity,
        .dirfd = dirfd,
        .dir = dir,
        .after_step = after_step,
        .stop_requested = is_to_end,
        .context = bench,
    };
    struct train_outcome outcome;
    struct evaluator *evaluator;
    int code = evaluator_create(&bench->session, &evaluator, err);

    if (code != 0)
        return code;
    code = mkdirat(dirfd, "checkpoints", 0777) != 0
               ? m2_fail(err, M2_E_RESULTS, "%s/checkpoints: %s", dir,
                         strerror(errno))
               : trainer_run(&request, evaluator, &outcome, err);
    bench->result->checkpoint_s = time_monotonic() - bench->last_s;
    evaluator_free(evaluator);
    return code == M2_E_STOPPED ? 0 : code;
}

static int train_in_scratch(struct bench *bench, const char *dir,
                            struct m2_error *err)
{
    int code, dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dirfd < 0)
        return m2_fail(err, M2_E_RESULTS, "%s: %s", dir, strerror(errno));
    code = train_in(bench, dir, dirfd, err);
    close(dirfd);
    return code;
}

/* A checkpoint is timed, too, so there is a folder; a signal that would end the
 * process does so when it is removed. */
static int train(struct bench *bench, struct m2_error *err)
{
    struct interrupt_hold hold;
    struct scratch scratch;
    struct m2_error cause;
    int code;

    interrupt_hold(&hold);
    code = scratch_open_temporary("m2run-bench-", &scratch, err);
    if (code == 0)
        code = train_in_scratch(bench, scratch.path, err);
    if (code == 0 && !bench->measured)
        code = m2_fail(err, M2_E_STOPPED, "bench: stopped on request");
    if (scratch_close(&scratch, false, &cause) != 0)
        log_warning("%s", cause.text);
    interrupt_release(&hold);
    return code;
}

/* The last batch of an epoch may be smaller, and would pass for a fast one. */
static void keep_full_batches(struct bench *bench)
{
    struct dataset_windows *windows = &bench->session.dataset.parts[PART_TRAIN];

    if (windows->n > bench->config.train.batch_size)
        windows->n -= windows->n % bench->config.train.batch_size;
}

static void note_training(struct bench *bench)
{
    struct bench_result *result = bench->result;
    int64_t n = bench->request->steps;
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += bench->times[i];
    result->step_mean_s = sum / (double)n;
    result->step_median_s = median(bench->times, n);
    result->step_min_s = bench->times[0]; /* sorted by now */
    result->batch = bench->config.train.batch_size;
    if (result->batch > bench->session.dataset.parts[PART_TRAIN].n)
        result->batch = bench->session.dataset.parts[PART_TRAIN].n;
    result->samples_per_s = (double)result->batch / result->step_median_s;
    result->device_bytes = device_bytes(bench->session.device);
    result->process_bytes = process_memory().peak;
}

/* Operations of a step: those of its microbatches. */
static int count_flops(struct bench *bench, struct m2_error *err)
{
    struct bench_result *result = bench->result;
    struct model_spec spec;
    struct model_plan plan;
    int code;

    session_model_spec(&bench->config, &bench->session.dataset, true, &spec);
    code = model_plan(&spec, bench->session.device, bench->config.dtype, &plan,
                      err);
    if (code != 0)
        return code;
    result->n_parameters = plan.n_parameters;
    result->step_flops =
        plan.step_flops * (double)result->batch / (double)spec.B;
    result->flops_per_s = result->step_flops / result->step_median_s;
    result->peak_flops_per_s =
        session_device_is_host(&bench->session)
            ? fma_peak(bench->config.dtype == M2_F64, bench->request->threads)
            : NAN;
    return 0;
}

/* ---- evaluating --------------------------------------------------------- */

/* As many batches as steps were timed, with the model as it was trained. */
static int evaluate(struct bench *bench, struct m2_error *err)
{
    struct session *session = &bench->session;
    const struct dataset_windows *windows = &session->dataset.parts[PART_TRAIN];
    int64_t width = target_width(&session->dataset, &bench->config.data);
    int64_t n = bench->result->batch * bench->request->steps;
    double *out, begin = time_monotonic();
    size_t size;
    int code;

    if (n > windows->n)
        n = windows->n;
    if (!size_multiply((size_t)n, (size_t)width, &size))
        return m2_fail(err, M2_E_MEMORY, "predictions: size overflow");
    out = memory_zeroed(size, sizeof *out, err);
    if (out == NULL)
        return M2_E_MEMORY;
    code = predict_windows(session->batcher, session->model, windows->starts, n,
                           out, err);
    bench->result->evaluate_window_s = (time_monotonic() - begin) / (double)n;
    free(out);
    return code;
}

/* ---- predicting -------------------------------------------------------- */

static int time_predictions(struct bench *bench, struct model *model,
                            double *out, struct m2_error *err)
{
    const struct dataset_windows *windows =
        &bench->session.dataset.parts[PART_TRAIN];
    int code = 0;

    for (int64_t i = 0; code == 0 && i < PREDICTIONS; i++) {
        double begin = time_monotonic();

        code = predict_windows(bench->session.batcher, model,
                               windows->starts + i % windows->n, 1, out, err);
        bench->times[i] = time_monotonic() - begin;
    }
    if (code == 0)
        bench->result->predict_median_s = median(bench->times, PREDICTIONS);
    return code;
}

/* With a model that only runs forward, as `predict` has it. */
static int predict(struct bench *bench, struct m2_error *err)
{
    struct session *session = &bench->session;
    struct model_spec spec;
    struct model *model;
    double *out;
    int code;

    session_model_spec(&bench->config, &session->dataset, false, &spec);
    spec.B = 1;
    code = model_create(session->device, &spec, &model, err);
    if (code != 0)
        return code;
    out = memory_zeroed((size_t)spec.n_outputs, sizeof *out, err);
    code = out == NULL ? M2_E_MEMORY
                       : model_initialise(model, bench->config.seed, err);
    if (code == 0)
        code = time_predictions(bench, model, out, err);
    free(out);
    model_free(model);
    return code;
}

/* ---- all of it --------------------------------------------------------- */

static int measure(struct bench *bench, struct m2_error *err)
{
    const struct session_request request = {
        .config = &bench->config,
        .threads = bench->request->threads,
        .training = true,
    };
    struct session *session = &bench->session;
    int code = session_open(&request, session, err);

    if (code != 0)
        return code;
    snprintf(bench->result->device, sizeof bench->result->device, "%s",
             device_label(session->device));
    snprintf(bench->result->device_name, sizeof bench->result->device_name,
             "%s", session->facts.name);
    bench->result->threads = bench->request->threads;
    keep_full_batches(bench);
    code = train(bench, err);
    if (code == 0) {
        note_training(bench);
        code = count_flops(bench, err);
    }
    if (code == 0)
        code = evaluate(bench, err);
    if (code == 0)
        code = predict(bench, err);
    session_close(session);
    return code;
}

int bench_run(const struct bench_request *request, struct bench_result *out,
              struct m2_error *err)
{
    struct bench bench = {.request = request, .result = out};
    int64_t n = request->steps > PREDICTIONS ? request->steps : PREDICTIONS;
    int code;

    *out = (struct bench_result){0};
    bench.age_s = process_age();
    bench.begin_s = time_monotonic();
    process_memory_reset_peak();
    code = make_config(&bench, err);
    if (code != 0)
        return code;
    bench.times = memory_zeroed((size_t)n, sizeof *bench.times, err);
    code = bench.times == NULL ? M2_E_MEMORY : measure(&bench, err);
    free(bench.times);
    config_free(&bench.config);
    return code;
}
