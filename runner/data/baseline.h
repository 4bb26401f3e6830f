/* Naive forecasts on the same windows as the model: every score is printed
 * beside them.
 *
 *   repeat_last  the last value of the target's look-back, for every step
 *                (times the horizon for SUM)
 *   input_mean   the mean of the target's look-back
 *   zero         0 in raw units (returns and differences only)
 */
#ifndef M2_DATA_BASELINE_H
#define M2_DATA_BASELINE_H

#include "data/dataset.h"

enum baseline {
    BASELINE_REPEAT_LAST,
    BASELINE_INPUT_MEAN,
    BASELINE_ZERO,
    N_BASELINES
};
extern const char *const baseline_names[N_BASELINES];

struct baseline_scores {
    bool valid[N_BASELINES];
    double mse[N_BASELINES], mae[N_BASELINES]; /* scaled units */
    double rmse_raw[N_BASELINES];
    double best_mse; /* the smallest valid mse; infinite without windows */
};

/* One baseline's forecast of the window at `start`, in scaled units: (width) of
 * target.h.  The same value for every step. */
void baseline_predict(const struct dataset *dataset,
                      const struct config_data *config, enum baseline baseline,
                      int64_t start, double *out);

/* Scores of every baseline on the windows of a part. */
int baseline_evaluate(const struct dataset *dataset,
                      const struct config_data *config, enum part part,
                      struct baseline_scores *out, struct m2_error *err);

#endif
