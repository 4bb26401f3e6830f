/* Naive forecasts: repeat the last value, the mean of the input, zero. */
#include "data/baseline.h"

#include <math.h>
#include <stdlib.h>

#include "data/target.h"
#include "util/memory.h"

const char *const baseline_names[N_BASELINES] = {"repeat_last", "input_mean",
                                                 "zero"};

/* Zero is a forecast of no change only where values are changes. */
static bool is_valid(const struct dataset *d, enum baseline baseline)
{
    if (baseline != BASELINE_ZERO)
        return true;
    for (int64_t o = 0; o < d->n_target_names; o++)
        if (!d->target_is_return[o])
            return false;
    return true;
}

static double mean_of_input(const struct dataset *d, int64_t start, int64_t L,
                            int64_t o)
{
    double sum = 0.0;

    for (int64_t t = start; t < start + L; t++)
        sum += d->targets[t * d->O + o];
    return sum / (double)L;
}

static double zero_scaled(const struct dataset *d, int64_t start, int64_t o)
{
    int64_t at = dataset_series_of(d, start) * d->O + o;
    double spread = d->scaling.target_spread[at];

    return spread == 0.0 ? 0.0 : -d->scaling.target_shift[at] / spread;
}

/* The forecast of one step of target o, in scaled units. */
static double one_step(const struct dataset *d,
                       const struct config_data *config, enum baseline baseline,
                       int64_t start, int64_t o)
{
    switch (baseline) {
    case BASELINE_REPEAT_LAST:
        return d->targets[(start + config->window - 1) * d->O + o];
    case BASELINE_INPUT_MEAN:
        return mean_of_input(d, start, config->window, o);
    default:
        return zero_scaled(d, start, o);
    }
}

void baseline_predict(const struct dataset *dataset,
                      const struct config_data *config, enum baseline baseline,
                      int64_t start, double *out)
{
    int64_t width = target_width(dataset, config);

    for (int64_t o = 0; o < dataset->O; o++) {
        double value = one_step(dataset, config, baseline, start, o);
        if (config->horizon_mode == M2_HORIZON_SUM)
            value *= (double)config->horizon;
        for (int64_t j = o; j < width; j += dataset->O)
            out[j] = value;
    }
}

struct sums {
    double square, absolute, raw_square;
};

static void add_window(const struct dataset *d,
                       const struct config_data *config, int64_t start,
                       const double *pred, double *truth, struct sums *sums)
{
    int64_t width = target_width(d, config);

    target_true(d, config, start, truth);
    for (int64_t j = 0; j < width; j++) {
        double error = pred[j] - truth[j];
        sums->square += error * error;
        sums->absolute += fabs(error);
    }
    target_true_raw(d, config, start, truth);
    for (int64_t j = 0; j < width; j++) {
        double error = target_unscale(d, config, start, j, pred[j]) - truth[j];
        sums->raw_square += error * error;
    }
}

int baseline_evaluate(const struct dataset *dataset,
                      const struct config_data *config, enum part part,
                      struct baseline_scores *out, struct m2_error *err)
{
    const struct dataset_windows *windows = &dataset->parts[part];
    int64_t width = target_width(dataset, config);
    double *scratch = memory_zeroed((size_t)width, 2 * sizeof(double), err);
    double n = (double)(windows->n * width);

    if (scratch == NULL)
        return M2_E_MEMORY;
    *out = (struct baseline_scores){.best_mse = INFINITY};
    for (int b = 0; b < N_BASELINES; b++) {
        struct sums sums = {0};
        out->valid[b] = windows->n > 0 && is_valid(dataset, b);
        for (int64_t i = 0; i < windows->n && out->valid[b]; i++) {
            int64_t start = windows->starts[i];
            baseline_predict(dataset, config, b, start, scratch);
            add_window(dataset, config, start, scratch, scratch + width, &sums);
        }
        if (!out->valid[b])
            continue;
        out->mse[b] = sums.square / n;
        out->mae[b] = sums.absolute / n;
        out->rmse_raw[b] = sqrt(sums.raw_square / n);
        out->best_mse = fmin(out->best_mse, out->mse[b]);
    }
    free(scratch);
    return M2_OK;
}
