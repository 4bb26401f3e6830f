/* Mean, deviation and interval over seeds. */
#include "results/statistic.h"

#include <math.h>

#include "tests/unit/unit.h"

static void assert_near(double actual, double expected, double relative)
{
    if (!(fabs(actual - expected) <= relative * fabs(expected)))
        fail_msg("%.17g, expected %.17g", actual, expected);
}

static void mean_and_deviation_are_those_of_the_values(void **state)
{
    struct statistic s = {0};

    (void)state;
    assert_true(isnan(statistic_mean(&s)));
    statistic_add(&s, 2);
    assert_near(statistic_mean(&s), 2, 1e-15);
    assert_true(isnan(statistic_std(&s)));
    assert_true(isnan(statistic_interval(&s)));
    statistic_add(&s, 4);
    statistic_add(&s, 9);
    assert_near(statistic_mean(&s), 5, 1e-15);
    assert_near(statistic_std(&s), sqrt((9 + 1 + 16) / 2.0), 1e-15);
}

static void what_is_not_finite_enters_no_mean(void **state)
{
    struct statistic s = {0};

    (void)state;
    statistic_add(&s, NAN);
    statistic_add(&s, INFINITY);
    assert_int_equal(s.n, 0);
    statistic_add(&s, 3);
    statistic_add(&s, -INFINITY);
    assert_int_equal(s.n, 1);
    assert_near(statistic_mean(&s), 3, 1e-15);
}

static void a_large_mean_does_not_hide_a_small_deviation(void **state)
{
    struct statistic s = {0};

    (void)state;
    for (int i = -1; i <= 1; i++)
        statistic_add(&s, 1e9 + i);
    assert_near(statistic_mean(&s), 1e9, 1e-15);
    assert_near(statistic_std(&s), 1, 1e-12);
}

/* Printed tables of Student's distribution, two-sided; degrees 1 and 2 have
 * closed forms: tan(pi/2 p) and p sqrt(2 / (1 - p^2)). */
static void quantiles_are_those_of_the_tables(void **state)
{
    static const struct {
        size_t degrees;
        double confidence, t;
    } cases[] = {
        {1, 0.95, 12.7062047},   {2, 0.95, 4.30265273},  {3, 0.95, 3.18244631},
        {4, 0.95, 2.77644511},   {5, 0.95, 2.57058184},  {9, 0.95, 2.26215716},
        {10, 0.95, 2.22813885},  {29, 0.95, 2.04522964}, {30, 0.95, 2.04227246},
        {120, 0.95, 1.97993041}, {5, 0.99, 4.03214298},  {8, 0.5, 0.70638661},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_near(student_quantile(cases[i].degrees, cases[i].confidence),
                    cases[i].t, 1e-8);
    assert_near(student_quantile(1, 0.95), tan(acos(-1) / 2 * 0.95), 1e-12);
    assert_near(student_quantile(2, 0.95), 0.95 * sqrt(2 / (1 - 0.95 * 0.95)),
                1e-12);
    assert_near(student_quantile(100000, 0.95), 1.959963984540054, 1e-4);
}

static void the_interval_is_t_standard_errors_wide(void **state)
{
    struct statistic s = {0};

    (void)state;
    for (int i = 1; i <= 5; i++)
        statistic_add(&s, i);
    assert_near(statistic_interval(&s), 2.77644511 * sqrt(2.5 / 5), 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_and_deviation_are_those_of_the_values),
        cmocka_unit_test(what_is_not_finite_enters_no_mean),
        cmocka_unit_test(a_large_mean_does_not_hide_a_small_deviation),
        cmocka_unit_test(quantiles_are_those_of_the_tables),
        cmocka_unit_test(the_interval_is_t_standard_errors_wide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
