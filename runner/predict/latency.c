/* Counting latencies. */
#include "predict/latency.h"

#include <math.h>

void latency_add(struct latency *latency, double seconds)
{
    double bin = seconds * 1e9 / LATENCY_BIN_NS;

    latency->n++;
    if (seconds > latency->max_s)
        latency->max_s = seconds;
    if (bin >= 0.0 && bin < (double)LATENCY_BINS)
        latency->bins[(uint64_t)bin]++;
}

double latency_quantile(const struct latency *latency, double q)
{
    double wanted = ceil(q * (double)latency->n);
    double seen = 0.0;

    if (latency->n == 0)
        return NAN;
    for (uint64_t i = 0; i < LATENCY_BINS; i++) {
        seen += (double)latency->bins[i];
        if (seen >= wanted)
            return (double)(i + 1) * LATENCY_BIN_NS * 1e-9;
    }
    return latency->max_s;
}
