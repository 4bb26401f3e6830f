/* Rows to blocks: order, duplicates, several files, breaks. */
#include "dbn_fixture.h"

#include "common/rows.h"

static const char *place_text(const void *context, struct row_place place,
                              char out[ROW_PLACE_TEXT])
{
    (void)context;
    snprintf(out, ROW_PLACE_TEXT, "file %u line %u", (unsigned)place.file,
             (unsigned)place.at);
    return out;
}

/* Rows come in as letters: time and value are their place in the alphabet, a
 * capital letter has the time of the small one and another value. */
struct rows_case {
    const char *in;
    enum duplicates duplicates;
    bool sort;
    const char *out;  /* NULL: an error */
    const char *text; /* of the error */
};

static int add_letters(struct rows *rows, const char *in, struct m2_error *err)
{
    for (size_t i = 0; in[i] != '\0'; i++) {
        bool other = in[i] < 'a';
        double value = in[i];
        const struct row row = {.time = other ? in[i] + 32 : in[i],
                                .values = &value,
                                .place = {i + 1, 0}};
        int status = rows_add(rows, 0, &row, err);
        if (status != 0)
            return status;
    }
    return 0;
}

static int run_case(const struct rows_case *c, char *out, struct counts *counts,
                    struct m2_error *err)
{
    const struct m2_series_info series = {.name = "S"};
    struct rows rows;
    struct m2_data_next next;
    const struct rows_setup setup = {.series = &series,
                                     .n_series = 1,
                                     .n_columns = 1,
                                     .duplicates = c->duplicates,
                                     .sort = c->sort,
                                     .counts = counts,
                                     .place_text = place_text};
    size_t n = 0;

    assert_ok(rows_init(&rows, &setup, err), err);
    int status = add_letters(&rows, c->in, err);
    while (status == 0) {
        status = rows_drain(&rows, &next, err);
        if (status != 0 || next.n_rows_out == 0)
            break;
        for (size_t i = 0; i < next.n_rows_out; i++)
            out[n++] = (char)next.values_out[i];
    }
    out[n] = '\0';
    rows_free(&rows);
    return status;
}

