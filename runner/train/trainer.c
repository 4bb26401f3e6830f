/* The loop: batches, gradients, updates, evaluations, checkpoints. */
#include "train/trainer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/loader.h"
#include "results/metric.h"
#include "train/rows.h"
#include "train/update.h"
#include "util/log.h"
#include "util/timefmt.h"

#define LAST_FILE "checkpoints/last.safetensors"
#define BEST_FILE "checkpoints/best.safetensors"

struct trainer {
    const struct trainer_request *request;
    const struct config *config;
    struct session *session;
    struct evaluator *evaluator;
    struct train_outcome *outcome;
    struct train_state *state; /* inside the outcome */
    struct updater *updater;
    struct checkpoint_writer *writer;
    struct rows *rows;
    char *scaling; /* text for checkpoints */
    int64_t n_windows, saved_step;
    bool saved; /* by this process */
    double started_s, step_loss;
};

int64_t train_total_steps(const struct config *config,
                          int64_t n_training_windows)
{
    int64_t B = config->train.batch_size;

    if (config->train.steps > 0)
        return config->train.steps;
    return config->train.epochs * ((n_training_windows + B - 1) / B);
}

/* ---- one step ---------------------------------------------------------- */

static void advance(struct trainer *trainer, const struct update *update)
{
    struct train_state *state = trainer->state;

    state->step++;
    state->cursor += update->n;
    if (state->cursor == trainer->n_windows) {
        state->cursor = 0;
        state->epoch++;
    }
    state->row_loss += update->loss;
    state->row_norm += update->grad_norm;
    state->row_steps++;
    trainer->outcome->samples += update->n;
    trainer->step_loss = update->loss;
}

static int one_step(struct trainer *trainer, struct m2_error *err)
{
    const struct train_state *state = trainer->state;
    double begun_s = time_monotonic();
    struct update update;
    int code = updater_run(trainer->updater, state->step, state->epoch,
                           state->cursor, &update, err);

    trainer->outcome->step_seconds += time_monotonic() - begun_s;
    if (code == 0)
        code = trace_step(trainer->state->trace, state->step + 1, update.loss,
                          update.grad_norm, err);
    if (code == 0)
        advance(trainer, &update);
    return code;
}

/* ---- rows, evaluations, checkpoints -------------------------------------- */

static int write_checkpoint(struct trainer *trainer, const char *name,
                            struct m2_error *err)
{
    const struct trainer_request *request = trainer->request;
    const struct file_at file = {request->dirfd, request->dir, name};
    const struct checkpoint_identity identity = {
        .identity = trainer->request->identity,
        .backend = trainer->session->backend->descriptor->name,
        .numerics = trainer->session->numerics,
        .scaling = trainer->scaling,
    };

    return checkpoint_write(trainer->writer, &file, &identity, trainer->state,
                            err);
}

/* The disk is full: deletes what no later attempt would go on from.  Where the
 * best checkpoint is of this very step, that is the last one; for the rest the
 * owner of the folder is asked. */
static bool make_room(const struct trainer *trainer, const char *name)
{
    const struct trainer_request *request = trainer->request;
    bool made = request->make_room != NULL &&
                request->make_room(request->context, trainer->saved);

    if (strcmp(name, LAST_FILE) == 0 && trainer->saved &&
        trainer->saved_step == trainer->state->step &&
        unlinkat(request->dirfd, LAST_FILE, 0) == 0)
        made = true;
    return made;
}

static int save(struct trainer *trainer, const char *name, struct m2_error *err)
{
    int code = rows_sync(trainer->rows, &trainer->state->metrics_bytes, err);

    if (code != 0)
        return code;
    code = write_checkpoint(trainer, name, err);
    if (code == M2_E_RESULTS && (errno == ENOSPC || errno == EDQUOT) &&
        make_room(trainer, name))
        code = write_checkpoint(trainer, name, err);
    if (code == 0) {
        trainer->saved_step = trainer->state->step;
        trainer->saved = true;
    }
    return code;
}

/* True when `value` beats the best so far by more than min_delta. */
static bool is_better(const struct trainer *trainer, double value,
                      double min_delta)
{
    double best = trainer->state->best_value;

    if (isnan(value))
        return false;
    if (isnan(best))
        return true;
    return metric_is_higher_better(trainer->config->metric)
               ? value > best + min_delta
               : value < best - min_delta;
}

/* Early stopping asks for min_delta, the best checkpoint for any progress. */
static bool note_metric(struct trainer *trainer, double value)
{
    struct train_state *state = trainer->state;

    if (is_better(trainer, value,
                  trainer->config->train.early_stopping.min_delta))
        state->bad_evaluations = 0;
    else
        state->bad_evaluations++;
    if (!is_better(trainer, value, 0))
        return false;
    state->best_value = value;
    state->best_step = state->step;
    return true;
}

