/* Rows from a pipe: cells, missing values, messages with their place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "predict/latency.h"
#include "predict/row_reader.h"
#include "util/timefmt.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The text as a pipe would bring it. */
static FILE *input(const char *text)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    rewind(file);
    return file;
}

static struct row_reader *open_text(FILE *file)
{
    struct row_reader *reader;
    struct m2_error err;

    if (row_reader_open(file, "stdin", &reader, &err) != 0)
        fail_msg("%s", err.text);
    return reader;
}

static void cells_are_found_by_the_name_of_their_column(void **state)
{
    static const bool wanted[] = {true, false, true};
    FILE *file = input("\xef\xbb\xbf"
                       "close, \"note\" ,timestamp,instrument,volume\r\n"
                       "\r\n"
                       " 1.5 ,not a number,2024-01-02T03:04:05Z,6E,\r\n"
                       "\"2\",\"a \"\"b\"\", c\",1704164645000000000,\"6,J\","
                       "1e3");
    struct row_reader *reader = open_text(file);
    const char *const *columns;
    struct stream_row row;
    struct m2_error err;
    bool end;

    (void)state;
    assert_int_equal(row_reader_columns(reader, &columns), 3);
    assert_string_equal(columns[0], "close");
    assert_string_equal(columns[1], "note");
    assert_string_equal(columns[2], "volume");
    row_reader_want(reader, wanted);
    assert_int_equal(row_reader_next(reader, &row, &end, &err), 0);
    assert_false(end);
    assert_int_equal(row_reader_line(reader), 3);
    assert_int_equal(row.time, INT64_C(1704164645) * M2_NS_PER_SECOND);
    assert_string_equal(row.instrument, "6E");
    assert_null(row.contract);
    assert_true(row.values[0] == 1.5);
    assert_true(isnan(row.values[1])); /* not wanted, not read */
    assert_true(isnan(row.values[2])); /* missing */
    assert_int_equal(row_reader_next(reader, &row, &end, &err), 0);
    assert_int_equal(row.time, INT64_C(1704164645) * M2_NS_PER_SECOND);
    assert_string_equal(row.instrument, "6,J");
    assert_true(row.values[0] == 2.0 && row.values[2] == 1000.0);
    assert_int_equal(row_reader_next(reader, &row, &end, &err), 0);
    assert_true(end);
    row_reader_close(reader);
    fclose(file);
}

static void a_bad_header_is_an_error(void **state)
{
    static const char *const cases[][2] = {
        {"", "stdin: empty, expected a header line"},
        {"close\n", "stdin:1: the header has 0 time columns, expected one, "
                    "called time, timestamp, date or datetime"},
        {"time,date,close\n", "stdin:1: the header has 2 time columns"},
        {"2024-01-02T00:00:00Z,1.5,1.5\n", "stdin:1: expected a header line"},
        {"time,close,close\n", "stdin:1: column 'close' is there twice"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        FILE *file = input(cases[i][0]);
        struct row_reader *reader;
        struct m2_error err;

        assert_int_equal(row_reader_open(file, "stdin", &reader, &err),
                         M2_E_DATA);
        if (strncmp(err.text, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("'%s', expected '%s'", err.text, cases[i][1]);
        fclose(file);
    }
}

static void counts_since_1970_have_the_unit_that_their_size_tells(void **state)
{
    static const char *const counts[] = {"1704164645", "1704164645000",
                                         "1704164645000000",
                                         "1704164645000000000"};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char text[64];
        struct row_reader *reader;
        struct stream_row row;
        struct m2_error err;
        FILE *file;
        bool end;

        snprintf(text, sizeof text, "time,close\n%s,1\n", counts[i]);
        file = fmemopen(text, strlen(text), "r");
        assert_int_equal(row_reader_open(file, "stdin", &reader, &err), 0);
        assert_int_equal(row_reader_next(reader, &row, &end, &err), 0);
        assert_int_equal(row.time, INT64_C(1704164645) * M2_NS_PER_SECOND);
        row_reader_close(reader);
        fclose(file);
    }
}

static void a_bad_row_is_an_error_with_its_line(void **state)
{
    static const char *const cases[][2] = {
        {"time,close\n2024-01-02,1\nyesterday,1\n",
         "stdin:3: 'yesterday' is no time, expected as "
         "2024-01-02T03:04:05Z or a count since 1970"},
        {"time,close\n2024-01-02,1\n1969,1\n",
         "stdin:3: '1969' is no time, expected as "
         "2024-01-02T03:04:05Z or a count since 1970"},
        {"time,close\n2024-01-02,1\n2024-01-03,1O\n",
         "stdin:3: column close: '1O' is no number"},
        {"time,close\n2024-01-02,1\n2024-01-03\n",
         "stdin:3: 1 cells, expected 2 as in the header"},
        {"time,close\n2024-01-02,1\n2024-01-03,1,2\n",
         "stdin:3: 3 cells, expected 2 as in the header"},
    };
    static const bool wanted[] = {true};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        FILE *file = input(cases[i][0]);
        struct row_reader *reader = open_text(file);
        struct stream_row row;
        struct m2_error err;
        bool end;

        row_reader_want(reader, wanted);
        assert_int_equal(row_reader_next(reader, &row, &end, &err), 0);
        assert_int_equal(row_reader_next(reader, &row, &end, &err), M2_E_DATA);
        assert_string_equal(err.text, cases[i][1]);
        row_reader_close(reader);
        fclose(file);
    }
}

/* Rounded up by at most one part in 256. */
static void assert_just_above(double value, double expected)
{
    if (!(value >= expected && value <= expected * (1.0 + 1.0 / 256.0)))
        fail_msg("%.9g, expected %.9g or a little more", value, expected);
}

static void quantiles_of_latencies_are_rounded_up_to_a_bin(void **state)
{
    static struct latency latency;

    (void)state;
    assert_true(isnan(latency_quantile(&latency, 0.5)));
    for (int i = 1; i <= 98; i++)
        latency_add(&latency, i * 1e-6);
    latency_add(&latency, 0.25);
    latency_add(&latency, 0.0); /* shorter than the clock can tell */
    assert_just_above(latency_quantile(&latency, 0.01), 1e-9);
    assert_just_above(latency_quantile(&latency, 0.5), 49e-6);
    assert_just_above(latency_quantile(&latency, 0.99), 98e-6);
    assert_true(latency_quantile(&latency, 1.0) == 0.25);
}

static void an_input_without_line_breaks_is_not_read_to_its_end(void **state)
{
    struct row_reader *reader;
    struct m2_error err;
    FILE *file = fopen("/dev/zero", "r");

    (void)state;
    assert_non_null(file);
    assert_int_equal(row_reader_open(file, "stdin", &reader, &err), M2_E_DATA);
    assert_string_equal(err.text, "stdin:1: a line of more than 1048576 bytes");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_found_by_the_name_of_their_column),
        cmocka_unit_test(an_input_without_line_breaks_is_not_read_to_its_end),
        cmocka_unit_test(a_bad_header_is_an_error),
        cmocka_unit_test(counts_since_1970_have_the_unit_that_their_size_tells),
        cmocka_unit_test(a_bad_row_is_an_error_with_its_line),
        cmocka_unit_test(quantiles_of_latencies_are_rounded_up_to_a_bin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
