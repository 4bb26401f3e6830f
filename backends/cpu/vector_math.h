/* Elementary functions in plain C that the compiler vectorises: no branches,
 * no tables, no calls; a value does not depend on its place in a vector.
 *
 * exp: x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite's two-part ln 2;
 * Muller, Elementary Functions, 3rd ed., section 11.2), a Taylor polynomial
 * for exp(r), then two exact scalings, so that overflow and denormal results
 * round once.  n is found by adding 1.5 * 2^(mantissa bits), which leaves the
 * nearest integer in the low bits of the sum.
 * log: m = 2^k (1 + f) with the mantissa in [sqrt 1/2, sqrt 2), s = f/(2+f),
 * log(1+f) = 2 atanh s as an odd series in s (Muller, section 4.2).
 *
 * Errors, measured over all classes of input by tests/unit/test_cpu_math: exp
 * below 2 units in the last place, softplus and sigmoid below 3.  NaN gives
 * NaN, -inf and inf give the limits. */
#ifndef M2_CPU_VECTOR_MATH_H
#define M2_CPU_VECTOR_MATH_H

#include "backends/cpu/real.h"

/* 2^n for the integer n whose sum with 1.5 * 2^23 is `shifted`. */
ALWAYS_INLINE float pow2_f32(float shifted)
{
    uint32_t bits;
    float power;

    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + 0x3f800000u;
    memcpy(&power, &bits, sizeof power);
    return power;
}

