/* blas.c: tiles of a product by OpenBLAS, for processors without the vector
 * kernels of tile.c.  OpenBLAS runs on one thread per call (handle.c). */
#include "backends/cpu/gemm.h"

#if M2_ISA == 0
#include <cblas.h>

#if M2_REAL == 32
#define CBLAS_GEMM cblas_sgemm
#else
#define CBLAS_GEMM cblas_dgemm
#endif

/* Below this many products a call into the library costs more. */
enum { DIRECT_BELOW = 4096 };

static void direct(const struct gemm *g)
{
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            real *out = g->c + i * g->ldc + j;
            real sum = 0;

            for (int64_t k = 0; k < g->k; k++)
                sum += g->a[i * g->a_row + k * g->a_k] *
                       g->b[k * g->b_k + j * g->b_col];
            *out = g->accumulate ? *out + sum : sum;
        }
}

void blas_tile(const struct gemm *g)
{
    int a_plain = g->a_k == 1, b_plain = g->b_col == 1, threads;

    if (g->m * g->n * g->k < DIRECT_BELOW) {
        direct(g);
        return;
    }
    threads = openmp_threads(1);
    CBLAS_GEMM(CblasRowMajor, a_plain ? CblasNoTrans : CblasTrans,
               b_plain ? CblasNoTrans : CblasTrans, (blasint)g->m,
               (blasint)g->n, (blasint)g->k, 1, g->a,
               (blasint)(a_plain ? g->a_row : g->a_k), g->b,
               (blasint)(b_plain ? g->b_k : g->b_col), g->accumulate ? 1 : 0,
               g->c, (blasint)g->ldc);
    openmp_threads(threads);
}
#else
typedef int no_blas_in_this_variant;
#endif
