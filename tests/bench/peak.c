/* peak.c: measures how many multiply-adds one core can do. */
#include "peak.h"

#include <time.h>

enum { ROUNDS = 200000, REPEATS = 20 };

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_cpu_seconds(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}

double bench_wall_seconds(void)
{
    return seconds(CLOCK_MONOTONIC);
}

#ifdef __x86_64__
#include <immintrin.h>

/* Twelve independent chains hide the latency; the asm keeps each of them in a
 * register and alive. */
/* clang-format off */
#define CHAINS(X, fma)                                                         \
    X(0, fma) X(1, fma) X(2, fma) X(3, fma) X(4, fma) X(5, fma)                \
    X(6, fma) X(7, fma) X(8, fma) X(9, fma) X(10, fma) X(11, fma)
/* clang-format on */
#define PEAK(name, isa, vec, set, fma)                                         \
    __attribute__((target(isa))) static void name(void)                        \
    {                                                                          \
        vec sum[12], x = set(0.999f), y = set(0.001f);                         \
                                                                               \
        for (int i = 0; i < 12; i++)                                           \
            sum[i] = set(1.0f + 0.01f * (float)i);                             \
        for (int round = 0; round < ROUNDS; round++) {                         \
            CHAINS(ADVANCE, fma)                                               \
        }                                                                      \
    }
#define ADVANCE(i, fma)                                                        \
    sum[i] = fma(sum[i], x, y);                                                \
    __asm__ volatile("" : "+v"(sum[i]));

PEAK(avx512_f32, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
PEAK(avx512_f64, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
PEAK(avx2_f32, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
PEAK(avx2_f64, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd)

double peak_gflops(bool f64)
{
    bool wide = __builtin_cpu_supports("avx512f");
    double lanes = wide ? 16 : 8, best = 0;

    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 0;
    for (int i = 0; i < REPEATS; i++) {
        double start = bench_cpu_seconds(), rate;

        if (wide)
            f64 ? avx512_f64() : avx512_f32();
        else
            f64 ? avx2_f64() : avx2_f32();
        rate = 2.0 * 12 * ROUNDS * (f64 ? lanes / 2 : lanes) /
               (bench_cpu_seconds() - start);
        best = rate > best ? rate : best;
    }
    return 1e-9 * best;
}
#else
double peak_gflops(bool f64)
{
    (void)f64;
    return 0;
}
#endif
