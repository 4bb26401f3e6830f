/* Random numbers: golden values (they may never change: every run's initial
 * parameters and batch order hang on them), and the shape of each draw. */
#include "tests/unit/unit.h"

#include <math.h>

#include "util/random.h"

static void philox_gives_its_published_values(void **state)
{
    const struct random_stream zero = {.seed = 0, .name_hash = 0};
    const struct random_stream ones = {.seed = UINT64_MAX,
                                       .name_hash = UINT64_MAX};

    (void)state;
    assert_true(random_u64(zero, 0) == 0xe169c58d6627e8d5U);
    assert_true(random_u64(ones, UINT64_MAX) == 0x41c83b0e408f276dU);
}

static void name_hash_is_fnv_1a(void **state)
{
    (void)state;
    assert_true(random_stream(0, "").name_hash == 0xcbf29ce484222325U);
    assert_true(random_stream(0, "a").name_hash == 0xaf63dc4c8601ec8cU);
    assert_true(random_stream(0, "foobar").name_hash == 0x85944171f73967e8U);
}

static void draws_are_golden(void **state)
{
    const struct random_stream stream = random_stream(42, "order");
    size_t order[10];
    static const size_t golden_order[10] = {9, 6, 1, 5, 7, 2, 4, 3, 8, 0};

    (void)state;
    assert_true(random_u64(stream, 0) == 0xf4afbde05aae16d8U);
    assert_true(random_u64(stream, 1000000007) == 0x8fafefc281896683U);
    assert_true(random_uniform(stream, 3) == 0x1.041d9e76676ebp-1);
    assert_true(fabs(random_normal(stream, 3) - -1.0270626926152937) < 1e-15);
    assert_int_equal(random_bounded(stream, 5, 1000), 455);
    random_permutation(stream, 10, order);
    assert_memory_equal(order, golden_order, sizeof order);
}

static void seed_name_and_index_all_matter(void **state)
{
    const struct random_stream stream = random_stream(1, "a");

    (void)state;
    assert_true(random_u64(stream, 0) != random_u64(stream, 1));
    assert_true(random_u64(stream, 0) != random_u64(random_stream(2, "a"), 0));
    assert_true(random_u64(stream, 0) != random_u64(random_stream(1, "b"), 0));
    assert_true(random_u64(stream, 0) != random_u64(stream, UINT64_C(1) << 32));
}

static void uniform_has_its_moments(void **state)
{
    const struct random_stream stream = random_stream(7, "uniform");
    const int n = 100000;
    double sum = 0, squares = 0;

    (void)state;
    for (int i = 0; i < n; i++) {
        double x = random_uniform(stream, (uint64_t)i);

        assert_true(x >= 0 && x < 1);
        sum += x;
        squares += x * x;
    }
    /* four standard errors */
    assert_true(fabs(sum / n - 0.5) < 4 * sqrt(1.0 / 12 / n));
    assert_true(fabs(squares / n - 1.0 / 3) < 4 * sqrt(4.0 / 45 / n));
}

static void normal_has_its_moments(void **state)
{
    const struct random_stream stream = random_stream(7, "normal");
    const int n = 100000;
    double sum = 0, squares = 0, fourth = 0;

    (void)state;
    for (int i = 0; i < n; i++) {
        double x = random_normal(stream, (uint64_t)i);

        assert_true(isfinite(x));
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    assert_true(fabs(sum / n) < 4 * sqrt(1.0 / n));
    assert_true(fabs(squares / n - 1) < 4 * sqrt(2.0 / n));
    assert_true(fabs(fourth / n - 3) < 4 * sqrt(96.0 / n));
}

static void bounded_draws_are_even(void **state)
{
    const struct random_stream stream = random_stream(7, "bounded");
    int counts[6] = {0};
    const uint64_t wide = UINT64_C(3) << 62; /* a quarter is drawn again */
    int low = 0;

    (void)state;
    for (uint64_t i = 0; i < 60000; i++) {
        counts[random_bounded(stream, i, 6)]++;
        low += random_bounded(stream, i, wide) < wide / 2;
        assert_int_equal(random_bounded(stream, i, 1), 0);
    }
    for (size_t i = 0; i < 6; i++)
        assert_in_range(counts[i], 9600, 10400);
    assert_in_range(low, 29400, 30600);
}

static void permutation_holds_every_index_once(void **state)
{
    const struct random_stream stream = random_stream(7, "permutation");
    size_t order[500];
    int seen[500] = {0};
    size_t fixed = 0;

    (void)state;
    random_permutation(stream, 500, order);
    for (size_t i = 0; i < 500; i++) {
        assert_true(order[i] < 500);
        seen[order[i]]++;
        fixed += order[i] == i;
    }
    for (size_t i = 0; i < 500; i++)
        assert_int_equal(seen[i], 1);
    assert_true(fixed < 8);
    random_permutation(stream, 0, order);
    random_permutation(stream, 1, order);
    assert_int_equal(order[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_its_published_values),
        cmocka_unit_test(name_hash_is_fnv_1a),
        cmocka_unit_test(draws_are_golden),
        cmocka_unit_test(seed_name_and_index_all_matter),
        cmocka_unit_test(uniform_has_its_moments),
        cmocka_unit_test(normal_has_its_moments),
        cmocka_unit_test(bounded_draws_are_even),
        cmocka_unit_test(permutation_holds_every_index_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
