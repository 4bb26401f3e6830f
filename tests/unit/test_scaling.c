/* Scaling tables: lookup, text form, fits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/scaling.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void a_table_survives_as_text_to_the_bit(void **state)
{
    static const struct {
        const char *series, *column;
        double shift, spread;
    } rows[] = {
        {"6E\tH4 \"x\"", "log_return(close)", 0.1 + 0.2, 1.0 / 3.0},
        {"*", "log_return(close)", -1e-300, 4e-9},
        {"b", "close", 1.0, 0.0},
        {"*", "close", 123456789.0, 2.0},
    };
    struct dataset_scaling_table table = {0}, again = {0};
    struct text text = {0}, second = {0};
    struct m2_error err;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(scaling_table_add(&table, rows[i].series,
                                           rows[i].column, rows[i].shift,
                                           rows[i].spread, &err),
                         M2_OK);
    scaling_table_sort(&table);
    assert_int_equal(scaling_table_print(&table, &text, &err), M2_OK);
    if (scaling_table_parse(text_string(&text), "x", &again, &err) != M2_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct scaling_entry *e =
            scaling_table_find(&again, rows[i].series, rows[i].column);
        assert_non_null(e);
        assert_memory_equal(&e->shift, &rows[i].shift, sizeof(double));
        assert_memory_equal(&e->spread, &rows[i].spread, sizeof(double));
    }
    assert_int_equal(scaling_table_print(&again, &second, &err), M2_OK);
    assert_string_equal(text_string(&text), text_string(&second));
    /* A series that is not there is scaled like all together. */
    assert_true(scaling_table_find(&again, "new", "close")->shift ==
                123456789.0);
    assert_null(scaling_table_find(&again, "b", "volume"));
    text_free(&text);
    text_free(&second);
    scaling_table_free(&table);
    scaling_table_free(&again);
}

static void damaged_text_is_refused_with_its_entry(void **state)
{
    static const char *const cases[][2] = {
        {"", "run.st: the scaling is no JSON list"},
        {"{}", "run.st: the scaling is no JSON list"},
        {"[[\"a\",\"b\",1,2],[\"a\",\"b\",1]]", "run.st: entry 2 of"},
        {"[[\"a\",\"b\",1,-2]]", "run.st: entry 1 of"},
        {"[[\"a\",3,1,2]]", "run.st: entry 1 of"},
        {"[\"a\"]", "run.st: entry 1 of"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct dataset_scaling_table table;
        struct m2_error err;
        assert_int_equal(
            scaling_table_parse(cases[i][0], "run.st", &table, &err),
            M2_E_DATA);
        assert_memory_equal(err.text, cases[i][1], strlen(cases[i][1]));
    }
}

static void fit(enum scale_kind kind, const double *values, int64_t n,
                double *shift, double *spread)
{
    struct scaling_fit f;

    scaling_fit_start(&f, kind);
    scaling_fit_add(&f, values, n, 2);
    scaling_fit_turn(&f);
    scaling_fit_add(&f, values, n, 2);
    scaling_fit_result(&f, shift, spread);
}

static void fits_are_what_they_are_by_hand(void **state)
{
    /* Every second value counts: 1, 5, NaN, 3. */
    static const double values[] = {1, 99, 5, 99, NAN, 99, 3, 99};
    static const double equal[] = {0.1, 9, 0.1, 9, 0.1, 9};
    double shift, spread;

    (void)state;
    fit(SCALE_ZSCORE, values, 4, &shift, &spread);
    assert_true(shift == 3.0 && spread == sqrt(8.0 / 3.0));
    fit(SCALE_MINMAX, values, 4, &shift, &spread);
    assert_true(shift == 1.0 && spread == 4.0);
    fit(SCALE_NONE, values, 4, &shift, &spread);
    assert_true(shift == 0.0 && spread == 1.0);
    /* No spread is exactly none, although 3 * 0.1 / 3 is not 0.1. */
    fit(SCALE_ZSCORE, equal, 3, &shift, &spread);
    assert_true(shift == 0.1 && spread == 0.0);
    assert_true(scaling_apply(0.7, shift, spread) == 0.0);
    assert_true(isnan(scaling_apply(NAN, shift, spread)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_survives_as_text_to_the_bit),
        cmocka_unit_test(damaged_text_is_refused_with_its_entry),
        cmocka_unit_test(fits_are_what_they_are_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
