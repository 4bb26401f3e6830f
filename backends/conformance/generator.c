/* The counter generator of the test data. */
#include "backends/conformance/generator.h"

static uint64_t fnv1a64(const char *text)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return hash;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

struct generator generator_start(uint64_t seed, const char *name, double low,
                                 double high)
{
    struct generator out = {mix(seed + fnv1a64(name)), low, high};
    return out;
}

double generator_at(const struct generator *generator, int64_t i)
{
    uint64_t step = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
    double u = (double)(mix(generator->base + step) >> 11) * 0x1p-53;
    return generator->low + (generator->high - generator->low) * u;
}
