/* The training loop: from a state to the last step, or to a stop.
 *
 * Every number it writes (metrics.csv, checkpoints) is a pure function of the
 * config, the data and the build; time is written to timing.csv alone.  The
 * loop is the same whether it starts fresh or from a checkpoint: a run that
 * was stopped and resumed writes the same bytes as one that was not. */
#ifndef M2_TRAIN_TRAINER_H
#define M2_TRAIN_TRAINER_H

#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/session.h"

struct train_progress {
    int64_t step, total, epoch;
    int64_t saved;        /* step of the last checkpoint */
    double loss;          /* of the last step */
    double samples_per_s; /* since this process began */
    double seconds_left;
    uint8_t trace[TRACE_BYTES]; /* of the step */
};

/* Where a resumed run comes from. */
struct train_resume {
    const struct st_file *file;
    struct train_state state;
    const char *dir; /* the earlier attempt's folder */
};

struct trainer_request {
    struct session *session;
    const char *identity; /* 64 hex digits */
    int dirfd;            /* the attempt's folder */
    const char *dir;
    const struct train_resume *resume; /* NULL: from step 0 */
    /* Ends after this step with what a kill there would leave: M2_E_STOPPED,
     * without a checkpoint of its own.  0: goes on to the end. */
    int64_t cut_after;
    /* After every step.  A negative code ends the loop with it. */
    int (*after_step)(void *context, const struct train_progress *progress,
                      struct m2_error *err);
    bool (*stop_requested)(void *context);
    /* The disk is full.  Deletes what is not needed any more and returns
     * whether there was any; `saved`: this process has written a checkpoint,
     * so that earlier attempts' are not needed.  May be NULL. */
    bool (*make_room)(void *context, bool saved);
    void *context;
};

struct train_outcome {
    struct train_state state;
    int64_t total_steps, steps_per_epoch;
    bool early_stopped;
    struct score final; /* of the last evaluation */
    double train_loss;  /* of the last row */
    double best_value;
    double seconds;      /* of this process's loop */
    double step_seconds; /* of these, in steps: no evaluation, no checkpoint */
    double first_step_s; /* monotonic time at which step 1 was done */
    int64_t samples;     /* windows trained on by this process */
};

/* Steps of a whole run: from train.epochs or train.steps. */
int64_t train_total_steps(const struct config *config,
                          int64_t n_training_windows);

/* 0: reached the last step or stopped early by its own rule; M2_E_STOPPED:
 * stop requested, checkpoint written; M2_E_DIVERGED: with the first tensor
 * that went bad in err; others: as they are.  *out is filled in every case. */
int trainer_run(const struct trainer_request *request,
                struct evaluator *evaluator, struct train_outcome *out,
                struct m2_error *err);

#endif
