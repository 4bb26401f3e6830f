/* Matrix products of the CPU backend.
 *
 * Large ones: C = A B over packed panels of B.  Every element of C is built
 * the same way whatever the tile, the thread or the number of rows: blocks of
 * up to GEMM_DEPTH products, each summed in the order of k, added in order.  So
 * one row gives the same bits alone and inside a batch. The base variant calls
 * OpenBLAS instead, on fixed tiles of C.
 *
 * Small ones, inside a task: tile_multiply, on padded scratch. */
#ifndef M2_CPU_GEMM_H
#define M2_CPU_GEMM_H

#include "backends/cpu/real.h"

struct gemm {
    int64_t m, n, k;
    const real *a; /* element (i, k) at i*a_row + k*a_k; a_row or a_k is 1 */
    int64_t a_row, a_k;
    const real *b; /* element (k, j) at k*b_k + j*b_col; b_k or b_col is 1 */
    int64_t b_k, b_col;
    real *c; /* (m, n) */
    int64_t ldc;
    int accumulate;       /* C += A B; otherwise C = A B + bias + residual */
    const real *bias;     /* (n), or NULL */
    const real *residual; /* (m, n), may be c, or NULL */
    int64_t residual_ld;
};

/* Bytes of scratch that gemm_run needs. */
size_t gemm_scratch(const struct handle *h, int64_t n, int64_t k);
void gemm_run(const struct handle *h, const struct gemm *g, char *scratch);
double gemm_self_test(struct handle *h); /* self_test.c */

#if M2_ISA == 0
/* blas.c: one tile of a product by OpenBLAS, C = A B or C += A B. */
void blas_tile(const struct gemm *g);
#endif

/* C (rows, cols) = or += A B, on one thread.  Rows of b and c must be padded
 * to whole vectors: cols is rounded up to VEC, and the rest is computed. */
struct tile {
    int64_t k;
    const real *a;
    int64_t a_row, a_k;
    const real *b;
    int64_t b_k;
    real *c;
    int64_t ldc;
    int accumulate;
};
void tile_multiply(const struct tile *t, int64_t rows, int64_t cols);

/* out[j*out_ld + i] = in[i*in_ld + j] (transpose.c) */
struct extent {
    int64_t rows, cols; /* of in */
};
void transpose(real *out, int64_t out_ld, const real *in, int64_t in_ld,
               struct extent extent);

#endif