static void order_and_duplicates_follow_the_policy(void **state)
{
    static const struct rows_case cases[] = {
        {"abc", DUPLICATES_ERROR, false, "abc", NULL},
        {"", DUPLICATES_ERROR, false, "", NULL},
        {"", DUPLICATES_LAST, true, "", NULL},
        {"abb", DUPLICATES_ERROR, false, NULL,
         "file 0 line 3: the time 1970-01-01T00:00:00.000000098Z of 'S' was "
         "there before, at file 0 line 2"},
        {"abca", DUPLICATES_ERROR, false, NULL, "at file 0 line 1"},
        {"acb", DUPLICATES_ERROR, false, NULL,
         "file 0 line 3: out of order: the time "
         "1970-01-01T00:00:00.000000098Z of 'S' is earlier than that of file "
         "0 line 2; `sort: true`"},
        {"acb", DUPLICATES_ERROR, true, "abc", NULL},
        {"acba", DUPLICATES_ERROR, true, NULL, "at file 0 line 1"},
        {"cba", DUPLICATES_FIRST, true, "abc", NULL},
        {"abBc", DUPLICATES_FIRST, false, "abc", NULL},
        {"abBc", DUPLICATES_LAST, false, "aBc", NULL},
        {"abcBAd", DUPLICATES_FIRST, false, "abcd", NULL},
        {"abcBAd", DUPLICATES_LAST, false, "ABcd", NULL},
        {"abcBd", DUPLICATES_LAST, true, "aBcd", NULL},
        {"acAbd", DUPLICATES_FIRST, false, NULL, "file 0 line 4: out of order"},
        {"acAbd", DUPLICATES_LAST, true, "Abcd", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct rows_case *c = &cases[i];
        struct m2_error err = {0};
        struct counts counts = {0};
        char out[32];
        int status = run_case(c, out, &counts, &err);
        if (c->out == NULL) {
            assert_int_equal(status, M2_E_DATA);
            if (strstr(err.text, c->text) == NULL)
                fail_msg("\"%s\" is not in \"%s\"", c->text, err.text);
        } else {
            if (status != 0)
                fail_msg("%s: %s", c->in, err.text);
            assert_string_equal(out, c->out);
        }
        counts_free(&counts);
    }
}

/* What is dropped or sorted is counted, with the place of the first. */
static void what_is_dropped_is_counted(void **state)
{
    const struct rows_case c = {"acbbBBc", DUPLICATES_FIRST, true, "abc", NULL};
    static const struct {
        const char *what;
        uint64_t n;
        const char *where;
    } expected[] = {
        {"rows equal to another row dropped", 2, "file 0 line 4"},
        {"rows with another row's time, but other values, dropped", 2,
         "file 0 line 5"},
        {"rows out of order sorted", 4, NULL},
    };
    struct m2_error err;
    struct counts counts = {0};
    struct m2_data_counts shown;
    char out[32];

    (void)state;
    assert_ok(run_case(&c, out, &counts, &err), &err);
    assert_string_equal(out, c.out);
    assert_ok(counts_show(&counts, &shown, &err), &err);
    assert_int_equal(shown.n_counts_out, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_string_equal(shown.counts_out[i].what, expected[i].what);
        assert_int_equal(shown.counts_out[i].n, expected[i].n);
        if (expected[i].where != NULL)
            assert_string_equal(shown.counts_out[i].where, expected[i].where);
    }
    counts_free(&counts);
}

/* Many rows of several series, taking turns, over many blocks: streamed and
 * held in memory they come out the same. */
static void long_series_keep_their_rows(void **state)
{
    static const char *const options[] = {"instrument: *",
                                          "instrument: *; sort: true",
                                          "instrument: *; duplicates: last"};
    enum { ROWS = 20000 };
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    for (int i = 0; i < ROWS; i++) {
        dbn_add_simple(&f->bytes, DBN_JAN_2 + i * DBN_MINUTE, 11, i, 1);
        if (i % 3 == 0)
            dbn_add_simple(&f->bytes, DBN_JAN_2 + i * DBN_MINUTE, 12, -i, 1);
    }
    for (size_t k = 0; k < COUNT_OF(options); k++) {
        assert_ok(read_bytes(f, options[k]), &f->err);
        assert_int_equal(data_series(&f->data, "6EH4")->n, ROWS);
        assert_int_equal(data_series(&f->data, "6EM4")->n, (ROWS + 2) / 3);
        for (size_t i = 0; i < ROWS; i += 3) {
            assert_true(cell(f, "6EH4", i, "close") == (double)i / 1e9);
            assert_true(cell(f, "6EM4", i / 3, "close") == -(double)i / 1e9);
        }
    }
}

static void a_repeated_row_far_back_names_both_places(void **state)
{
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    size_t head = f->bytes.n;
    for (int i = 0; i < 10000; i++)
        dbn_add_simple(&f->bytes, DBN_JAN_2 + i * DBN_MINUTE, 11, i, 1);
    dbn_add_simple(&f->bytes, DBN_JAN_2 + 5000 * DBN_MINUTE, 11, 1, 1);
    char place[32];
    snprintf(place, sizeof place, "byte %zu; `dup", head + 56 * 5000);
    assert_fails(read_bytes(f, "instrument: 6EH4"), M2_E_DATA, place, &f->err);
}

/* Files are put in order of their start; one that overlaps another needs a
 * word of the user's. */
static void files_make_one_series(void **state)
{
    struct fixture *f = *state;
    const char *options = "instrument: 6EH4; sort: true; duplicates: last";

    for (int k = 0; k < 2; k++) {
        static const struct dbn_name names[] = {
            {"6EH4", 20240102, 20240131, "11"}};
        const struct dbn_head head = {.start = (uint64_t)(DBN_JAN_2 + 1 - k),
                                      .names = names,
                                      .n_names = 1};
        dbn_add_head(&f->bytes, &head);
        for (int i = 0; i < 3; i++) /* b: 0 1 2, a: 2 3 4 */
            dbn_add_simple(&f->bytes, DBN_JAN_2 + (i + 2 - 2 * k) * DBN_MINUTE,
                           11, 10 * k + i, 1);
        save_bytes(f, k == 0 ? "a.dbn" : "b.dbn");
    }
    assert_fails(read_two(f, "a.dbn", "b.dbn", NULL), M2_E_DATA, "a.dbn: byte",
                 &f->err);
    assert_non_null(strstr(f->err.text, "there before, at"));
    assert_non_null(strstr(f->err.text, "b.dbn: byte"));
    assert_ok(read_two(f, "a.dbn", "b.dbn", options), &f->err);
    assert_int_equal(data_rows(&f->data), 5);
    assert_true(cell(f, "6EH4", 1, "close") == 11e-9);
    assert_true(cell(f, "6EH4", 2, "close") == 0);
    assert_int_equal(data_count(&f->data, "bars from a.dbn"), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_duplicates_follow_the_policy),
        cmocka_unit_test(what_is_dropped_is_counted),
        TEST(long_series_keep_their_rows),
        TEST(a_repeated_row_far_back_names_both_places),
        TEST(files_make_one_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
