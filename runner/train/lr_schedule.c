/* Warm-up, then constant, linear or cosine decay. */
#include "train/lr_schedule.h"

#include <math.h>

double lr_schedule(enum schedule_kind kind, int64_t step, int64_t total,
                   int64_t warmup, double peak, double min_ratio)
{
    double span = total > warmup ? (double)(total - warmup) : 1;
    double f = fmin(1, (double)(step - warmup) / span);

    if (step < warmup)
        return peak * (double)(step + 1) / (double)warmup;
    switch (kind) {
    case SCHEDULE_LINEAR:
        return peak * (1 - (1 - min_ratio) * f);
    case SCHEDULE_COSINE:
        return peak * (min_ratio + (1 - min_ratio) * 0.5 * (1 + cos(M_PI * f)));
    case SCHEDULE_CONSTANT:
        break;
    }
    return peak;
}
