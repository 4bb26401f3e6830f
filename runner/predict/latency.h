/* How long single steps take: counts in bins of 10 ns, so that a quantile of
 * any number of steps costs no memory while they are made. */
#ifndef M2_PREDICT_LATENCY_H
#define M2_PREDICT_LATENCY_H

#include <stdint.h>

enum { LATENCY_BINS = 100000, LATENCY_BIN_NS = 10 }; /* up to 1 ms */

struct latency { /* all zero: empty */
    uint64_t bins[LATENCY_BINS];
    uint64_t n;
    double max_s;
};

void latency_add(struct latency *latency, double seconds);

/* The time, in seconds, that a share q of the steps did not exceed, rounded up
 * to a bin; above the bins the maximum.  NaN when there are no steps. */
double latency_quantile(const struct latency *latency, double q);

#endif
