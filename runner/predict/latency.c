/* Counting latencies. */
#include "predict/latency.h"

#include <math.h>

enum { N_BINS = LATENCY_DOUBLINGS * LATENCY_PARTS };

/* ns = (1 + part) * 2^doubling, part in [0, 1). */
static int bin_of(double seconds)
{
    int exponent;
    double part = 2.0 * frexp(seconds * 1e9, &exponent) - 1.0;
    int bin;

    if (!(seconds >= 1e-9))
        return 0;
    bin = (exponent - 1) * LATENCY_PARTS + (int)(part * LATENCY_PARTS);
    return bin < N_BINS ? bin : N_BINS - 1;
}

static double end_of(int bin)
{
    double part = (double)(bin % LATENCY_PARTS + 1) / LATENCY_PARTS;

    return ldexp(1.0 + part, bin / LATENCY_PARTS) * 1e-9;
}

void latency_add(struct latency *latency, double seconds)
{
    latency->n++;
    latency->bins[bin_of(seconds)]++;
    if (seconds > latency->max_s)
        latency->max_s = seconds;
}

double latency_quantile(const struct latency *latency, double q)
{
    double wanted = ceil(q * (double)latency->n), seen = 0.0;

    if (latency->n == 0)
        return NAN;
    for (int i = 0; i < N_BINS; i++) {
        seen += (double)latency->bins[i];
        if (seen >= wanted && end_of(i) < latency->max_s)
            return end_of(i);
        if (seen >= wanted)
            break;
    }
    return latency->max_s;
}
