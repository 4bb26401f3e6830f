/* Predictions as text: one line per window and step, CSV or JSON.
 *
 *   time         of the last input row, as stamped
 *   known_at     its close: the first moment the prediction can be used
 *   target_time  of the row that is forecast, as stamped; of rows that are not
 *                in the data, the last known time plus nominal steps
 *   instrument   the series; "series/column" with independent channels
 *   step         1 .. horizon; horizon alone for horizon_mode last and sum
 *   pred         scaling and window_norm undone: in the target's own units
 *   true         the same of what happened; missing while it is not known
 *   pred_level   the price: the target's transform undone
 *   true_level
 *
 * The last four are there per target, with "_TARGET" behind their names when
 * there are several.  Numbers have the fewest digits that read back as the
 * same bits; a missing one is an empty cell, or null in JSON. */
#ifndef M2_PREDICT_LINES_H
#define M2_PREDICT_LINES_H

#include <stdint.h>

#include "config/config.h"
#include "util/text.h"

struct lines_format {
    bool json;
    bool truth;           /* with true and true_level */
    char *const *targets; /* (n_targets) names; of one, none is needed */
    int64_t n_targets;    /* per line */
};

/* One window.  Value k*n_targets + o is that of step k and target o. */
struct forecast {
    const char *series;
    int64_t time, known_at;
    int64_t n_steps, first_step; /* lines, and the number of the first */
    const int64_t *target_times; /* (n_steps) */
    const double *pred, *pred_level;
    const double *truth, *truth_level; /* may be NULL without truth */
};

/* The CSV header; nothing for JSON. */
void lines_header(const struct lines_format *format, struct text *out);

/* The lines of one window; NaN is a missing value. */
void lines_add(const struct lines_format *format,
               const struct forecast *forecast, struct text *out);

#endif
