/* The dbn plugin: containers, versions, records, damage. */
#include <math.h>

#include "dbn_fixture.h"

static void every_version_gives_the_same_bars(void **state)
{
    struct fixture *f = *state;

    for (unsigned version = 1; version <= 3; version++) {
        f->bytes.n = 0;
        add_two_names(&f->bytes, version);
        add_six_bars(&f->bytes);
        assert_ok(read_bytes(f, "instrument: 6EH4"), &f->err);
        assert_int_equal(f->data.n_series, 1);
        const struct read_series *s = data_series(&f->data, "6EH4");
        assert_int_equal(s->n, 3);
        assert_int_equal(s->step_ns, DBN_MINUTE);
        assert_int_equal(s->stamp, M2_STAMP_OPEN);
        assert_int_equal(s->times[2], DBN_JAN_2 + 2 * DBN_MINUTE);
        assert_true(cell(f, "6EH4", 2, "close") == 1.000000002);
        assert_true(cell(f, "6EH4", 2, "volume") == 10);
        assert_null(s->ids[0]);
        assert_int_equal(
            data_count(&f->data, "bars of other instruments skipped"), 3);
    }
}

static void prices_are_the_nearest_doubles(void **state)
{
    static const struct {
        int64_t units;
        double price;
    } cases[] = {{1097550000, 1.09755},
                 {-4300000000, -4.3},
                 {0, 0},
                 {3906250, 0.00390625},
                 {1, 1e-9},
                 {INT64_C(8999999999999999), 8999999.999999999}};
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        dbn_add_simple(&f->bytes, DBN_JAN_2 + (int64_t)i * DBN_MINUTE, 11,
                       cases[i].units, 1);
    assert_ok(read_bytes(f, "instrument: 6EH4"), &f->err);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_true(cell(f, "6EH4", i, "open") == cases[i].price);
}

static void odd_bars_are_kept_and_counted(void **state)
{
    struct fixture *f = *state;
    const struct dbn_bar bars[] = {
        {.time = DBN_JAN_2, .id = 11, .prices = {5, 6, 4, INT64_MAX}},
        {.time = DBN_JAN_2 + 1, .id = 11, .prices = {5, 3, 4, 5}, .volume = 1},
        {.time = DBN_JAN_2 + 2, .id = 11, .prices = {5, 5, 5, 5}},
    };

    char place[32];

    add_two_names(&f->bytes, 1);
    snprintf(place, sizeof place, "byte %zu", f->bytes.n + 56);
    for (size_t i = 0; i < COUNT_OF(bars); i++)
        dbn_add_bar(&f->bytes, &bars[i]);
    assert_ok(read_bytes(f, "instrument: 6EH4"), &f->err);
    assert_true(isnan(cell(f, "6EH4", 0, "close")));
    assert_true(cell(f, "6EH4", 0, "low") == 4e-9);
    assert_int_equal(data_rows(&f->data), 3);
    assert_int_equal(
        data_count(&f->data, "bars with an undefined price, read as missing"),
        1);
    assert_int_equal(data_count(&f->data, "bars with high below low"), 1);
    assert_int_equal(data_count(&f->data, "bars with volume 0"), 2);
    assert_non_null(
        strstr(data_where(&f->data, "bars with high below low"), place));
}

/* Three frames cut at any two places, skippable frames around them. */
static void frames_may_be_cut_anywhere(void **state)
{
    struct fixture *f = *state;
    struct bytes plain = {0};

    add_two_names(&plain, 1);
    add_six_bars(&plain);
    for (size_t a = 0; a < plain.n; a += 13) {
        size_t b = a + (plain.n - a) / 2;
        f->bytes.n = 0;
        zstd_add_skippable(&f->bytes, "what is this", 12);
        zstd_add_frame(&f->bytes, plain.data, a);
        zstd_add_frame(&f->bytes, plain.data + a, b - a);
        zstd_add_skippable(&f->bytes, "", 0);
        zstd_add_frame(&f->bytes, plain.data + b, plain.n - b);
        assert_ok(read_bytes(f, "instrument: [6EH4, 6EM4]"), &f->err);
        assert_int_equal(data_rows(&f->data), 6);
        assert_true(cell(f, "6EM4", 2, "close") == 2.000000002);
    }
    bytes_free(&plain);
}

/* More records than any buffer holds, so that they are cut by its end. */
static void long_files_cross_every_buffer(void **state)
{
    struct fixture *f = *state;
    struct bytes plain = {0};
    enum { BARS = 30000 };

    add_two_names(&plain, 2);
    for (int i = 0; i < BARS; i++)
        dbn_add_simple(&plain, DBN_JAN_2 + i * DBN_MINUTE, 11, i, 1);
    for (int packed = 0; packed < 2; packed++) {
        f->bytes.n = 0;
        if (packed)
            zstd_add_frame(&f->bytes, plain.data, plain.n);
        else
            bytes_add(&f->bytes, plain.data, plain.n);
        assert_ok(read_bytes(f, "instrument: 6EH4"), &f->err);
        assert_int_equal(data_rows(&f->data), BARS);
        for (size_t i = 0; i < BARS; i++)
            assert_true(cell(f, "6EH4", i, "close") == (double)i / 1e9);
    }
    bytes_free(&plain);
}

