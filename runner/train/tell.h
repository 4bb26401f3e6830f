/* What a run says of itself, to stderr and its log: one run in detail, one of
 * many in a line at its end (the level of the log decides, util/log.h). */
#ifndef M2_TRAIN_TELL_H
#define M2_TRAIN_TELL_H

#include "train/evaluate.h"
#include "train/trainer.h"

/* Device, what was read, dropped and repaired, rows and windows per part. */
void tell_facts(const struct session *session);

/* The naive forecasts' errors on the validation part. */
void tell_baselines(const struct evaluator *evaluator);

/* Scores of the best step and of the test part (n 0: none), the cost, and all
 * that a sweep's reader wants of it in one line. */
void tell_end(const struct session *session,
              const struct train_outcome *outcome, const struct score *best,
              const struct score *test);

#endif
