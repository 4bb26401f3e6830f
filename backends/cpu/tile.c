/* tile.c: the register kernel of every matrix product. */
#include "backends/cpu/gemm.h"

enum { STEP = 2 * VEC };

/* What the kernel asks for ahead of its use, a line or two per step of k.  A
 * by rows: the rows below, in stretches of 16 steps that take in 256 elements
 * of a row.  A by columns: itself, AHEAD steps further. */
enum {
    LINE = 64 / (int)sizeof(real),
    LINES = (int)sizeof(real) / 4,
    STRETCH = 16,
    AHEAD = 12,
};
struct ahead {
    const real *next;
    int64_t along, across; /* per step, per stretch */
    int64_t beside;        /* the second line of a step */
};

ALWAYS_INLINE struct ahead ahead_of(const struct tile *t, const real *a,
                                    const int rows)
{
    if (t->a_row == 1)
        return (struct ahead){.next = a + AHEAD * t->a_k + rows - 1,
                              .along = t->a_k,
                              .beside = -LINE};
    return (struct ahead){.next = a + rows * t->a_row,
                          .along = LINES * LINE,
                          .across = t->a_row - STRETCH * LINES * LINE,
                          .beside = LINE};
}

/* rows x (vecs * VEC) of C.  rows and vecs are constants in every call below,
 * so that the accumulators live in registers. */
ALWAYS_INLINE void kernel(const struct tile *t, const real *a, const real *b,
                          real *c, const int rows, const int vecs)
{
    vec sum[TILE_ROWS][2];
    struct ahead ahead = ahead_of(t, a, rows);

    UNROLL
    for (int i = 0; i < rows; i++) {
        __builtin_prefetch(c + i * t->ldc, 1);
        __builtin_prefetch(c + i * t->ldc + vecs * VEC - 1, 1);
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++)
            sum[i][j] = vec_zero();
    }
    for (int64_t k0 = 0; k0 < t->k; k0 += STRETCH) {
        int64_t end = min_i64(k0 + STRETCH, t->k);

        for (int64_t k = k0; k < end; k++) {
            vec column[2];

            __builtin_prefetch(ahead.next);
            if (LINES > 1)
                __builtin_prefetch(ahead.next + ahead.beside);
            ahead.next += ahead.along;
            UNROLL
            for (int j = 0; j < vecs; j++)
                column[j] = vec_load(b + k * t->b_k + j * VEC);
            UNROLL
            for (int i = 0; i < rows; i++) {
                vec factor = vec_set(a[i * t->a_row + k * t->a_k]);

                UNROLL
                for (int j = 0; j < vecs; j++)
                    sum[i][j] = vec_fma(factor, column[j], sum[i][j]);
            }
        }
        ahead.next += ahead.across;
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        real *out = c + i * t->ldc;

        UNROLL
        for (int j = 0; j < vecs; j++, out += VEC)
            vec_store(out, t->accumulate ? vec_add(vec_load(out), sum[i][j])
                                         : sum[i][j]);
    }
}

/* A kernel of two vectors and one of one vector per height. */
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

void tile_multiply(const struct tile *t, int64_t rows, int64_t cols)
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
