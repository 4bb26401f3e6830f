/* The true values of windows, in scaled and in raw units, and levels. */
#ifndef M2_DATA_TARGET_H
#define M2_DATA_TARGET_H

#include "data/dataset.h"

/* Number of values a forecast of one window has: horizon*O for PATH, O for
 * LAST and SUM. */
int64_t target_width(const struct dataset *dataset,
                     const struct config_data *config);

/* True scaled values of the window at `start`: (width). */
void target_true(const struct dataset *dataset,
                 const struct config_data *config, int64_t start, double *out);

/* Scaled -> raw for value j of a window: undoes scaling, counted horizon
 * times for SUM. */
double target_unscale(const struct dataset *dataset,
                      const struct config_data *config, int64_t start,
                      int64_t j, double scaled);

/* Raw values of one window -> levels (prices): the transform undone from the
 * last known level; for PATH cumulatively.  NaN where no level exists. */
void target_levels(const struct dataset *dataset,
                   const struct config_data *config, int64_t start,
                   const double *raw, double *levels);

#endif
