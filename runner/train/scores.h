/* The scores of a finished run, for its record. */
#ifndef M2_TRAIN_SCORES_H
#define M2_TRAIN_SCORES_H

#include "train/evaluate.h"
#include "train/trainer.h"

/* Reads them back from DIR/metrics.csv, because an earlier attempt may have
 * written them: the last row into the outcome, and the validation score of the
 * best step into *best (names with NaN when no step is the best). */
int scores_read_back(const char *dir, const struct evaluator *evaluator,
                     struct train_outcome *outcome, struct score *best,
                     struct m2_error *err);

/* Scores the test part with the checkpoint DIR/checkpoints/NAME.safetensors,
 * which takes the place of the model's parameters.  n 0: no test part. */
struct test_request {
    struct session *session;
    struct evaluator *evaluator;
    const char *dir, *name;
    const char *identity; /* of the checkpoint */
};
int scores_test(const struct test_request *request, struct score *out,
                struct m2_error *err);

#endif
