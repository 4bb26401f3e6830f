/* Random numbers as a pure function of (seed, name, index). */
#include "util/random.h"

#include <assert.h>
#include <math.h>

#include <Random123/philox.h>

struct block {
    uint64_t low, high;
};

static struct block draw(struct random_stream stream, uint64_t index)
{
    philox4x32_ctr_t counter = {{(uint32_t)index, (uint32_t)(index >> 32),
                                 (uint32_t)stream.name_hash,
                                 (uint32_t)(stream.name_hash >> 32)}};
    philox4x32_key_t key = {
        {(uint32_t)stream.seed, (uint32_t)(stream.seed >> 32)}};
    philox4x32_ctr_t words = philox4x32_R(10, counter, key);

    return (struct block){
        .low = words.v[0] | (uint64_t)words.v[1] << 32,
        .high = words.v[2] | (uint64_t)words.v[3] << 32,
    };
}

/* The 53 high bits: a double in [0, 1). */
static double to_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

struct random_stream random_stream(uint64_t seed, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3U;
    return (struct random_stream){.seed = seed, .name_hash = hash};
}

uint64_t random_u64(struct random_stream stream, uint64_t index)
{
    return draw(stream, index).low;
}

double random_uniform(struct random_stream stream, uint64_t index)
{
    return to_unit(random_u64(stream, index));
}

double random_normal(struct random_stream stream, uint64_t index)
{
    struct block block = draw(stream, index);
    double positive = to_unit(block.low) + 0x1p-53; /* (0, 1]: log is finite */
    double angle = 2 * M_PI * to_unit(block.high);

    return sqrt(-2 * log(positive)) * cos(angle);
}

uint64_t random_bounded(struct random_stream stream, uint64_t index,
                        uint64_t bound)
{
    /* Lemire's method: the high half of word * bound is uniform unless the low
     * half falls below 2^64 mod bound; then the next word decides. Words come
     * from blocks of their own: the top byte of the index counts attempts. */
    uint64_t limit;

    assert(bound > 0 && index >> 56 == 0);
    limit = -bound % bound;
    for (uint64_t attempt = 0;; attempt++) {
        uint64_t word = random_u64(stream, index | attempt << 56);
        unsigned __int128 product = (unsigned __int128)word * bound;

        if ((uint64_t)product >= limit)
            return (uint64_t)(product >> 64);
    }
}

void random_permutation(struct random_stream stream, size_t n, size_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = i;
    for (size_t i = n; i-- > 1;) {
        size_t j = (size_t)random_bounded(stream, i, i + 1);
        size_t swap = out[i];

        out[i] = out[j];
        out[j] = swap;
    }
}
