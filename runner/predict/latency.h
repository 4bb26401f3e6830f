/* How long single steps take: counts in bins whose width grows with the time,
 * so that quantiles of any number of steps take little memory, and none while
 * the steps are made. */
#ifndef M2_PREDICT_LATENCY_H
#define M2_PREDICT_LATENCY_H

#include <stdint.h>

/* From 1 ns on, each doubling is cut in equal parts: a bin is at most 0.4 %
 * wide.  40 doublings are 18 minutes. */
enum { LATENCY_PARTS = 256, LATENCY_DOUBLINGS = 40 };

struct latency { /* all zero: empty */
    uint64_t bins[LATENCY_DOUBLINGS * LATENCY_PARTS];
    uint64_t n;
    double max_s;
};

void latency_add(struct latency *latency, double seconds);

/* The time, in seconds, that a share q of the steps did not exceed, rounded up
 * to the end of a bin, but not above the maximum.  NaN when there are no
 * steps. */
double latency_quantile(const struct latency *latency, double q);

#endif
