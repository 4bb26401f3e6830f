/* The dbn plugin: names, choosing instruments, the front contract. */
#include "dbn_fixture.h"

#include "dbn/front.h"

static void names_follow_the_intervals(void **state)
{
    static const struct dbn_name names[] = {
        {"6EH4", 20240102, 20240103, "11"}, /* the end is exclusive */
        {"6EM4", 20240103, 20240104, "11"},
        {"6EH4", 20240103, 20240105, "13"},
    };
    const struct dbn_head head = {
        .version = 2, .names = names, .n_names = COUNT_OF(names)};
    struct fixture *f = *state;

    dbn_add_head(&f->bytes, &head);
    dbn_add_simple(&f->bytes, DBN_JAN_2 + DBN_DAY - 1, 11, 1, 1);
    dbn_add_simple(&f->bytes, DBN_JAN_2 + DBN_DAY, 11, 2, 1);
    dbn_add_simple(&f->bytes, DBN_JAN_2 + DBN_DAY, 13, 3, 1);
    dbn_add_simple(&f->bytes, DBN_JAN_2 + 2 * DBN_DAY, 11, 4, 1);
    assert_ok(read_bytes(f, "instrument: *"), &f->err);
    assert_int_equal(f->data.n_series, 3);
    assert_int_equal(data_series(&f->data, "6EH4")->n, 2);
    assert_true(cell(f, "6EH4", 1, "close") == 3e-9);
    assert_true(cell(f, "6EM4", 0, "close") == 2e-9);
    assert_true(cell(f, "11", 0, "close") == 4e-9);
    assert_int_equal(
        data_count(&f->data, "bars of an instrument id without a symbol"), 1);
    /* a new id of the same contract is no break */
    assert_int_equal(data_series(&f->data, "6EH4")->marks[1], 0);
}

static void a_name_used_again_after_years_is_a_break(void **state)
{
    static const struct dbn_name names[] = {
        {"6EH4", 20140102, 20140131, "11"},
        {"6EH4", 20240102, 20240131, "99"},
    };
    const struct dbn_head head = {.names = names, .n_names = COUNT_OF(names)};
    const int64_t ten_years = 3652 * DBN_DAY;
    struct fixture *f = *state;

    dbn_add_head(&f->bytes, &head);
    dbn_add_simple(&f->bytes, DBN_JAN_2 - ten_years, 11, 1, 1);
    dbn_add_simple(&f->bytes, DBN_JAN_2, 99, 2, 1);
    assert_ok(read_bytes(f, NULL), &f->err);
    assert_int_equal(data_series(&f->data, "6EH4")->marks[1], M2_MARK_BREAK);
    assert_int_equal(data_count(&f->data, "changes of contract"), 1);
}

static void two_names_of_an_id_are_counted(void **state)
{
    static const struct dbn_name names[] = {
        {"6EH4", 20240102, 20240104, "11"},
        {"6E.c.0", 20240103, 20240105, "11"},
    };
    const struct dbn_head head = {.names = names, .n_names = COUNT_OF(names)};
    struct fixture *f = *state;

    dbn_add_head(&f->bytes, &head);
    for (int i = 0; i < 3; i++)
        dbn_add_simple(&f->bytes, DBN_JAN_2 + i * DBN_DAY, 11, i, 1);
    assert_ok(read_bytes(f, "instrument: *"), &f->err);
    assert_int_equal(data_series(&f->data, "6EH4")->n, 2);
    assert_int_equal(data_series(&f->data, "6E.c.0")->n, 1);
    assert_int_equal(
        data_count(&f->data, "instrument ids with two symbols on one day"), 1);
}

static void names_may_stand_on_the_other_side(void **state)
{
    static const struct dbn_name names[] = {{"11", 20240102, 20240104, "QQQ"}};
    const struct dbn_head head = {
        .stype_out = 1, .names = names, .n_names = COUNT_OF(names)};
    struct fixture *f = *state;

    dbn_add_head(&f->bytes, &head);
    dbn_add_simple(&f->bytes, DBN_JAN_2, 11, 1, 1);
    assert_ok(read_bytes(f, NULL), &f->err);
    assert_string_equal(f->data.series[0].name, "QQQ");
}

