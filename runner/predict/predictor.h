/* A trained run, ready to predict: its config, its checkpoint, its device.
 *
 * The parameters and the scaling are those of the checkpoint; the data may be
 * others than the run was trained on (data.path=...), as long as they have
 * the columns that the features need. */
#ifndef M2_PREDICT_PREDICTOR_H
#define M2_PREDICT_PREDICTOR_H

#include "data/scaling.h"
#include "train/checkpoint.h"
#include "train/session.h"

/* BEST falls back to the last checkpoint when a run keeps no best one. */
enum checkpoint_choice { CHECKPOINT_BEST, CHECKPOINT_LAST };

struct predictor_request {
    const char *run; /* directory of the run */
    const struct config *config;
    enum checkpoint_choice checkpoint;
    int threads;
};

struct checkpoint_parts {
    struct st_file file;
    struct dataset_scaling_table scaling;
    int64_t step;
};

/* The checkpoint of a run.  M2_E_RESULTS when there is none or it is damaged,
 * M2_E_CONFIG for a language model, which predicts no series. */
int predictor_read(const struct predictor_request *request,
                   struct checkpoint_parts *out, struct m2_error *err);
void checkpoint_parts_free(struct checkpoint_parts *parts);

/* Opens a session on all windows of the config's data, with the checkpoint's
 * parameters and scaling; session_close closes it. */
int predictor_open(const struct predictor_request *request, struct session *out,
                   struct m2_error *err);

#endif
