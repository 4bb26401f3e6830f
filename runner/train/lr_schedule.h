/* The learning rate of one optimiser step. */
#ifndef M2_TRAIN_LR_SCHEDULE_H
#define M2_TRAIN_LR_SCHEDULE_H

#include "config/config.h"

/* Step 0 .. total-1.  The first `warmup` steps climb: peak (step+1)/warmup.
 * After them, with f = min(1, (step-warmup) / max(1, total-warmup)):
 *   constant: peak
 *   linear:   peak (1 - (1 - min_ratio) f)
 *   cosine:   peak (min_ratio + (1 - min_ratio) (1 + cos(pi f)) / 2)
 * f is clipped, so steps beyond total keep the final rate. */
double lr_schedule(enum schedule_kind kind, int64_t step, int64_t total,
                   int64_t warmup, double peak, double min_ratio);

#endif