ALWAYS_INLINE double pow2_f64(double shifted)
{
    uint64_t bits;
    double power;

    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* exp(r) for |r| <= ln 2 / 2. */
ALWAYS_INLINE float exp_polynomial_f32(float r)
{
    float p = fma_f32(1.0f / 5040, r, 1.0f / 720);

    p = fma_f32(p, r, 1.0f / 120);
    p = fma_f32(p, r, 1.0f / 24);
    p = fma_f32(p, r, 1.0f / 6);
    p = fma_f32(p, r, 0.5f);
    p = fma_f32(p, r, 1.0f);
    return fma_f32(p, r, 1.0f);
}

ALWAYS_INLINE double exp_polynomial_f64(double r)
{
    double p = fma_f64(1.0 / 6227020800, r, 1.0 / 479001600);

    p = fma_f64(p, r, 1.0 / 39916800);
    p = fma_f64(p, r, 1.0 / 3628800);
    p = fma_f64(p, r, 1.0 / 362880);
    p = fma_f64(p, r, 1.0 / 40320);
    p = fma_f64(p, r, 1.0 / 5040);
    p = fma_f64(p, r, 1.0 / 720);
    p = fma_f64(p, r, 1.0 / 120);
    p = fma_f64(p, r, 1.0 / 24);
    p = fma_f64(p, r, 1.0 / 6);
    p = fma_f64(p, r, 0.5);
    p = fma_f64(p, r, 1.0);
    return fma_f64(p, r, 1.0);
}

ALWAYS_INLINE float exp_f32(float x)
{
    const float magic = 12582912.0f, log2e = 1.44269504f;
    const float ln2_high = 6.9313812256e-01f, ln2_low = 9.0580006145e-06f;
    float shifted, n, r, p, half;

    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    shifted = fma_f32(x, log2e, magic);
    n = shifted - magic;
    r = fma_f32(n, -ln2_high, x);
    r = fma_f32(n, -ln2_low, r);
    p = exp_polynomial_f32(r);
    half = fma_f32(n, 0.5f, magic);
    return p * pow2_f32(half) * pow2_f32(n - (half - magic) + magic);
}

ALWAYS_INLINE double exp_f64(double x)
{
    const double magic = 6755399441055744.0, log2e = 1.4426950408889634;
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    double shifted, n, r, p, half;

    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    shifted = fma_f64(x, log2e, magic);
    n = shifted - magic;
    r = fma_f64(n, -ln2_high, x);
    r = fma_f64(n, -ln2_low, r);
    p = exp_polynomial_f64(r);
    half = fma_f64(n, 0.5, magic);
    return p * pow2_f64(half) * pow2_f64(n - (half - magic) + magic);
}

/* log(u) + correction / u for u in [1, 2^40): the two halves of log1p, where
 * u = 1 + e was rounded and correction is what the rounding lost. */
ALWAYS_INLINE double log_corrected(double u, double correction)
{
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcdu;
    uint64_t bits, exponent, shifted;
    double m, k, f, s, z, p;

    memcpy(&bits, &u, sizeof bits);
    exponent = (bits - sqrt_half) >> 52;
    bits -= exponent << 52;
    memcpy(&m, &bits, sizeof m);
    shifted = exponent | 0x4330000000000000u; /* 2^52 + exponent */
    memcpy(&k, &shifted, sizeof k);
    k -= 4503599627370496.0;
    f = m - 1.0;
    s = f / (2.0 + f);
    z = s * s;
    p = fma_f64(1.0 / 21, z, 1.0 / 19);
    p = fma_f64(p, z, 1.0 / 17);
    p = fma_f64(p, z, 1.0 / 15);
    p = fma_f64(p, z, 1.0 / 13);
    p = fma_f64(p, z, 1.0 / 11);
    p = fma_f64(p, z, 1.0 / 9);
    p = fma_f64(p, z, 1.0 / 7);
    p = fma_f64(p, z, 1.0 / 5);
    p = fma_f64(p, z, 1.0 / 3);
    p = 2.0 * s * z * p + (fma_f64(k, ln2_low, correction / u) + 2.0 * s);
    return fma_f64(k, ln2_high, p);
}

/* log(1 + e^v), the identity above 20 as torch has it. */
ALWAYS_INLINE double softplus_f64(double v)
{
    double e = exp_f64(v > 20.0 ? 20.0 : v);
    double u = 1.0 + e;
    double value = log_corrected(u, e - (u - 1.0));

    return v > 20.0 ? v : value;
}

/* exp for x <= 0 that never gets smaller than the smallest normal number, and
 * so needs one scaling only: where it is added to 1 nothing else matters. */
ALWAYS_INLINE float exp_falling_f32(float x)
{
    const float magic = 12582912.0f, log2e = 1.44269504f;
    const float ln2_high = 6.9313812256e-01f, ln2_low = 9.0580006145e-06f;
    float shifted, n, r;

    x = x < -87.0f ? -87.0f : x;
    shifted = fma_f32(x, log2e, magic);
    n = shifted - magic;
    r = fma_f32(n, -ln2_high, x);
    r = fma_f32(n, -ln2_low, r);
    return exp_polynomial_f32(r) * pow2_f32(shifted);
}

ALWAYS_INLINE double exp_falling_f64(double x)
{
    const double magic = 6755399441055744.0, log2e = 1.4426950408889634;
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    double shifted, n, r;

    x = x < -708.0 ? -708.0 : x;
    shifted = fma_f64(x, log2e, magic);
    n = shifted - magic;
    r = fma_f64(n, -ln2_high, x);
    r = fma_f64(n, -ln2_low, r);
    return exp_polynomial_f64(r) * pow2_f64(shifted);
}

#if M2_REAL == 32
#define exp_real    exp_f32
#define exp_falling exp_falling_f32
#else
#define exp_real    exp_f64
#define exp_falling exp_falling_f64
#endif

ALWAYS_INLINE double sigmoid_f64(double x)
{
    double e = exp_falling_f64(x < 0 ? x : -x);

    return (x < 0 ? e : 1.0) / (1.0 + e);
}

/* 1 / (1 + e^-x) without overflow on either side. */
ALWAYS_INLINE real sigmoid_real(real x)
{
    real e = exp_falling(x < 0 ? x : -x);

    return (x < 0 ? e : R(1.0)) / (R(1.0) + e);
}

ALWAYS_INLINE real silu_real(real x)
{
    return x * sigmoid_real(x);
}

/* Derivative of silu: s (1 + x (1 - s)). */
ALWAYS_INLINE real silu_slope(real x)
{
    real s = sigmoid_real(x);

    return s * fma_real(x, R(1.0) - s, R(1.0));
}

#endif
