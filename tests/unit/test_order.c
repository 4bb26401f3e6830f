/* The order in which training windows are visited, and the learning rate. */
#include "train/order.h"

#include <math.h>

#include "tests/unit/unit.h"
#include "train/lr_schedule.h"

enum { N = 1000 };

static void make(uint64_t seed, int64_t epoch, size_t n, size_t *out)
{
    struct m2_error err;

    assert_ok(train_order(seed, epoch, n, out, &err), &err);
}

static void every_window_is_visited_once(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 31, N};
    static size_t order[N];

    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        bool seen[N] = {false};

        make(7, 3, sizes[s], order);
        for (size_t i = 0; i < sizes[s]; i++) {
            assert_true(order[i] < sizes[s] && !seen[order[i]]);
            seen[order[i]] = true;
        }
    }
}

static void an_order_is_a_function_of_seed_and_epoch_alone(void **state)
{
    static size_t first[N], other[N], again[N];

    (void)state;
    make(7, 3, N, first);
    make(7, 4, N, other);
    assert_memory_not_equal(first, other, sizeof first);
    make(8, 3, N, other);
    assert_memory_not_equal(first, other, sizeof first);
    make(7, 3, N, again);
    assert_memory_equal(first, again, sizeof first);
}

/* Another order would make other runs of old experiments. */
static void the_order_of_an_epoch_never_changes(void **state)
{
    static const size_t expected[] = {2, 6, 9, 3, 0, 8, 4, 1, 5, 7};
    size_t order[COUNT_OF(expected)];

    (void)state;
    make(1, 2, COUNT_OF(expected), order);
    assert_memory_equal(order, expected, sizeof order);
}

static void no_windows_are_an_error(void **state)
{
    struct m2_error err;
    size_t order[1];

    (void)state;
    assert_fails(train_order(0, 0, 0, order, &err), M2_E_DATA,
                 "no training windows", &err);
}

static void the_rate_climbs_then_follows_its_schedule(void **state)
{
    static const struct {
        enum schedule_kind kind;
        int64_t step, total, warmup;
        double ratio, expected;
    } cases[] = {
        {SCHEDULE_CONSTANT, 0, 10, 0, 0, 2},
        {SCHEDULE_CONSTANT, 9, 10, 0, 0, 2},
        {SCHEDULE_CONSTANT, 0, 10, 4, 0, 0.5},
        {SCHEDULE_CONSTANT, 3, 10, 4, 0, 2},
        {SCHEDULE_LINEAR, 0, 10, 0, 0.1, 2},
        {SCHEDULE_LINEAR, 5, 10, 0, 0.1, 1.1},
        {SCHEDULE_LINEAR, 10, 10, 0, 0.1, 0.2},
        {SCHEDULE_LINEAR, 7, 10, 4, 0, 1},
        {SCHEDULE_COSINE, 4, 12, 4, 0.5, 2},
        {SCHEDULE_COSINE, 8, 12, 4, 0.5, 1.5},
        {SCHEDULE_COSINE, 12, 12, 4, 0.5, 1},
        {SCHEDULE_COSINE, 99, 12, 4, 0.5, 1},
        {SCHEDULE_COSINE, 1, 4, 9, 0.5, 4.0 / 9}, /* all of it climbs */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double rate = lr_schedule(cases[i].kind, cases[i].step, cases[i].total,
                                  cases[i].warmup, 2, cases[i].ratio);

        if (fabs(rate - cases[i].expected) > 1e-15)
            fail_msg("case %zu: %.17g, expected %.17g", i, rate,
                     cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window_is_visited_once),
        cmocka_unit_test(an_order_is_a_function_of_seed_and_epoch_alone),
        cmocka_unit_test(the_order_of_an_epoch_never_changes),
        cmocka_unit_test(no_windows_are_an_error),
        cmocka_unit_test(the_rate_climbs_then_follows_its_schedule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
