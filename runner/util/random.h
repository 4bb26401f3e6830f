/* Random numbers as a pure function of (seed, name, index).
 *
 * There is no state to advance: the same three give the same number on any
 * machine, in any order, from any thread; asking for more numbers, or adding a
 * stream, changes none of the others. Philox4x32-10: the seed is the key, the
 * counter is the index (low 64 bits) and a hash of the name (high 64 bits).
 * One index is one block of 128 bits, so the kinds of draw below must not be
 * mixed at one index where they have to be independent. */
#ifndef M2_UTIL_RANDOM_H
#define M2_UTIL_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_stream {
    uint64_t seed;
    uint64_t name_hash; /* FNV-1a, 64 bits */
};

struct random_stream random_stream(uint64_t seed, const char *name);

uint64_t random_u64(struct random_stream stream, uint64_t index);

/* In [0, 1): a multiple of 2^-53. */
double random_uniform(struct random_stream stream, uint64_t index);

/* Standard normal (Box-Muller, cosine branch). log and cos come from libm, so
 * another libm may differ in the last bit. */
double random_normal(struct random_stream stream, uint64_t index);

/* In [0, bound) without bias; bound > 0, index < 2^56. */
uint64_t random_bounded(struct random_stream stream, uint64_t index,
                        uint64_t bound);

/* A random order of 0 .. n-1; uses the indices 1 .. n-1. */
void random_permutation(struct random_stream stream, size_t n, size_t *out);

#endif
