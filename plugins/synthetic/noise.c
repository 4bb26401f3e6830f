/* Random numbers of the generators: Philox4x32-10, addressed, never advanced.
 */
#include "synthetic.h"

#include <math.h>

#include <Random123/philox.h>

/* The upper 52 bits, centred in their interval: never 0 or 1. */
static double open_unit(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 32 | low) >> 12;

    return ((double)bits + 0.5) * 0x1p-52;
}

void noise_uniform(uint64_t seed, int64_t instrument, enum stream stream,
                   int64_t row, double out[2])
{
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t counter = {{(uint32_t)row, (uint32_t)((uint64_t)row >> 32),
                                 (uint32_t)instrument, (uint32_t)stream}};
    philox4x32_ctr_t bits = philox4x32(counter, key);

    out[0] = open_unit(bits.v[0], bits.v[1]);
    out[1] = open_unit(bits.v[2], bits.v[3]);
}

void noise_normal(uint64_t seed, int64_t instrument, enum stream stream,
                  int64_t row, double out[2])
{
    double u[2];

    noise_uniform(seed, instrument, stream, row, u);
    double radius = sqrt(-2.0 * log(u[0]));
    double angle = 2.0 * M_PI * u[1];
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}
