/* The trace of a training run. */
#include "train/trace.h"

#include <math.h>

#include "tests/unit/unit.h"

static void check_steps(uint8_t trace[TRACE_BYTES], int64_t step, double loss,
                        double norm, const char *expected)
{
    char text[TRACE_TEXT];
    struct m2_error err;

    assert_ok(trace_step(trace, step, loss, norm, &err), &err);
    trace_print(trace, text);
    assert_string_equal(text, expected);
}

/* The values are those of another SHA-256 over struct.pack("<Qdd", ...). */
static void a_trace_is_the_chained_hash_of_step_loss_and_norm(void **state)
{
    uint8_t trace[TRACE_BYTES] = {0};

    (void)state;
    check_steps(trace, 1, 0.5, 2.25, "a26d8e66a4345d82");
    check_steps(trace, 2, 1.0 / 3, 1e-300, "cd4e2e8bbd1ed612");
    check_steps(trace, 3, INFINITY, -0.0, "8037d8f0d94d25ec");
}

static void every_bit_counts(void **state)
{
    const struct {
        int64_t step;
        double loss, norm;
    } cases[] = {
        {1, 0.5, 2.25},
        {2, 0.5, 2.25},
        {1, nextafter(0.5, 1), 2.25},
        {1, 0.5, nextafter(2.25, 3)},
    };
    uint8_t traces[COUNT_OF(cases) + 1][TRACE_BYTES] = {{0}};
    struct m2_error err;

    (void)state;
    traces[COUNT_OF(cases)][7] = 1; /* another history */
    for (size_t i = 0; i <= COUNT_OF(cases); i++) {
        size_t c = i % COUNT_OF(cases);

        assert_ok(trace_step(traces[i], cases[c].step, cases[c].loss,
                             cases[c].norm, &err),
                  &err);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(traces[i], traces[j], TRACE_BYTES);
    }
}

static void a_trace_is_read_as_printed_and_nothing_else(void **state)
{
    static const char *const others[] = {"",
                                         "a26d8e66a4345d8",
                                         "a26d8e66a4345d822",
                                         "A26D8E66A4345D82",
                                         "a26d8e66a4345d8 ",
                                         "a26d8e66a4345-82"};
    uint8_t trace[TRACE_BYTES], again[TRACE_BYTES];
    char text[TRACE_TEXT];

    (void)state;
    assert_int_equal(trace_parse("00ff10a26d8e66a4", trace), 0);
    assert_int_equal(trace[0], 0);
    assert_int_equal(trace[1], 0xff);
    trace_print(trace, text);
    assert_string_equal(text, "00ff10a26d8e66a4");
    assert_int_equal(trace_parse(text, again), 0);
    assert_memory_equal(trace, again, TRACE_BYTES);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_int_equal(trace_parse(others[i], trace), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_the_chained_hash_of_step_loss_and_norm),
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(a_trace_is_read_as_printed_and_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
