/* Numbers for tests as a pure function of (seed, name, index): the counter
 * generator of the golden vectors, so that large inputs need not be stored.
 *
 * Value i of tensor `name` is lo + (hi - lo) * (z >> 11) * 2^-53 with
 * z = mix(base + (i+1) * 0x9E3779B97F4A7C15), base = mix(seed + fnv1a64(name))
 * and mix the finaliser of splitmix64; all modulo 2^64. */
#ifndef M2_BACKENDS_CONFORMANCE_GENERATOR_H
#define M2_BACKENDS_CONFORMANCE_GENERATOR_H

#include <stdint.h>

struct generator {
    uint64_t base;
    double low, high;
};

struct generator generator_start(uint64_t seed, const char *name, double low,
                                 double high);
double generator_at(const struct generator *generator, int64_t i);

#endif
