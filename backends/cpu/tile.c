/* tile.c: the register kernel of every matrix product. */
#include "backends/cpu/gemm.h"

/* Twice the vectors of one column step. */
enum { STEP = 2 * VEC };

/* rows x (vecs * VEC) of C.  rows and vecs are constants in every call below,
 * so that the accumulators live in registers. */
ALWAYS_INLINE void kernel(const struct tile *t, const real *a, const real *b,
                          real *c, const int rows, const int vecs)
{
    vec sum[TILE_ROWS][2];

#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        __builtin_prefetch(c + i * t->ldc, 1);
        __builtin_prefetch(c + i * t->ldc + vecs * VEC - 1, 1);
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vecs; j++)
            sum[i][j] = vec_zero();
    for (int64_t k = 0; k < t->k; k++) {
        vec column[2];

#pragma GCC unroll 2
        for (int j = 0; j < vecs; j++)
            column[j] = vec_load(b + k * t->b_k + j * VEC);
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++) {
            vec factor = vec_set(a[i * t->a_row + k * t->a_k]);

#pragma GCC unroll 2
            for (int j = 0; j < vecs; j++)
                sum[i][j] = vec_fma(factor, column[j], sum[i][j]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vecs; j++) {
            real *out = c + i * t->ldc + j * VEC;

            vec_store(out, t->accumulate ? vec_add(vec_load(out), sum[i][j])
                                         : sum[i][j]);
        }
}

/* One kernel per height; a height of 1 in the names is the step below. */
#define KERNELS(rows)                                                          \
    static __attribute__((noinline)) void wide_##rows(                         \
        const struct tile *t, const real *a, const real *b, real *c)           \
    {                                                                          \
        kernel(t, a, b, c, rows, 2);                                           \
    }                                                                          \
    static __attribute__((noinline)) void narrow_##rows(                       \
        const struct tile *t, const real *a, const real *b, real *c)           \
    {                                                                          \
        kernel(t, a, b, c, rows, 1);                                           \
    }

typedef void (*kernel_fn)(const struct tile *t, const real *a, const real *b,
                          real *c);
struct height {
    int rows;
    kernel_fn wide, narrow;
};
#define HEIGHT(rows)                                                           \
    {                                                                          \
        rows, wide_##rows, narrow_##rows                                       \
    }

KERNELS(1)
KERNELS(2)
#if TILE_ROWS == 14
KERNELS(4)
KERNELS(8)
KERNELS(14)
static const struct height heights[] = {HEIGHT(14), HEIGHT(8), HEIGHT(4),
                                        HEIGHT(2), HEIGHT(1)};
#elif TILE_ROWS == 6
KERNELS(4)
KERNELS(6)
static const struct height heights[] = {HEIGHT(6), HEIGHT(4), HEIGHT(2),
                                        HEIGHT(1)};
#else
KERNELS(4)
static const struct height heights[] = {HEIGHT(4), HEIGHT(2), HEIGHT(1)};
#endif

void NAME(tile_multiply)(const struct tile *t, int64_t rows, int64_t cols)
{
    const struct height *height = heights;

    for (int64_t i = 0; i < rows; i += height->rows) {
        const real *a = t->a + i * t->a_row;
        real *c = t->c + i * t->ldc;
        int64_t j = 0;

        while (height->rows > rows - i)
            height++;
        for (; j + VEC < cols; j += STEP)
            height->wide(t, a, t->b + j, c + j);
        if (j < cols)
            height->narrow(t, a, t->b + j, c + j);
    }
}