static void a_plain_file_cut_anywhere_is_noticed(void **state)
{
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    size_t head = f->bytes.n;
    add_six_bars(&f->bytes);
    for (size_t n = f->bytes.n - 1; n > 0; n--) {
        f->bytes.n = n;
        bool between_records = n >= head && (n - head) % 56 == 0;
        if (n >= head + 112 && between_records)
            assert_ok(read_bytes(f, "instrument: 6EH4"), &f->err);
        else if (n >= 3 && !between_records)
            assert_fails(read_bytes(f, "instrument: 6EH4"), M2_E_DATA,
                         "truncated", &f->err);
        else
            assert_int_equal(read_bytes(f, "instrument: 6EH4"), M2_E_DATA);
    }
}

static void a_zstd_file_cut_anywhere_is_noticed(void **state)
{
    struct fixture *f = *state;
    struct bytes plain = {0};

    add_two_names(&plain, 3);
    size_t head = plain.n;
    add_six_bars(&plain);
    zstd_add_frame(&f->bytes, plain.data, head);
    size_t first = f->bytes.n;
    zstd_add_frame(&f->bytes, plain.data + head, plain.n - head);
    for (size_t n = f->bytes.n - 1; n > 4; n--) {
        f->bytes.n = n;
        assert_fails(read_bytes(f, "instrument: 6EH4"), M2_E_DATA,
                     n == first ? "no bars of 6EH4" : "truncated", &f->err);
    }
    bytes_free(&plain);
}

static void truncation_is_accepted_on_request(void **state)
{
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    add_six_bars(&f->bytes);
    f->bytes.n -= 20;
    assert_ok(read_bytes(f, "instrument: 6EH4; allow_truncated: true"),
              &f->err);
    assert_int_equal(data_rows(&f->data), 2);
    assert_int_equal(data_count(&f->data, "files that end early, accepted"), 1);
}

/* Every byte of the head and of a record set to every of some values: a
 * message or rows, and nothing that a sanitizer finds. */
static void any_damaged_byte_is_survived(void **state)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct fixture *f = *state;

    add_two_names(&f->bytes, 1);
    add_six_bars(&f->bytes);
    for (size_t i = 0; i < f->bytes.n; i++) {
        uint8_t kept = f->bytes.data[i];
        for (size_t k = 0; k < sizeof values; k++) {
            f->bytes.data[i] = values[k];
            int status = read_bytes(f, "instrument: *");
            assert_true(status == 0 || status == M2_E_DATA);
        }
        f->bytes.data[i] = kept;
    }
}

static void a_fragment_is_read_on_request(void **state)
{
    struct fixture *f = *state;

    add_six_bars(&f->bytes);
    assert_fails(read_bytes(f, NULL), M2_E_DATA, "`fragment: true`", &f->err);
    assert_fails(read_bytes(f, "fragment: true"), M2_E_DATA, "2 instruments",
                 &f->err);
    assert_ok(read_bytes(f, "fragment: true; instrument: 12"), &f->err);
    assert_int_equal(data_rows(&f->data), 3);
    assert_int_equal(
        data_count(&f->data, "bars of an instrument id without a symbol"), 3);
}

static void a_symbol_that_is_no_text_is_left_out_and_counted(void **state)
{
    static const struct dbn_name names[] = {
        {"6E\xff\x1b[2J", 20240102, 20240131, "11"},
        {"6EM4", 20240102, 20240131, "12"},
    };
    const struct dbn_head head = {
        .start = DBN_JAN_2, .names = names, .n_names = COUNT_OF(names)};
    struct fixture *f = *state;

    dbn_add_head(&f->bytes, &head);
    add_six_bars(&f->bytes);
    assert_ok(read_bytes(f, "instrument: 11"), &f->err);
    assert_int_equal(data_rows(&f->data), 3);
    assert_int_equal(
        data_count(&f->data, "symbol mappings without an id or a name"), 1);
}

static void other_records_are_skipped_and_counted(void **state)
{
    struct fixture *f = *state;
    const struct dbn_bar second = {
        .time = DBN_JAN_2, .id = 11, .prices = {1, 1, 1, 1}, .rtype = 0x20};

    add_two_names(&f->bytes, 3);
    dbn_add_other(&f->bytes, 0xa0, 56); /* mbo: as long as a bar */
    dbn_add_bar(&f->bytes, &second);
    add_six_bars(&f->bytes);
    dbn_add_other(&f->bytes, 0x17, 320);
    dbn_add_other(&f->bytes, 0x5e, 16);
    assert_ok(read_bytes(f, "instrument: 6EH4"), &f->err);
    assert_int_equal(data_rows(&f->data), 3);
    assert_int_equal(data_count(&f->data, "mbo records skipped"), 1);
    assert_int_equal(data_count(&f->data, "system records skipped"), 1);
    assert_int_equal(data_count(&f->data, "ohlcv-1s records skipped"), 1);
    assert_int_equal(data_count(&f->data, "type 0x5e records skipped"), 1);
}

