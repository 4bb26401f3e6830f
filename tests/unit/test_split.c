/* Bounds of the parts: fractions, rows, dates, embargo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/split.h"
#include "table_source.h"
#include "util/timefmt.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define FRACTION(x)                                                            \
    {                                                                          \
        BOUND_FRACTION, x, 0, 0                                                \
    }
#define ROWS(x)                                                                \
    {                                                                          \
        BOUND_ROWS, 0, x, 0                                                    \
    }
#define MINUTE(x)                                                              \
    {                                                                          \
        BOUND_DATE, 0, 0, x *INT64_C(60000000000)                              \
    }

static int make(const struct split_bound bounds[3], int64_t embargo, int64_t n,
                struct split_part parts[N_PARTS], struct m2_error *err)
{
    struct config_data config = {0};
    int64_t *times = calloc((size_t)n, sizeof *times);

    assert_non_null(times);
    for (int64_t i = 0; i < n; i++)
        times[i] = minutes(i);
    config.split.train = bounds[0];
    config.split.val = bounds[1];
    config.split.test = bounds[2];
    config.split.embargo = embargo;
    int rc = split_make(&config, times, n, false, parts, err);
    free(times);
    return rc;
}

static void bounds_cut_where_they_say(void **state)
{
    static const struct {
        struct split_bound bounds[3];
        int64_t embargo, n;
        int64_t first[3], rows[3];
    } cases[] = {
        {{FRACTION(0.8), FRACTION(0.2), FRACTION(0)},
         0,
         100,
         {0, 80, 0},
         {80, 20, 0}},
        {{FRACTION(0.7), FRACTION(0.1), FRACTION(0.2)},
         0,
         7588,
         {0, 5311, 6071},
         {5311, 760, 1517}},
        {{FRACTION(0.29), FRACTION(0.1), FRACTION(0)},
         0,
         100,
         {0, 29, 0},
         {29, 10, 0}},
        {{FRACTION(0.5), FRACTION(0), FRACTION(0.5)},
         0,
         11,
         {0, 0, 5},
         {5, 0, 6}},
        {{FRACTION(1), FRACTION(0), FRACTION(0)}, 0, 7, {0, 0, 0}, {7, 0, 0}},
        {{ROWS(8640), ROWS(2880), ROWS(2880)},
         0,
         17420,
         {0, 8640, 11520},
         {8640, 2880, 2880}},
        {{MINUTE(10), MINUTE(15), MINUTE(18)}, 0, 20, {0, 10, 15}, {10, 5, 3}},
        {{MINUTE(10), MINUTE(15), FRACTION(0)}, 0, 20, {0, 10, 0}, {10, 5, 0}},
        {{MINUTE(10), FRACTION(0.25), FRACTION(0)},
         0,
         20,
         {0, 10, 0},
         {10, 5, 0}},
        {{ROWS(10), ROWS(5), ROWS(5)}, 3, 20, {0, 13, 18}, {10, 2, 2}},
        {{ROWS(10), ROWS(5), ROWS(5)}, 5, 20, {0, 0, 0}, {10, 0, 0}},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct split_part parts[N_PARTS];
        struct m2_error err;
        if (make(cases[k].bounds, cases[k].embargo, cases[k].n, parts, &err) !=
            M2_OK)
            fail_msg("case %zu: %s", k, err.text);
        for (int p = 0; p < N_PARTS; p++) {
            assert_int_equal(parts[p].n_rows, cases[k].rows[p]);
            if (cases[k].rows[p] == 0)
                continue;
            assert_true(parts[p].first_ns == minutes(cases[k].first[p]));
            assert_true(parts[p].last_ns ==
                        minutes(cases[k].first[p] + cases[k].rows[p] - 1));
        }
    }
}

static void a_bound_beyond_the_data_is_an_error(void **state)
{
    static const struct {
        struct split_bound bounds[3];
        const char *text;
    } cases[] = {
        {{ROWS(10), ROWS(5), ROWS(6)},
         "the parts up to test need 21 rows, the data has 20"},
        {{ROWS(30), FRACTION(0), FRACTION(0)},
         "the parts up to train need 30 rows, the data has 20"},
        {{MINUTE(0), MINUTE(5), FRACTION(0)},
         "data.split.train ends 1970-01-01T00:00:00Z, which is before the "
         "data (1970-01-01T00:00:00Z)"},
        {{MINUTE(90), MINUTE(95), FRACTION(0)},
         "data.split.train ends 1970-01-01T01:30:00Z, which is after the data "
         "(1970-01-01T00:19:00Z)"},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct split_part parts[N_PARTS];
        struct m2_error err;
        assert_int_equal(make(cases[k].bounds, 0, 20, parts, &err), M2_E_DATA);
        if (strstr(err.text, cases[k].text) == NULL)
            fail_msg("'%s' does not hold '%s'", err.text, cases[k].text);
    }
}

static void a_lenient_split_is_cut_at_the_end(void **state)
{
    static const int64_t times[] = {0, 1, 2, 3};
    struct config_data config = {0};
    struct split_part parts[N_PARTS];
    struct m2_error err;

    (void)state;
    config.split.train = (struct split_bound)ROWS(3);
    config.split.val = (struct split_bound)ROWS(3);
    config.split.test = (struct split_bound)ROWS(3);
    assert_int_equal(split_make(&config, times, 4, true, parts, &err), M2_OK);
    assert_int_equal(parts[PART_TRAIN].n_rows, 3);
    assert_int_equal(parts[PART_VAL].n_rows, 1);
    assert_int_equal(parts[PART_TEST].n_rows, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_cut_where_they_say),
        cmocka_unit_test(a_bound_beyond_the_data_is_an_error),
        cmocka_unit_test(a_lenient_split_is_cut_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
