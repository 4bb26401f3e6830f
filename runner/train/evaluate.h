/* Scoring a part of the data: every window, in time order, beside the naive
 * baselines on the same windows. */
#ifndef M2_TRAIN_EVALUATE_H
#define M2_TRAIN_EVALUATE_H

#include "data/baseline.h"
#include "train/session.h"

enum { SCORE_MAX = 16 };

/* Named numbers of one evaluation, without the part's prefix: "loss", "mse",
 * "mae", "rmse_raw", "skill"; for returns also "hit_rate", "hit_n" (true
 * returns that are not 0), "ic", "rank_ic". */
struct score {
    size_t n;
    struct {
        const char *name; /* static */
        double value;     /* NaN: not defined, as a rate of no windows */
    } items[SCORE_MAX];
};

/* Value by name; false when there is none of that name. */
bool score_find(const struct score *score, const char *name, double *out);

struct evaluator; /* opaque: memory for predictions, baselines per part */

int evaluator_create(struct session *session, struct evaluator **out,
                     struct m2_error *err);
void evaluator_free(struct evaluator *evaluator);

/* Scores the model as it is on the windows of a part; an empty part gives
 * score.n 0. */
int evaluator_run(struct evaluator *evaluator, enum part part,
                  struct score *out, struct m2_error *err);

/* Names that evaluator_run will give, in order (values NaN). */
void evaluator_names(const struct evaluator *evaluator, struct score *out);

const struct baseline_scores *
evaluator_baselines(const struct evaluator *evaluator, enum part part);

#endif
