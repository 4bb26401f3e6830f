/* Scores of forecasts on the windows of a part.
 *
 * Forecasts are in scaled units, one row of width values per window, in the
 * order of the part's list.  All sums are f64, taken in that order.
 *
 *   mse, mae   over all values of all windows, scaled units
 *   rmse_raw   over all values, in the target's units (of several targets
 *              with different units, only useful for comparison)
 *   skill      1 - mse / best naive mse; 0 when that is not positive
 *
 * For targets whose sign is a direction (target_is_return), over all their
 * values of all windows, every step of a PATH included, in raw units:
 *   hit_rate   share of forecasts with the sign of the truth; true values of
 *              exactly 0 are left out, a forecast of 0 is a miss
 *   ic         Pearson correlation of forecast and truth
 *   rank_ic    Spearman's: Pearson of the ranks, ties share their mean rank
 * A correlation with something that does not vary is 0; with a forecast that
 * is not finite, all three are NaN. */
#ifndef M2_DATA_METRICS_H
#define M2_DATA_METRICS_H

#include "data/dataset.h"

struct metrics {
    int64_t n_windows, n_values;
    double mse, mae, rmse_raw, skill;
    bool has_returns;
    int64_t n_returns; /* values behind ic and rank_ic */
    int64_t n_signed;  /* of these, true values other than 0: behind hit_rate */
    double hit_rate, ic, rank_ic; /* NaN unless has_returns */
};

/* pred (n, width); best_naive_mse from baseline_evaluate.  M2_E_MEMORY. */
struct metrics_input {
    const struct dataset *dataset;
    const struct config_data *config;
    enum part part;
    const double *pred;
    double best_naive_mse;
};
int metrics_evaluate(const struct metrics_input *input, struct metrics *out,
                     struct m2_error *err);

/* The two correlations of n pairs; 0 when one side does not vary. */
double metrics_pearson(const double *a, const double *b, int64_t n);
int metrics_spearman(const double *a, const double *b, int64_t n, double *out,
                     struct m2_error *err);

#endif
