/* self_test.c: is arithmetic on this machine what it should be?  Run when a
 * device is opened: wrong results of a BLAS on one processor type have been
 * seen in the field, and must not reach a training run. */
#include <stdlib.h>

#include "backends/cpu/gemm.h"

enum { ROWS = 37, COLS = 53, DEPTH = 301 };

/* Small integers over 64: every product and most sums are exact. */
static void fill(real *x, int64_t count, uint32_t seed)
{
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (real)((int32_t)(seed >> 24) - 128) / R(64.0);
    }
}

static double worst_error(const real *a, const real *b, const real *c)
{
    double worst = 0;

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++) {
            double sum = 0, error;

            for (int64_t k = 0; k < DEPTH; k++)
                sum += (double)a[i * DEPTH + k] * (double)b[j * DEPTH + k];
            error = fabs((double)c[i * COLS + j] - sum);
            if (!(error <= worst))
                worst = error;
        }
    return worst;
}

/* Largest error of C = A B^T, as a multiple of what rounding may cause: DEPTH
 * terms of at most 4.  Negative: no memory. */
double gemm_self_test(struct handle *h)
{
    const double allowed = 4.0 * DEPTH * (M2_REAL == 32 ? 0x1p-23 : 0x1p-52);
    char *scratch = malloc(gemm_scratch(h, COLS, DEPTH) + 64);
    real *a = malloc(sizeof(real) * ROWS * DEPTH);
    real *b = malloc(sizeof(real) * COLS * DEPTH);
    real *c = malloc(sizeof(real) * ROWS * COLS);
    double worst = -1;

    if (scratch != NULL && a != NULL && b != NULL && c != NULL) {
        struct gemm g = {.m = ROWS,
                         .n = COLS,
                         .k = DEPTH,
                         .a = a,
                         .a_row = DEPTH,
                         .a_k = 1,
                         .b = b,
                         .b_k = 1,
                         .b_col = DEPTH,
                         .c = c,
                         .ldc = COLS};

        fill(a, ROWS * DEPTH, 1);
        fill(b, COLS * DEPTH, 2);
        gemm_run(h, &g, scratch);
        worst = worst_error(a, b, c) / allowed;
    }
    free(scratch);
    free(a);
    free(b);
    free(c);
    return worst;
}
