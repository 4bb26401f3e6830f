/* True values of windows and the way back from forecasts to prices. */
#include "data/target.h"

#include <math.h>

int64_t target_width(const struct dataset *dataset,
                     const struct config_data *config)
{
    return config->horizon_mode == M2_HORIZON_PATH
               ? config->horizon * dataset->O
               : dataset->O;
}

/* Value j of the window, from the stack's column array (S, O). */
static double value_at(const struct dataset *d,
                       const struct config_data *config, const double *values,
                       int64_t start, int64_t j)
{
    int64_t first = start + config->window, step = 0, o = j % d->O;

    if (config->horizon_mode == M2_HORIZON_PATH)
        step = j / d->O;
    if (config->horizon_mode == M2_HORIZON_LAST)
        step = config->horizon - 1;
    if (config->horizon_mode != M2_HORIZON_SUM)
        return values[(first + step) * d->O + o];
    double sum = 0.0;
    for (int64_t k = 0; k < config->horizon; k++)
        sum += values[(first + k) * d->O + o];
    return sum;
}

void target_true(const struct dataset *dataset,
                 const struct config_data *config, int64_t start, double *out)
{
    int64_t width = target_width(dataset, config);

    for (int64_t j = 0; j < width; j++)
        out[j] = value_at(dataset, config, dataset->targets, start, j);
}

void target_true_raw(const struct dataset *dataset,
                     const struct config_data *config, int64_t start,
                     double *out)
{
    int64_t width = target_width(dataset, config);

    for (int64_t j = 0; j < width; j++)
        out[j] = value_at(dataset, config, dataset->targets_raw, start, j);
}

double target_true_raw_at(const struct dataset *dataset,
                          const struct config_data *config, int64_t start,
                          int64_t j)
{
    const struct dataset_series *series =
        &dataset->series[dataset_series_of(dataset, start)];
    int64_t steps = config->horizon_mode == M2_HORIZON_PATH ? j / dataset->O + 1
                                                            : config->horizon;

    if (start + config->window + steps > series->first + series->n)
        return NAN;
    return value_at(dataset, config, dataset->targets_raw, start, j);
}

double target_unscale(const struct dataset *dataset,
                      const struct config_data *config, int64_t start,
                      int64_t j, double scaled)
{
    int64_t at =
        dataset_series_of(dataset, start) * dataset->O + j % dataset->O;
    double shift = dataset->scaling.target_shift[at];

    if (config->horizon_mode == M2_HORIZON_SUM)
        shift *= (double)config->horizon;
    return shift + dataset->scaling.target_spread[at] * scaled;
}

int64_t target_index(const struct dataset *dataset, int64_t start, int64_t j)
{
    int64_t series = dataset_series_of(dataset, start);

    return dataset->series[series].channel + j % dataset->O;
}

static double step_level(enum target_transform transform, double base,
                         double value)
{
    switch (transform) {
    case TARGET_VALUE:
        return value;
    case TARGET_DIFF:
        return base + value;
    case TARGET_LOG_RETURN:
        return base * exp(value);
    case TARGET_RETURN:
        return base * (1.0 + value);
    default:
        return NAN;
    }
}

/* Whether one value is enough to know the level at the end of the horizon. */
static bool has_end_level(enum target_transform transform,
                          const struct config_data *config)
{
    if (config->horizon == 1)
        return transform != TARGET_OTHER;
    if (config->horizon_mode == M2_HORIZON_LAST)
        return transform == TARGET_VALUE;
    return transform == TARGET_DIFF || transform == TARGET_LOG_RETURN;
}

void target_levels(const struct dataset *dataset,
                   const struct config_data *config, int64_t start,
                   const double *raw, double *levels)
{
    int64_t O = dataset->O, last = start + config->window - 1;
    int64_t width = target_width(dataset, config);

    for (int64_t j = 0; j < width; j++) {
        enum target_transform transform =
            dataset->transforms[target_index(dataset, start, j)];
        double base = dataset->levels[last * O + j % O];
        if (config->horizon_mode == M2_HORIZON_PATH)
            levels[j] =
                step_level(transform, j < O ? base : levels[j - O], raw[j]);
        else
            levels[j] = has_end_level(transform, config)
                            ? step_level(transform, base, raw[j])
                            : NAN;
    }
}

void target_true_levels(const struct dataset *dataset,
                        const struct config_data *config, int64_t start,
                        const double *raw, double *levels)
{
    int64_t O = dataset->O, next = start + config->window;
    int64_t width = target_width(dataset, config);
    bool path = config->horizon_mode == M2_HORIZON_PATH;

    target_levels(dataset, config, start, raw, levels);
    for (int64_t j = 0; j < width; j++) {
        int64_t row = next + (path ? j / O : config->horizon - 1);

        if (!isnan(levels[j]))
            levels[j] = dataset->levels[row * O + j % O];
    }
}
