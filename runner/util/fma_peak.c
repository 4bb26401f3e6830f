/* Measuring the peak of the vector units.
 *
 * A kernel keeps CHAINS vectors in registers and updates each by x = x*a + b:
 * as many independent operations as hide the latency of one.  The kernels of
 * x86 are compiled for vectors that the build itself does not assume, and
 * chosen by what the processor has. */
#include "util/fma_peak.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "util/timefmt.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { CHAINS = 12, ROUNDS = 20000, RUNS = 40, MAX_THREADS = 256 };

/* A kernel does ROUNDS * CHAINS vector operations and returns a sum of the
 * results, so that no compiler leaves them out. */
typedef double (*kernel_fn)(void);

/* The factor and the summand keep every x near 1. */
#define FACTOR  0.999
#define SUMMAND 0.001

#define KERNEL_BODY(vector, set, fma, add, first)                              \
    vector a = set(FACTOR), b = set(SUMMAND), x[CHAINS];                       \
    for (int i = 0; i < CHAINS; i++)                                           \
        x[i] = set(1.0 + i);                                                   \
    for (int r = 0; r < ROUNDS; r++) {                                         \
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) x[i] =       \
            fma(x[i], a, b);                                                   \
    }                                                                          \
    for (int i = 1; i < CHAINS; i++)                                           \
        x[0] = add(x[0], x[i]);                                                \
    return (double)first(x[0]);

struct kernels {
    const char *isa;
    kernel_fn f32, f64;
    int lanes_f32, lanes_f64;
};

static double plain_f32(void)
{
    float x[CHAINS];
    double sum = 0;

    for (int i = 0; i < CHAINS; i++)
        x[i] = 1.0f + (float)i;
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < CHAINS; i++)
            x[i] = x[i] * (float)FACTOR + (float)SUMMAND;
    for (int i = 0; i < CHAINS; i++)
        sum += (double)x[i];
    return sum;
}

static double plain_f64(void)
{
    double x[CHAINS], sum = 0;

    for (int i = 0; i < CHAINS; i++)
        x[i] = 1.0 + i;
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < CHAINS; i++)
            x[i] = x[i] * FACTOR + SUMMAND;
    for (int i = 0; i < CHAINS; i++)
        sum += x[i];
    return sum;
}

#if defined(__x86_64__)
#define SET1_PS(value)     _mm256_set1_ps((float)(value))
#define SET1_512_PS(value) _mm512_set1_ps((float)(value))

__attribute__((target("avx2,fma"))) static double avx2_f32(void)
{
    KERNEL_BODY(__m256, SET1_PS, _mm256_fmadd_ps, _mm256_add_ps,
                _mm256_cvtss_f32)
}
__attribute__((target("avx2,fma"))) static double avx2_f64(void)
{
    KERNEL_BODY(__m256d, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_add_pd,
                _mm256_cvtsd_f64)
}
__attribute__((target("avx512f"))) static double avx512_f32(void)
{
    KERNEL_BODY(__m512, SET1_512_PS, _mm512_fmadd_ps, _mm512_add_ps,
                _mm512_cvtss_f32)
}
__attribute__((target("avx512f"))) static double avx512_f64(void)
{
    KERNEL_BODY(__m512d, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_add_pd,
                _mm512_cvtsd_f64)
}
#elif defined(__aarch64__)
#define SET_F32(value)   vdupq_n_f32((float)(value))
#define FMA_F32(x, a, b) vfmaq_f32(b, x, a)
#define FMA_F64(x, a, b) vfmaq_f64(b, x, a)
#define FIRST_F32(x)     vgetq_lane_f32(x, 0)
#define FIRST_F64(x)     vgetq_lane_f64(x, 0)

static double neon_f32(void)
{
    KERNEL_BODY(float32x4_t, SET_F32, FMA_F32, vaddq_f32, FIRST_F32)
}
static double neon_f64(void)
{
    KERNEL_BODY(float64x2_t, vdupq_n_f64, FMA_F64, vaddq_f64, FIRST_F64)
}
#endif

static struct kernels choose(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return (struct kernels){"avx512", avx512_f32, avx512_f64, 16, 8};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (struct kernels){"avx2", avx2_f32, avx2_f64, 8, 4};
#elif defined(__aarch64__)
    return (struct kernels){"neon", neon_f32, neon_f64, 4, 2};
#endif
    return (struct kernels){"plain", plain_f32, plain_f64, 1, 1};
}

const char *fma_peak_isa(void)
{
    return choose().isa;
}

struct measurement {
    kernel_fn kernel;
    double best_s;
    double sum; /* of results: read by nobody, but the compiler cannot know */
};

static void *measure(void *argument)
{
    struct measurement *m = argument;

    m->best_s = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double begin = time_monotonic(), seconds;

        m->sum += m->kernel();
        seconds = time_monotonic() - begin;
        if (seconds < m->best_s)
            m->best_s = seconds;
    }
    return NULL;
}

double fma_peak(bool is_double, int threads)
{
    struct kernels kernels = choose();
    struct measurement measurements[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    double lanes = is_double ? kernels.lanes_f64 : kernels.lanes_f32;
    double flops = 2.0 * lanes * CHAINS * ROUNDS, peak = 0;
    int started = 0;

    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    for (int i = 0; i < threads; i++)
        measurements[i] = (struct measurement){
            .kernel = is_double ? kernels.f64 : kernels.f32};
    while (started + 1 < threads && pthread_create(&ids[started], NULL, measure,
                                                   &measurements[started]) == 0)
        started++;
    measure(&measurements[started]);
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i <= started; i++)
        peak += flops / measurements[i].best_s;
    return peak;
}
