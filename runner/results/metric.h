/* Which way a metric is good. */
#ifndef M2_RESULTS_METRIC_H
#define M2_RESULTS_METRIC_H

#include <stdbool.h>

/* True when larger values of the metric are better ("val/hit_rate", "val/ic",
 * "val/rank_ic", "val/skill"), false for losses and errors. */
bool metric_is_higher_better(const char *metric);

/* True for what is no score: "val/hit_n", a number of windows. */
bool metric_is_count(const char *metric);

#endif