/* The value that early stopping and the best checkpoint go by. */
static double metric_value(const struct trainer *trainer,
                           const struct score *score)
{
    const char *metric = trainer->config->metric;
    double value = NAN;

    if (strcmp(metric, "train/loss") == 0)
        return trainer->state->row_loss / (double)trainer->state->row_steps;
    score_find(score, metric + 4, &value);
    return value;
}

static int write_row(struct trainer *trainer, const struct score *score,
                     struct m2_error *err)
{
    struct train_state *state = trainer->state;
    double seconds = time_monotonic() - trainer->started_s;
    int code = rows_write(
        trainer->rows, state,
        updater_learning_rate(trainer->updater, state->step - 1), score, err);

    trainer->outcome->train_loss = state->row_loss / (double)state->row_steps;
    state->row_loss = state->row_norm = 0;
    state->row_steps = 0;
    return code != 0 ? code
                     : rows_write_timing(trainer->rows, state->step, seconds,
                                         trainer->outcome->samples, err);
}

static void tell_evaluation(const struct trainer *trainer,
                            const struct score *score, bool is_best)
{
    char validation[48] = "";
    double value;

    if (score_find(score, "loss", &value))
        snprintf(validation, sizeof validation, ", val/loss %.6g", value);
    log_detail("step %" PRId64 " epoch %" PRId64 ": train/loss %.6g%s%s",
               trainer->state->step, trainer->state->epoch,
               trainer->outcome->train_loss, validation,
               is_best ? " (best)" : "");
}

static int evaluate(struct trainer *trainer, struct m2_error *err)
{
    struct score *score = &trainer->outcome->final;
    bool is_best;
    int code = evaluator_run(trainer->evaluator, PART_VAL, score, err);

    if (code != 0)
        return code;
    is_best = note_metric(trainer, metric_value(trainer, score));
    code = write_row(trainer, score->n > 0 ? score : NULL, err);
    if (code == 0)
        tell_evaluation(trainer, score, is_best);
    if (code == 0 && is_best && trainer->config->checkpoint.keep_best > 0)
        code = save(trainer, BEST_FILE, err);
    return code;
}

/* every 0: at the end of each epoch. */
static bool is_due(const struct trainer *trainer, int64_t every)
{
    if (every == 0)
        return trainer->state->cursor == 0;
    return trainer->state->step % every == 0;
}

static bool out_of_patience(const struct trainer *trainer)
{
    int64_t patience = trainer->config->train.early_stopping.patience;

    return patience > 0 && trainer->state->bad_evaluations >= patience;
}

/* Everything that follows a step; *done_out: the run is over. */
static int after_step(struct trainer *trainer, bool *done_out,
                      struct m2_error *err)
{
    const struct config *config = trainer->config;
    bool last = trainer->state->step >= trainer->outcome->total_steps;
    bool evaluated = last || is_due(trainer, config->train.eval_every);
    int code = 0;

    if (evaluated)
        code = evaluate(trainer, err);
    else if (config->train.log_every > 0 &&
             is_due(trainer, config->train.log_every))
        code = write_row(trainer, NULL, err);
    if (code == 0 && evaluated && out_of_patience(trainer)) {
        trainer->outcome->early_stopped = !last;
        last = true;
    }
    if (code == 0 && (last || is_due(trainer, config->checkpoint.every)))
        code = save(trainer, LAST_FILE, err);
    *done_out = last;
    return code;
}

static void tell_progress(struct trainer *trainer, struct train_progress *out)
{
    double seconds = time_monotonic() - trainer->started_s;
    int64_t left = trainer->outcome->total_steps - trainer->state->step;
    int64_t from = trainer->request->resume != NULL
                       ? trainer->request->resume->state.step
                       : 0;
    int64_t done = trainer->state->step - from;

    *out = (struct train_progress){
        .step = trainer->state->step,
        .total = trainer->outcome->total_steps,
        .epoch = trainer->state->epoch,
        .saved = trainer->saved_step,
        .loss = trainer->step_loss,
        .samples_per_s = (double)trainer->outcome->samples / seconds,
        .seconds_left = done > 0 ? seconds / (double)done * (double)left : NAN,
    };
    memcpy(out->trace, trainer->state->trace, TRACE_BYTES);
}

static int stop(struct trainer *trainer, struct m2_error *err)
{
    int code = save(trainer, LAST_FILE, err);

    if (code != 0)
        return code;
    return m2_fail(err, M2_E_STOPPED,
                   "stopped at step %" PRId64 " of %" PRId64
                   "; the same command continues",
                   trainer->state->step, trainer->outcome->total_steps);
}

static bool is_cut(const struct trainer *trainer)
{
    int64_t last = trainer->request->cut_after;

    return last > 0 && trainer->state->step >= last;
}

/* A run that was cut off between its last step and its publication has all
 * there is to learn, but a checkpoint only in the earlier attempt's folder. */
static int save_again(struct trainer *trainer, struct m2_error *err)
{
    trainer->outcome->early_stopped =
        trainer->state->step < trainer->outcome->total_steps;
    return save(trainer, LAST_FILE, err);
}

