/* What the files of the scan's backward pass share: ssd_backward.c walks the
 * chunks of a task from last to first, ssd_head.c has the gradients of one head
 * in one chunk.  Names are those of the specification's section 4.8: W = dY
 * X^T, G = C B^T, E = exp(s) dY, R = dL/d(state leaving the chunk). */
#ifndef M2_CPU_SSD_BACKWARD_H
#define M2_CPU_SSD_BACKWARD_H

#include "backends/cpu/ssd.h"

struct backward_job {
    struct job job;
    const struct m2_ssd_backward *op;
    struct ssd_shape s;
    real *db, *dc;   /* per task (L, Np): sums over the heads of the task */
    double *da, *dd; /* (B, H) */
};

/* One task and its scratch. */
struct backward {
    const struct backward_job *job;
    const struct m2_ssd_backward *op;
    const struct ssd_shape *s;
    struct ssd_heads heads;
    struct ssd_decay decay;
    real *db, *dc; /* (q, Np): of the chunk, summed over the task's heads */
    real *b, *c;   /* (q, Np): rows of the chunk */
    real *bt;      /* (N, qp) */
    real *gram;    /* (q, qp): G */
    real *dgram;   /* (q, qp): dG, summed over the task's heads */
    real *w, *mix; /* (q, qp): W, later Z; M */
    real *x, *dy;  /* (q, Pp); dy becomes E */
    real *xt;      /* (P, qp) */
    real *du;      /* (q, Pp) */
    real *side;    /* (q, Np) */
    real *state;   /* (P, Np): S of this head and chunk */
    real *r;       /* (P, Np): R */
    real *rt;      /* (HEADS, N, Pp): R transposed, carried */
    real *column;  /* (qp): sums of Z down its columns */
    double *direct, *from_state, *to_state; /* (q) */
};

/* Head number i of the task in one chunk, whose group is loaded. */
void ssd_head_backward(struct backward *k, const struct ssd_chunk *chunk,
                       int64_t i);

#endif