static void a_continuous_symbol_breaks_where_its_id_changes(void **state)
{
    static const struct dbn_name names[] = {
        {"6E.c.0", 20240102, 20240103, "11"},
        {"6E.c.0", 20240103, 20240104, "12"},
    };
    const struct dbn_head head = {
        .stype_in = 3, .names = names, .n_names = COUNT_OF(names)};
    struct fixture *f = *state;

    dbn_add_head(&f->bytes, &head);
    for (int i = 0; i < 4; i++)
        dbn_add_simple(&f->bytes, DBN_JAN_2 + i * DBN_DAY / 2, i < 2 ? 11 : 12,
                       i, 1);
    assert_ok(read_bytes(f, NULL), &f->err);
    const struct read_series *s = data_series(&f->data, "6E.c.0");
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(s->ids[i], i < 2 ? "11" : "12");
        assert_int_equal(s->marks[i], i == 2 ? M2_MARK_BREAK : 0);
    }
}

static void instruments_are_chosen_by_name_pattern_or_list(void **state)
{
    static const struct {
        const char *options, *series;
    } cases[] = {{"instrument: 6EH4", "6EH4"},
                 {"instrument: 6E?4", "6EH4 6EM4"},
                 {"instrument: *M4", "6EM4"},
                 {"instrument: [6EM4, 6EH4]", "6EM4 6EH4"},
                 {"instrument: [6EM4, 6E*]", "6EM4 6EH4"}};
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    add_six_bars(&f->bytes);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char series[64] = "";
        assert_ok(read_bytes(f, cases[i].options), &f->err);
        for (size_t k = 0; k < f->data.n_series; k++) {
            strcat(series, k > 0 ? " " : "");
            strcat(series, f->data.series[k].name);
            assert_int_equal(f->data.series[k].n, 3);
        }
        assert_string_equal(series, cases[i].series);
    }
}

static void a_missing_choice_lists_the_instruments(void **state)
{
    static const char *const list =
        "(there are: 6EH4 3 bars, volume 30; 6EM4 3 bars, volume 60)";
    static const struct {
        const char *options, *text;
    } cases[] = {
        {NULL, "2 instruments: choose with `instrument`"},
        {"instrument: 6EZ4", "the instrument 6EZ4 is not in the file"},
        {"instrument: ES*", "`instrument: ES*` matches no instrument"},
        {"instrument: front; front_root: ES",
         "`instrument: front` finds no outright future of root ES"},
    };
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    add_six_bars(&f->bytes);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_fails(read_bytes(f, cases[i].options), M2_E_DATA, cases[i].text,
                     &f->err);
        assert_non_null(strstr(f->err.text, list));
    }
    assert_fails(read_bytes(f, "front_root: ES"), M2_E_CONFIG,
                 "front_root: 'ES' needs `instrument: front`", &f->err);
}

static void a_name_without_bars_is_refused_at_the_end(void **state)
{
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    dbn_add_simple(&f->bytes, DBN_JAN_2, 11, 1, 1);
    assert_ok(read_bytes(f, NULL), &f->err); /* one instrument has bars */
    assert_fails(read_bytes(f, "instrument: [6EH4, 6EM4]"), M2_E_DATA,
                 "no bars of 6EM4 (ohlcv-1m) (there are: 6EH4 1 bar", &f->err);
}

static void publishers_are_not_mixed(void **state)
{
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    for (unsigned publisher = 20; publisher < 23; publisher++) {
        const struct dbn_bar bar = {
            .time = DBN_JAN_2,
            .id = 11,
            .prices = {publisher, publisher, publisher, publisher},
            .publisher = publisher};
        dbn_add_bar(&f->bytes, &bar);
    }
    assert_fails(read_bytes(f, "instrument: 6EH4"), M2_E_DATA,
                 "several publishers: 20 (1 bars), 21 (1 bars), 22 (1 bars)",
                 &f->err);
    assert_ok(read_bytes(f, "instrument: 6EH4; publisher: 21"), &f->err);
    assert_true(cell(f, "6EH4", 0, "open") == 21e-9);
    assert_int_equal(data_count(&f->data, "bars of other publishers skipped"),
                     2);
}

/* ---- front ------------------------------------------------------------ */

static void outrights_are_told_from_other_symbols(void **state)
{
    static const struct {
        const char *symbol;
        size_t root; /* 0: no outright */
        int expiry_2024, expiry_2019;
    } cases[] = {
        {"6EH4", 2, 2024 * 12 + 2, 2024 * 12 + 2},
        {"ESZ9", 2, 2029 * 12 + 11, 2019 * 12 + 11},
        {"ESZ3", 2, 2023 * 12 + 11, 2023 * 12 + 11}, /* may still trade */
        {"ESX3", 2, 2033 * 12 + 10, 2023 * 12 + 10},
        {"ESF4", 2, 2024 * 12 + 0, 2024 * 12 + 0},
        {"CLZ28", 2, 2028 * 12 + 11, 2028 * 12 + 11},
        {"M2KU4", 3, 2024 * 12 + 8, 2024 * 12 + 8},
        {"6EH4-6EM4", 0, 0, 0},
        {"6EA4", 0, 0, 0},
        {"H4", 0, 0, 0},
        {"6EH", 0, 0, 0},
        {"6EH123", 0, 0, 0},
        {"UD:1V: GN H4", 0, 0, 0},
        {"", 0, 0, 0},
    };
    const int64_t day_2024 = 19724, day_2019 = 17897; /* 2 Jan, 1 Jan */

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct future future;
        bool is_future = future_parse(cases[i].symbol, &future);
        assert_int_equal(is_future, cases[i].root > 0);
        if (!is_future)
            continue;
        assert_int_equal(future.root_length, cases[i].root);
        assert_int_equal(future_expiry(&future, day_2024),
                         cases[i].expiry_2024);
        assert_int_equal(future_expiry(&future, day_2019),
                         cases[i].expiry_2019);
    }
}