static int loop(struct trainer *trainer, struct m2_error *err)
{
    const struct trainer_request *request = trainer->request;
    bool done = trainer->state->step >= trainer->outcome->total_steps ||
                out_of_patience(trainer);
    int code = done ? save_again(trainer, err) : 0;

    while (code == 0 && !done) {
        struct train_progress progress;

        if (request->stop_requested(request->context))
            return stop(trainer, err);
        code = one_step(trainer, err);
        if (code == 0 && trainer->outcome->first_step_s == 0)
            trainer->outcome->first_step_s = time_monotonic();
        if (code == 0)
            code = after_step(trainer, &done, err);
        tell_progress(trainer, &progress);
        if (code == 0)
            code = request->after_step(request->context, &progress, err);
        if (code == 0 && !done && is_cut(trainer))
            return m2_fail(err, M2_E_STOPPED, "ended after step %" PRId64,
                           trainer->state->step);
    }
    return code;
}

/* ---- setting up -------------------------------------------------------- */

static int check_metric(const struct trainer *trainer,
                        const struct score *names, struct m2_error *err)
{
    const char *metric = trainer->config->metric;
    struct text known = {0};
    double ignored;
    int code = 0;

    if (strcmp(metric, "train/loss") == 0 ||
        (strncmp(metric, "val/", 4) == 0 &&
         score_find(names, metric + 4, &ignored)))
        return 0;
    for (size_t i = 0; i < names->n; i++)
        text_addf(&known, " val/%s", names->items[i].name);
    code = m2_fail(err, M2_E_CONFIG,
                   "metric: '%s' is not measured on this data; there are"
                   " train/loss%s",
                   metric, text_string(&known));
    text_free(&known);
    return code;
}

static int describe_scaling(struct trainer *trainer, struct m2_error *err)
{
    struct text text = {0};

    if (session_scaling_text(trainer->session, &text, err) == 0)
        trainer->scaling = text_steal(&text, err);
    text_free(&text);
    return trainer->scaling == NULL ? M2_E_MEMORY : 0;
}

static int allocate(struct trainer *trainer, struct m2_error *err)
{
    struct session *session = trainer->session;
    int code = updater_create(session, trainer->outcome->total_steps,
                              &trainer->updater, err);

    if (code == 0)
        code = checkpoint_writer_create(session->device, session->model,
                                        updater_optimiser(trainer->updater),
                                        &trainer->writer, err);
    return code != 0 ? code : describe_scaling(trainer, err);
}

/* Parameters from a checkpoint, from init_from, or fresh. */
static int set_parameters(struct trainer *trainer, struct m2_error *err)
{
    const struct train_resume *resume = trainer->request->resume;
    struct session *session = trainer->session;

    if (resume != NULL)
        return checkpoint_restore(resume->file, session->model,
                                  updater_optimiser(trainer->updater), err);
    return session_initialise(session, err);
}

static int set_up(struct trainer *trainer, struct m2_error *err)
{
    const struct train_resume *resume = trainer->request->resume;
    struct score names;
    int code;

    trainer->started_s = time_monotonic();
    trainer->n_windows = trainer->session->dataset.parts[PART_TRAIN].n;
    trainer->outcome->total_steps =
        train_total_steps(trainer->config, trainer->n_windows);
    trainer->outcome->steps_per_epoch =
        (trainer->n_windows + trainer->config->train.batch_size - 1) /
        trainer->config->train.batch_size;
    *trainer->state = resume != NULL ? resume->state
                                     : (struct train_state){.best_value = NAN};
    trainer->saved_step = trainer->state->step;
    evaluator_names(trainer->evaluator, &names);
    code = check_metric(trainer, &names, err);
    if (code == 0)
        code = allocate(trainer, err);
    if (code == 0)
        code = set_parameters(trainer, err);
    if (code == 0)
        code = rows_open(trainer->request->dirfd,
                         resume != NULL ? resume->dir : NULL, trainer->state,
                         &names, &trainer->rows, err);
    return code;
}

static void tear_down(struct trainer *trainer)
{
    rows_close(trainer->rows);
    checkpoint_writer_free(trainer->writer);
    updater_free(trainer->updater);
    free(trainer->scaling);
}

int trainer_run(const struct trainer_request *request,
                struct evaluator *evaluator, struct train_outcome *out,
                struct m2_error *err)
{
    struct trainer trainer = {
        .request = request,
        .config = request->session->config,
        .session = request->session,
        .evaluator = evaluator,
        .outcome = out,
        .state = &out->state,
    };
    int code;

    *out = (struct train_outcome){0};
    code = set_up(&trainer, err);
    if (code == 0)
        code = loop(&trainer, err);
    out->best_value = out->state.best_value;
    out->seconds = time_monotonic() - trainer.started_s;
    tear_down(&trainer);
    return code;
}
