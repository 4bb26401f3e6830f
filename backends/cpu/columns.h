/* Sums over all rows of a matrix, column by column: the gradient of a weight
 * that every row shares.  Tiles of rows leave partial sums in scratch, which
 * are then added in order: the bits depend on the shape alone. */
#ifndef M2_CPU_COLUMNS_H
#define M2_CPU_COLUMNS_H

#include "backends/cpu/real.h"

/* Rows of a tile: shapes decide, never threads. */
enum { COLUMN_TILE = 64 };

/* out[j] += sum over tiles of partial[tile*stride + j], summed in f64. */
static inline void columns_add(const real *partial, int64_t tiles,
                               int64_t stride, real *out, int64_t count)
{
    enum { BLOCK = 64 };

    for (int64_t j0 = 0; j0 < count; j0 += BLOCK) {
        int64_t width = min_i64(BLOCK, count - j0);
        double sum[BLOCK] = {0};

        for (int64_t i = 0; i < tiles; i++) {
            const real *row = partial + i * stride + j0;

#pragma omp simd
            for (int64_t j = 0; j < width; j++)
                sum[j] += (double)row[j];
        }
        for (int64_t j = 0; j < width; j++)
            out[j0 + j] += (real)sum[j];
    }
}

#endif
