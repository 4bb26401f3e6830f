/* The elementary functions of backends/cpu against long double, over all
 * classes of input.  Built for the base and for the avx2 variant, which round
 * differently. */
#include "backends/cpu/vector_math.h"
#include "unit.h"

#include <float.h>

/* Error in units in the last place of a float or double result. */
static double ulps(long double got, long double want, int mantissa_bits,
                   int lowest_exponent)
{
    int exponent;

    if (got == want)
        return 0;
    if (isnan(got) || isnan(want) || isinf(got) || isinf(want))
        return INFINITY;
    frexpl(want, &exponent);
    if (exponent < lowest_exponent)
        exponent = lowest_exponent;
    return (double)(fabsl(got - want) / ldexpl(1, exponent - mantissa_bits));
}

static double ulps_f32(float got, long double want)
{
    if (fabsl(want) > (long double)FLT_MAX * (1 + 0x1p-25L))
        return isinf(got) ? 0 : INFINITY;
    return ulps((long double)got, want, FLT_MANT_DIG, FLT_MIN_EXP);
}

static double ulps_f64(double got, long double want)
{
    if (fabsl(want) > (long double)DBL_MAX * (1 + 0x1p-54L))
        return isinf(got) ? 0 : INFINITY;
    return ulps((long double)got, want, DBL_MANT_DIG, DBL_MIN_EXP);
}

/* Evenly over [low, high], ends included. */
enum { STEPS = 200000 };
static double point(double low, double high, int i)
{
    return low + (high - low) * i / STEPS;
}

static void exp_f32_is_within_two_ulps(void **state)
{
    double worst = 0;

    (void)state;
    for (int i = 0; i <= STEPS; i++) {
        float x = (float)point(-105, 90, i);
        double error = ulps_f32(exp_f32(x), expl((long double)x));

        if (!(error < 2))
            fail_msg("exp(%.9g) is %.9g, off by %.3g ulp", (double)x,
                     (double)exp_f32(x), error);
        worst = error > worst ? error : worst;
    }
    print_message("worst %.3f ulp\n", worst);
}

static void exp_f64_is_within_two_ulps(void **state)
{
    double worst = 0;

    (void)state;
    for (int i = 0; i <= STEPS; i++) {
        double x = point(-750, 715, i);
        double error = ulps_f64(exp_f64(x), expl((long double)x));

        if (!(error < 2))
            fail_msg("exp(%.17g) is %.17g, off by %.3g ulp", x, exp_f64(x),
                     error);
        worst = error > worst ? error : worst;
    }
    print_message("worst %.3f ulp\n", worst);
}

static void exp_keeps_the_special_values(void **state)
{
    (void)state;
    assert_true(exp_f32(-INFINITY) == 0);
    assert_true(isinf(exp_f32(INFINITY)));
    assert_true(isnan(exp_f32(NAN)));
    assert_true(exp_f32(0.0f) == 1 && exp_f32(-0.0f) == 1);
    assert_true(exp_f32(0x1p-149f) == 1 && exp_f32(-0x1p-149f) == 1);
    assert_true(isinf(exp_f32(88.8f)) && !isinf(exp_f32(88.7f)));
    assert_true(exp_f32(-103.9f) == 0x1p-149f && exp_f32(-104) == 0);
    assert_true(exp_f32(FLT_MAX) > FLT_MAX && exp_f32(-FLT_MAX) == 0);
    assert_true(exp_f64(-INFINITY) == 0);
    assert_true(isinf(exp_f64(INFINITY)));
    assert_true(isnan(exp_f64(NAN)));
    assert_true(exp_f64(0.0) == 1 && exp_f64(-0.0) == 1);
    assert_true(exp_f64(0x1p-1074) == 1);
    assert_true(isinf(exp_f64(709.8)) && !isinf(exp_f64(709.7)));
    assert_true(exp_f64(-745.1) == 0x1p-1074 && exp_f64(-746) == 0);
    assert_true(exp_f64(DBL_MAX) > DBL_MAX && exp_f64(-DBL_MAX) == 0);
}

static void softplus_is_within_three_ulps(void **state)
{
    (void)state;
    for (int i = 0; i <= STEPS; i++) {
        double v = point(-745, 20, i);
        double error = ulps_f64(softplus_f64(v), log1pl(expl((long double)v)));

        if (!(error < 3))
            fail_msg("softplus(%.17g) is %.17g, off by %.3g ulp", v,
                     softplus_f64(v), error);
    }
}

static void softplus_is_the_identity_above_20(void **state)
{
    (void)state;
    assert_true(softplus_f64(20.000001) == 20.000001);
    assert_true(softplus_f64(1e300) == 1e300);
    assert_true(isinf(softplus_f64(INFINITY)));
    assert_true(softplus_f64(-INFINITY) == 0);
    assert_true(isnan(softplus_f64(NAN)));
}

/* Below the exponents of `exp_falling` only the distance to 0 counts. */
static void sigmoid_is_within_three_ulps(void **state)
{
    double limit = M2_REAL == 32 ? 87 : 708;
    double tiny = M2_REAL == 32 ? 2e-38 : 4e-308;

    (void)state;
    for (int i = 0; i <= STEPS; i++) {
        real x = (real)point(-limit, limit, i);
        long double want = 1 / (1 + expl(-(long double)x));
        double error = M2_REAL == 32 ? ulps_f32((float)sigmoid_real(x), want)
                                     : ulps_f64((double)sigmoid_real(x), want);

        if (!(error < 3))
            fail_msg("sigmoid(%.17g) is %.17g, off by %.3g ulp", (double)x,
                     (double)sigmoid_real(x), error);
    }
    assert_true((double)sigmoid_real((real)(-2 * limit)) < tiny);
    assert_true(sigmoid_real(-INFINITY) >= 0 &&
                (double)sigmoid_real(-INFINITY) < tiny);
    assert_true(sigmoid_real(INFINITY) == 1);
    assert_true(isnan(sigmoid_real(NAN)));
    assert_true(sigmoid_real(0) == R(0.5));
}

/* A value may not depend on where in a vector, or in a row, it stands. */
static void a_value_does_not_depend_on_its_place(void **state)
{
    enum { N = 131 };
    real x[N], alone[N], together[N];

    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (real)point(-40, 40, i * (STEPS / N));
    for (int i = 0; i < N; i++) {
        volatile real one = x[i];

        alone[i] = silu_real(one);
    }
    for (int first = 0; first < 40; first++) {
#pragma omp simd
        for (int i = first; i < N; i++)
            together[i] = silu_real(x[i]);
        assert_memory_equal(together + first, alone + first,
                            (size_t)(N - first) * sizeof(real));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_f32_is_within_two_ulps),
        cmocka_unit_test(exp_f64_is_within_two_ulps),
        cmocka_unit_test(exp_keeps_the_special_values),
        cmocka_unit_test(softplus_is_within_three_ulps),
        cmocka_unit_test(softplus_is_the_identity_above_20),
        cmocka_unit_test(sigmoid_is_within_three_ulps),
        cmocka_unit_test(a_value_does_not_depend_on_its_place),
    };

#if M2_ISA == 1
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        print_message("# this processor has no avx2\n");
        return 77;
    }
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
