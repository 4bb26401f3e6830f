/* Causal depthwise convolution over time with SiLU (specification section
 * 4.5): what forward and backward share.
 *
 * A task is one block of channels of a stretch of one sequence.  The filter
 * is transposed to [K][channels of the block] so that channels fill vectors. */
#ifndef M2_CPU_CONV_H
#define M2_CPU_CONV_H

#include "backends/cpu/real.h"

enum {
    CHANNELS = 64,
    STRETCH = 64,
    AHEAD = 8, /* rows of input asked for in advance */
};

struct conv_job {
    struct job job;
    const void *args;
    int64_t blocks, stretches;
    real *partial; /* backward: (B * stretches, blocks, (K+1) * CHANNELS) */
};

#define CONV(job) ((const struct conv_job *)(const void *)(job))

/* Where a task works. */
struct place {
    int64_t b, first, width, from, to; /* channels [first, first + width) */
};

/* The input of one block of channels with its history: row(t) for
 * t >= -(K-1). */
struct history {
    const real *x; /* row 0 of the sequence, first channel of the block */
    int64_t ld, K;
    const real *past; /* (K-1, CHANNELS): rows -(K-1) .. -1 */
};

static inline const real *history_row(const struct history *in, int64_t t)
{
    return t >= 0 ? in->x + t * in->ld : in->past + (t + in->K - 1) * CHANNELS;
}

/* One block of channels of one stretch: what both passes need. */
struct block {
    struct place p;
    struct history in;
    real *filter; /* (K, CHANNELS) */
    real *bias;   /* (CHANNELS), zeros without one */
    real *pre;    /* (STRETCH + K-1, CHANNELS) */
    /* What is read next, by rows of the sequence (dy), or NULL.  Each row lies
     * on a page of its own, where the hardware does not look ahead. */
    const real *next;
    int64_t next_ld;
};

struct place conv_place(const struct conv_job *job, int64_t task,
                        int64_t channels, int64_t L);
size_t conv_block_bytes(int64_t K);
struct block conv_block(const struct m2_conv1d_silu *op, const struct place *p,
                        char *scratch);

/* Four taps and whole vectors: filter and inputs stay in registers. */
static inline int is_common(const struct block *k)
{
    return k->in.K == 4 && k->p.width % VEC == 0;
}

/* pre[t - from] = bias + sum over k of filter[k] input[t - (K-1) + k] for
 * t in [from, end). */
void convolve(const struct block *k, int64_t end);

#endif