static void add_three_names(struct bytes *bytes)
{
    static const struct dbn_name names[] = {
        {"6EH4", 20240102, 20240131, "11"},
        {"6EM4", 20240102, 20240131, "12"},
        {"6EH4-6EM4", 20240102, 20240131, "13"},
    };
    const struct dbn_head head = {
        .start = DBN_JAN_2, .names = names, .n_names = COUNT_OF(names)};

    dbn_add_head(bytes, &head);
}

/* One bar of each contract on a day; volume 0: no bar.  The spread always has
 * the most volume. */
static void add_day(struct bytes *bytes, int day, unsigned h, unsigned m)
{
    int64_t time = DBN_JAN_2 + day * DBN_DAY;

    if (m > 0)
        dbn_add_simple(bytes, time, 12, 1000 + day, m);
    dbn_add_simple(bytes, time, 13, 3000 + day, 9999);
    if (h > 0)
        dbn_add_simple(bytes, time, 11, 2000 + day, h);
}

/* The series follows these contracts, one letter per row. */
static void check_fronts(const struct fixture *f, const char *expected)
{
    const struct read_series *s = data_series(&f->data, "6E");

    assert_int_equal(s->n, strlen(expected));
    for (size_t i = 0; i < s->n; i++) {
        bool changes = i > 0 && expected[i] != expected[i - 1];
        assert_int_equal(s->ids[i][2], expected[i]);
        assert_int_equal(s->marks[i], changes ? M2_MARK_BREAK : 0);
        assert_int_equal(cell(f, "6E", i, "open") * 1e6 >= 2,
                         expected[i] == 'H');
    }
}

static const struct front_case {
    const char *why;
    unsigned h[4], m[4]; /* volume per day */
    const char *fronts;
    unsigned absent;
} front_cases[] = {
    {"the day before decides", {30, 30, 10, 10}, {20, 20, 20, 50}, "HHHM", 0},
    {"the first day is its own", {30, 10, 10, 10}, {20, 20, 20, 20}, "HHMM", 0},
    {"it never goes back", {10, 50, 50, 50}, {20, 20, 20, 20}, "MMMM", 0},
    {"the earlier of equal ones",
     {20, 20, 20, 20},
     {20, 20, 20, 20},
     "HHHH",
     0},
    {"a day without the front", {30, 0, 10, 10}, {20, 20, 20, 20}, "HMM", 1},
};

static void the_front_has_the_most_volume_of_the_day_before(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(front_cases); i++) {
        const struct front_case *c = &front_cases[i];
        f->bytes.n = 0;
        add_three_names(&f->bytes);
        for (int day = 0; day < 4; day++)
            add_day(&f->bytes, day, c->h[day], c->m[day]);
        assert_ok(read_bytes(f, "instrument: front"), &f->err);
        check_fronts(f, c->fronts);
        assert_int_equal(
            data_count(&f->data, "days without a bar of the front contract"),
            c->absent);
    }
}

/* No volume of a day changes what is followed on it or before it. */
static void the_front_does_not_look_ahead(void **state)
{
    const struct front_case *c = &front_cases[0];
    struct fixture *f = *state;

    for (int changed = 1; changed < 4; changed++) {
        f->bytes.n = 0;
        add_three_names(&f->bytes);
        for (int day = 0; day < 4; day++) {
            bool is_changed = day >= changed;
            add_day(&f->bytes, day, is_changed ? 1 : c->h[day],
                    is_changed ? 1000 : c->m[day]);
        }
        assert_ok(read_bytes(f, "instrument: front"), &f->err);
        const struct read_series *s = data_series(&f->data, "6E");
        for (int day = 0; day <= changed; day++)
            assert_int_equal(s->ids[day][2], c->fronts[day]);
    }
}

