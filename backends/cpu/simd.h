/* Vectors of one instruction set, and the fused multiply-add.
 *
 * Most loops are plain C that the compiler vectorises (#pragma omp simd).  The
 * vec_ functions are for the two places where register use decides the speed:
 * matrix products and the kernels of the scan.  VEC is the number of elements
 * of a vector, TILE_ROWS the rows of a register tile: as many accumulators as
 * the registers hold (two vectors a row). */
#ifndef M2_CPU_SIMD_H
#define M2_CPU_SIMD_H

#include "backends/cpu/real.h"

#if M2_ISA > 0
#include <immintrin.h>
#endif
/* a*b + c, rounded once where the instruction set can. */
static inline real fma_real(real a, real b, real c)
{
#if M2_ISA > 0 && M2_REAL == 32
    return __builtin_fmaf(a, b, c);
#elif M2_ISA > 0
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}
static inline float fma_f32(float a, float b, float c)
{
#if M2_ISA > 0
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}
static inline double fma_f64(double a, double b, double c)
{
#if M2_ISA > 0
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

#if M2_ISA == 2
#define VECTOR_BYTES 64
#define TILE_ROWS    14
#elif M2_ISA == 1
#define VECTOR_BYTES 32
#define TILE_ROWS    6
#else
#define VECTOR_BYTES 16
#define TILE_ROWS    4
#endif
enum { VEC = VECTOR_BYTES / (int)sizeof(real) };

/* Before a loop over registers: unrolled completely. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#if M2_ISA == 2 && M2_REAL == 32
typedef __m512 vec;
#define VEC_OP(name) _mm512_##name##_ps
#elif M2_ISA == 2
typedef __m512d vec;
#define VEC_OP(name) _mm512_##name##_pd
#elif M2_ISA == 1 && M2_REAL == 32
typedef __m256 vec;
#define VEC_OP(name) _mm256_##name##_ps
#elif M2_ISA == 1
typedef __m256d vec;
#define VEC_OP(name) _mm256_##name##_pd
#else
typedef real vec __attribute__((vector_size(VECTOR_BYTES)));
#endif

#if M2_ISA > 0
ALWAYS_INLINE vec vec_zero(void)
{
    return VEC_OP(setzero)();
}
ALWAYS_INLINE vec vec_set(real a)
{
    return VEC_OP(set1)(a);
}
ALWAYS_INLINE vec vec_load(const real *a)
{
    return VEC_OP(loadu)(a);
}
ALWAYS_INLINE void vec_store(real *a, vec value)
{
    VEC_OP(storeu)(a, value);
}
ALWAYS_INLINE vec vec_add(vec a, vec b)
{
    return VEC_OP(add)(a, b);
}
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return VEC_OP(fmadd)(a, b, c);
}
#else
ALWAYS_INLINE vec vec_zero(void)
{
    return (vec){0};
}
ALWAYS_INLINE vec vec_set(real a)
{
    return vec_zero() + a;
}
ALWAYS_INLINE vec vec_load(const real *a)
{
    vec value;

    memcpy(&value, a, sizeof value);
    return value;
}
ALWAYS_INLINE void vec_store(real *a, vec value)
{
    memcpy(a, &value, sizeof value);
}
ALWAYS_INLINE vec vec_add(vec a, vec b)
{
    return a + b;
}
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return a * b + c;
}
#endif

/* Elements of a and b in turn: a0 b0 a1 b1 ... from the lower half, and from
 * the upper half. */
#if VECTOR_BYTES * 8 / M2_REAL == 16
#define ZIP_LOW  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif VECTOR_BYTES * 8 / M2_REAL == 8
#define ZIP_LOW  0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif VECTOR_BYTES * 8 / M2_REAL == 4
#define ZIP_LOW  0, 4, 1, 5
#define ZIP_HIGH 2, 6, 3, 7
#else
#define ZIP_LOW  0, 2
#define ZIP_HIGH 1, 3
#endif
ALWAYS_INLINE vec vec_zip_low(vec a, vec b)
{
    return __builtin_shufflevector(a, b, ZIP_LOW);
}
ALWAYS_INLINE vec vec_zip_high(vec a, vec b)
{
    return __builtin_shufflevector(a, b, ZIP_HIGH);
}

/* Sums run in LANES independent lanes, the same for every instruction set: two
 * vectors of avx512.  Element i goes to lane i % LANES. */
enum { LANES = 128 / (int)sizeof(real) };

static inline real lanes_sum(const real *lane)
{
    real sum[LANES];

    memcpy(sum, lane, sizeof sum);
#define FOLD(width)                                                            \
    _Pragma("omp simd") for (int i = 0; i < (width); i++) sum[i] +=            \
        sum[i + (width)];
#if M2_REAL == 32
    FOLD(16)
#endif
    FOLD(8)
    FOLD(4)
    FOLD(2)
#undef FOLD
    return sum[0] + sum[1];
}

/* Sum of n elements, in lanes. */
static inline real sum_real(const real *x, int64_t n)
{
    real lane[LANES] = {0};
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            lane[l] += x[i + l];
    }
    for (int l = 0; i + l < n; l++)
        lane[l] += x[i + l];
    return lanes_sum(lane);
}

/* <a, b> over n elements, in lanes. */
static inline real dot_real(const real *a, const real *b, int64_t n)
{
    real lane[LANES] = {0};
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            lane[l] = fma_real(a[i + l], b[i + l], lane[l]);
    }
    for (int l = 0; i + l < n; l++)
        lane[l] = fma_real(a[i + l], b[i + l], lane[l]);
    return lanes_sum(lane);
}

#endif
