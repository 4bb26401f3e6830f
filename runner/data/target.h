/* The true values of windows, in scaled and in raw units, and levels.
 *
 * With `start` the first row of a window, L its look-back and O the targets,
 * value k*O + o of a PATH is target o of row start + L + k; LAST has only
 * k = horizon - 1; SUM is the sum over the horizon.  This is how the device
 * cuts them (m2_gather_windows). */
#ifndef M2_DATA_TARGET_H
#define M2_DATA_TARGET_H

#include "data/dataset.h"

/* Number of values a forecast of one window has: horizon*O for PATH, O for
 * LAST and SUM. */
int64_t target_width(const struct dataset *dataset,
                     const struct config_data *config);

/* True values of the window at `start`, scaled or raw: (width). */
void target_true(const struct dataset *dataset,
                 const struct config_data *config, int64_t start, double *out);
void target_true_raw(const struct dataset *dataset,
                     const struct config_data *config, int64_t start,
                     double *out);

/* The same for one value j; NaN when a row it needs lies beyond the end of
 * the series: for live windows. */
double target_true_raw_at(const struct dataset *dataset,
                          const struct config_data *config, int64_t start,
                          int64_t j);

/* Scaled -> raw for value j of a window: undoes scaling, counted horizon
 * times for SUM. */
double target_unscale(const struct dataset *dataset,
                      const struct config_data *config, int64_t start,
                      int64_t j, double scaled);

/* Raw values of one window -> levels (prices): the transform undone from the
 * last known level; for PATH cumulatively.  A value that was NaN makes its
 * level, and those after it, NaN.  NaN, too, where no level exists: for
 * TARGET_OTHER; for LAST of a change (log_return, return, diff) more than one
 * step ahead, whose earlier steps are not forecast; for SUM of a plain column
 * or of simple returns over more than one step, which do not add up. */
void target_levels(const struct dataset *dataset,
                   const struct config_data *config, int64_t start,
                   const double *raw, double *levels);

/* The levels that happened, as they stand in the data: nothing is recomputed,
 * so they equal the file's prices to the bit.  NaN where target_levels of the
 * true raw values is. */
void target_true_levels(const struct dataset *dataset,
                        const struct config_data *config, int64_t start,
                        const double *raw, double *levels);

/* Name of the target behind value j of a window, and how it is undone. */
int64_t target_index(const struct dataset *dataset, int64_t start, int64_t j);

#endif