/* A day may be cut by the end of a file, and files come in any order. */
static void the_front_follows_days_across_files(void **state)
{
    struct fixture *f = *state;

    add_three_names(&f->bytes);
    dbn_add_simple(&f->bytes, DBN_JAN_2, 11, 2000, 10);
    save_bytes(f, "z.dbn");
    const struct dbn_name names[] = {
        {"6EH4", 20240102, 20240131, "21"}, /* other ids in another file */
        {"6EM4", 20240102, 20240131, "22"},
    };
    const struct dbn_head head = {
        .start = DBN_JAN_2 + 1, .names = names, .n_names = COUNT_OF(names)};
    dbn_add_head(&f->bytes, &head);
    dbn_add_simple(&f->bytes, DBN_JAN_2 + DBN_MINUTE, 22, 1000, 50);
    dbn_add_simple(&f->bytes, DBN_JAN_2 + DBN_DAY, 22, 1001, 50);
    save_bytes(f, "a.dbn");
    assert_ok(read_two(f, "a.dbn", "z.dbn", "instrument: front"), &f->err);
    check_fronts(f, "MM");
}

static void every_root_has_its_own_front(void **state)
{
    static const struct dbn_name names[] = {
        {"NQM4", 20240102, 20240131, "1"}, {"ESH4", 20240102, 20240131, "2"},
        {"ESM4", 20240102, 20240131, "3"}, {"NQH4", 20240102, 20240131, "4"},
        {"ES", 20240102, 20240131, "5"},
    };
    const struct dbn_head head = {
        .start = DBN_JAN_2, .names = names, .n_names = COUNT_OF(names)};
    struct fixture *f = *state;

    dbn_add_head(&f->bytes, &head);
    for (int day = 0; day < 3; day++)
        for (uint32_t id = 1; id <= 5; id++)
            if (day > 0 || id == 2 || id == 3) /* NQ begins a day later */
                dbn_add_simple(&f->bytes, DBN_JAN_2 + day * DBN_DAY, id, id,
                               10 * id);
    assert_ok(read_bytes(f, "instrument: front"), &f->err);
    assert_int_equal(f->data.n_series, 2);
    assert_string_equal(f->data.series[0].name, "ES");
    assert_string_equal(f->data.series[1].name, "NQ");
    assert_int_equal(f->data.series[0].n, 3);
    assert_int_equal(f->data.series[1].n, 2);
    assert_string_equal(f->data.series[0].ids[0], "ESM4");
    assert_string_equal(f->data.series[1].ids[0], "NQH4");
    assert_ok(read_bytes(f, "instrument: front; front_root: NQ"), &f->err);
    assert_int_equal(f->data.n_series, 1);
    assert_int_equal(data_rows(&f->data), 2);
}

static void the_front_needs_days_in_order(void **state)
{
    struct fixture *f = *state;

    add_three_names(&f->bytes);
    add_day(&f->bytes, 1, 10, 20);
    add_day(&f->bytes, 0, 10, 20);
    assert_fails(read_bytes(f, "instrument: front; sort: true"), M2_E_DATA,
                 "`instrument: front` needs the days in order", &f->err);
}

/* A day that comes again keeps the front that was chosen for it. */
static void the_front_survives_files_that_overlap(void **state)
{
    struct fixture *f = *state;

    for (int k = 0; k < 2; k++) {
        add_three_names(&f->bytes);
        for (int day = k; day < 3 + k; day++)
            add_day(&f->bytes, day, day < 1 ? 30 : 10, 20);
        save_bytes(f, k == 0 ? "a.dbn" : "b.dbn");
    }
    assert_ok(
        read_two(f, "a.dbn", "b.dbn", "instrument: front; duplicates: first"),
        &f->err);
    check_fronts(f, "HHMM");
    assert_int_equal(data_count(&f->data, "rows equal to another row dropped"),
                     2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_follow_the_intervals),
        TEST(a_name_used_again_after_years_is_a_break),
        TEST(two_names_of_an_id_are_counted),
        TEST(names_may_stand_on_the_other_side),
        TEST(a_continuous_symbol_breaks_where_its_id_changes),
        TEST(instruments_are_chosen_by_name_pattern_or_list),
        TEST(a_missing_choice_lists_the_instruments),
        TEST(a_name_without_bars_is_refused_at_the_end),
        TEST(publishers_are_not_mixed),
        cmocka_unit_test(outrights_are_told_from_other_symbols),
        TEST(the_front_has_the_most_volume_of_the_day_before),
        TEST(the_front_does_not_look_ahead),
        TEST(the_front_follows_days_across_files),
        TEST(every_root_has_its_own_front),
        TEST(the_front_needs_days_in_order),
        TEST(the_front_survives_files_that_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