static void the_length_of_bars_comes_from_the_metadata(void **state)
{
    static const struct {
        unsigned schema, rtype;
        int64_t step;
    } cases[] = {{5, 0x20, 1000000000},
                 {7, 0x22, 60 * DBN_MINUTE},
                 {8, 0x23, DBN_DAY},
                 {13, 0x24, DBN_DAY},
                 {7, 0x11, 60 * DBN_MINUTE},      /* the old rtype */
                 {0xffff, 0x11, 60 * DBN_MINUTE}, /* by the smallest step */
                 {0xffff, 0x22, 60 * DBN_MINUTE}};
    struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct dbn_head head = {.schema = cases[i].schema};
        f->bytes.n = 0;
        dbn_add_head(&f->bytes, &head);
        for (int k = 0; k < 3; k++) {
            const struct dbn_bar bar = {.time = DBN_JAN_2 + 90 * k * DBN_MINUTE,
                                        .id = 7,
                                        .rtype = cases[i].rtype};
            dbn_add_bar(&f->bytes, &bar);
        }
        assert_ok(read_bytes(f, NULL), &f->err);
        assert_int_equal(data_series(&f->data, "7")->n, 3);
        assert_int_equal(f->data.series[0].step_ns, cases[i].step);
    }
}

static void a_wrong_schema_is_refused_by_name(void **state)
{
    static const struct {
        unsigned schema;
        const char *text;
    } cases[] = {{4, "holds trades, need bars: ohlcv-1s"},
                 {9, "holds definition"},
                 {99, "holds schema 99"}};
    struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct dbn_head head = {.schema = cases[i].schema};
        f->bytes.n = 0;
        dbn_add_head(&f->bytes, &head);
        assert_fails(read_bytes(f, NULL), M2_E_DATA, cases[i].text, &f->err);
    }
}

static void a_live_stream_names_its_instruments(void **state)
{
    const struct dbn_head head = {.schema = 0xffff, .stype_in = 0xff};
    struct fixture *f = *state;
    char symbols[2][71] = {"6E.FUT", "6EH4"};

    dbn_add_head(&f->bytes, &head);
    bytes_add_number(&f->bytes, 176 / 4, 1);
    bytes_add_number(&f->bytes, 0x16, 1);
    bytes_add_number(&f->bytes, 0, 2);
    bytes_add_number(&f->bytes, 11, 4);
    bytes_add_number(&f->bytes, DBN_JAN_2, 8);
    for (int i = 0; i < 2; i++) {
        bytes_add_number(&f->bytes, 0xff, 1);
        bytes_add(&f->bytes, symbols[i], 71);
    }
    bytes_add_number(&f->bytes, 0, 8);
    bytes_add_number(&f->bytes, 0, 8);
    add_six_bars(&f->bytes);
    assert_ok(read_bytes(f, "instrument: 6EH4"), &f->err);
    assert_int_equal(data_rows(&f->data), 3);
    assert_ok(read_bytes(f, "instrument: front"), &f->err);
    assert_string_equal(f->data.series[0].name, "6E");
}

static void a_bar_without_a_time_is_refused(void **state)
{
    struct fixture *f = *state;

    add_two_names(&f->bytes, 3);
    dbn_add_simple(&f->bytes, -1, 11, 1, 1);
    assert_fails(read_bytes(f, "instrument: 6EH4"), M2_E_DATA,
                 "a bar without a time", &f->err);
}

static void a_missing_file_is_named(void **state)
{
    struct fixture *f = *state;

    assert_fails(data_read_file("dbn", unit_path(f->dir, "none.dbn"), NULL,
                                &f->data, &f->err),
                 M2_E_DATA, "none.dbn: cannot open: No such file", &f->err);
    assert_fails(data_read_file("dbn", f->dir, NULL, &f->data, &f->err),
                 M2_E_DATA, "Is a directory", &f->err);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_version_gives_the_same_bars),
        TEST(prices_are_the_nearest_doubles),
        TEST(odd_bars_are_kept_and_counted),
        TEST(frames_may_be_cut_anywhere),
        TEST(long_files_cross_every_buffer),
        TEST(a_plain_file_cut_anywhere_is_noticed),
        TEST(a_zstd_file_cut_anywhere_is_noticed),
        TEST(truncation_is_accepted_on_request),
        TEST(any_damaged_byte_is_survived),
        TEST(a_fragment_is_read_on_request),
        TEST(a_symbol_that_is_no_text_is_left_out_and_counted),
        TEST(other_records_are_skipped_and_counted),
        TEST(the_length_of_bars_comes_from_the_metadata),
        TEST(a_wrong_schema_is_refused_by_name),
        TEST(a_live_stream_names_its_instruments),
        TEST(a_bar_without_a_time_is_refused),
        TEST(a_missing_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
