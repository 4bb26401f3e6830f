/* transpose.c: rows to columns, a square of vectors at a time. */
#include "backends/cpu/gemm.h"

/* log2(VEC) rounds of zipping row i with row i + VEC/2 turn rows into
 * columns. */
static void square(real *out, int64_t out_ld, const real *in, int64_t in_ld)
{
    vec row[VEC];

    UNROLL
    for (int i = 0; i < VEC; i++)
        row[i] = vec_load(in + i * in_ld);
    UNROLL
    for (int round = 1; round < VEC; round *= 2) {
        vec next[VEC];

        UNROLL
        for (int i = 0; i < VEC / 2; i++) {
            next[2 * i] = vec_zip_low(row[i], row[i + VEC / 2]);
            next[2 * i + 1] = vec_zip_high(row[i], row[i + VEC / 2]);
        }
        UNROLL
        for (int i = 0; i < VEC; i++)
            row[i] = next[i];
    }
    UNROLL
    for (int i = 0; i < VEC; i++)
        vec_store(out + i * out_ld, row[i]);
}

void transpose(real *out, int64_t out_ld, const real *in, int64_t in_ld,
               struct extent extent)
{
    int64_t rows = extent.rows / VEC * VEC, cols = extent.cols / VEC * VEC;

    for (int64_t i = 0; i < rows; i += VEC)
        for (int64_t j = 0; j < cols; j += VEC)
            square(out + j * out_ld + i, out_ld, in + i * in_ld + j, in_ld);
    for (int64_t i = 0; i < extent.rows; i++)
        for (int64_t j = i < rows ? cols : 0; j < extent.cols; j++)
            out[j * out_ld + i] = in[i * in_ld + j];
}
