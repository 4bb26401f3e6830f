/* The tokenizer of the csv plugin: cells, their places, and what is no text. */
#include "csv/reader.h"
#include "unit.h"

enum { SHOWN = 4096 };

/* Every record as "line:[cell@column|cell@column]"; a cell on a later line of
 * its record as "cell@+1:column".  An error ends the list as "!message". */
static void show_records(const char *bytes, size_t n,
                         const struct reader_format *format, char out[SHOWN])
{
    const struct input_source source = {"f", (const uint8_t *)bytes, n};
    struct reader reader;
    struct m2_error err;
    size_t used = 0;
    int status = reader_open(&reader, &source, format, &err);

    out[0] = '\0';
    while (status == 0 && (status = reader_next(&reader, &err)) == 1) {
        used += (size_t)snprintf(out + used, SHOWN - used, "%d:[",
                                 (int)reader.record_line);
        for (size_t i = 0; i < reader.n_cells; i++) {
            const struct cell *c = &reader.cells[i];
            char line[16] = "";
            if (c->line > 0)
                snprintf(line, sizeof line, "+%u:", c->line);
            used += (size_t)snprintf(out + used, SHOWN - used, "%s%.*s@%s%u",
                                     i > 0 ? "|" : "", (int)c->n, c->text, line,
                                     c->column);
        }
        used += (size_t)snprintf(out + used, SHOWN - used, "]");
        status = 0;
    }
    if (status < 0)
        snprintf(out + used, SHOWN - used, "!%s", err.text);
    reader_close(&reader);
}

static void cells_are_divided_and_know_their_place(void **state)
{
    static const struct {
        const char *text;
        char delimiter;
        const char *expected;
    } cases[] = {
        {"a,b\nc,d\n", ',', "1:[a@1|b@3]2:[c@1|d@3]"},
        {"a,b\r\nc,d\r\n", ',', "1:[a@1|b@3]2:[c@1|d@3]"},
        {"a,b\rc,d\r", ',', "1:[a@1|b@3]2:[c@1|d@3]"},
        {"a,b\n\rc\r\n\nd", ',', "1:[a@1|b@3]3:[c@1]5:[d@1]"},
        {"a,b", ',', "1:[a@1|b@3]"},
        {"a,", ',', "1:[a@1|@3]"},
        {",a\n,,\n", ',', "1:[@1|a@2]2:[@1|@2|@3]"},
        {" a , b\t,c \n", ',', "1:[a@2|b@6|c@9]"},
        {"a\tb c\t\n", '\t', "1:[a@1|b c@3|@7]"},
        {"a;b,c\n", ';', "1:[a@1|b,c@3]"},
        {"a  b\t c \n  d\n", ' ', "1:[a@1|b@4|c@7]2:[d@3]"},
        {"\"a\",\"b,c\"\n", ',', "1:[a@1|b,c@5]"},
        {"\"a\"\"b\", \"\" ,\"\"\"\"\n", ',', "1:[a\"b@1|@9|\"@13]"},
        {"a,\"b\nc\",d\ne\n", ',', "1:[a@1|b\nc@3|d@+1:4]3:[e@1]"},
        {"\"a\r\nb\rc\",d\ne\n", ',', "1:[a\r\nb\rc@1|d@+2:4]4:[e@1]"},
        {"5\" pipe,x\"y\n", ',', "1:[5\" pipe@1|x\"y@9]"},
        {"\"a\" \"b\"\n", ' ', "1:[a@1|b@5]"},
        {"\"\"\n", ',', "1:[@1]"},
        {"", ',', ""},
        {"\n \n\t\n", ',', ""},
        {"\xef\xbb\xbf"
         "a,b\n",
         ',', "1:[a@1|b@3]"},
        {"#c,\"\na\n #b\n", ',', "2:[a@1]3:[#b@2]"},
        {"# without an end", ',', ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct reader_format format = {.delimiter = cases[i].delimiter,
                                             .comment = "#"};
        char shown[SHOWN];
        show_records(cases[i].text, strlen(cases[i].text), &format, shown);
        assert_string_equal(shown, cases[i].expected);
    }
}

static void damage_is_told_with_its_place(void **state)
{
    static const struct {
        const char *text;
        size_t n;
        const char *expected;
    } cases[] = {
        {"a,b\n\"c\"x,d\n", 0, "f:2:4: text after the closing quote"},
        {"a\n\"b\nc\"x\n", 0, "f:3:3: text after the closing quote"},
        {"a,b\nc,\"d\ne\n", 0, "f:2:3: a quoted cell begins here"},
        {"a,b\nc\0,d\n", 9, "f:2:2: a NUL byte (byte 5 of the file)"},
        {"a,\"b\nc\0\"\n", 10, "f:2:2: a NUL byte (byte 6 of the file)"},
        {"\xff\xfe"
         "a\0b\0",
         6, "UTF-16 text (little-endian)"},
        {"\xfe\xff\0a\0b", 6, "UTF-16 text (big-endian)"},
        {"\xff\xfe\0\0a\0\0\0", 8, "UTF-32 text"},
        {"t\0i\0m\0e\0,\0a\0\n\0", 14, "UTF-16 text"},
        {"\x1f\x8b\x08", 0, "gzip data"},
        {"\x28\xb5\x2f\xfd", 0, "zstd data"},
        {"PK\x03\x04", 0, "a zip archive, or a workbook (.xlsx)"},
        {"DBN\x01", 0, "read it with `source: dbn`"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct reader_format format = {.delimiter = ',', .comment = ""};
        char shown[SHOWN];
        size_t n = cases[i].n > 0 ? cases[i].n : strlen(cases[i].text);
        show_records(cases[i].text, n, &format, shown);
        if (strstr(shown, cases[i].expected) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", cases[i].expected, shown);
    }
}

static void skipped_lines_are_counted(void **state)
{
    static const char text[] = "\"one, and\n#two\n\na,b\n\n# c\n  \nc,d\n#\n";
    const struct input_source source = {"f", (const uint8_t *)text,
                                        sizeof text - 1};
    const struct reader_format format = {
        .delimiter = ',', .comment = "#", .skip_lines = 2};
    struct reader reader;
    struct m2_error err;

    (void)state;
    assert_ok(reader_open(&reader, &source, &format, &err), &err);
    assert_int_equal(reader_next(&reader, &err), 1);
    assert_int_equal(reader.record_line, 4);
    assert_int_equal(reader_next(&reader, &err), 1);
    assert_int_equal(reader.record_line, 8);
    assert_int_equal(reader_next(&reader, &err), 0);
    assert_int_equal(reader.blank.n, 3);
    assert_int_equal(reader.blank.first_line, 3);
    assert_int_equal(reader.comments.n, 2);
    assert_int_equal(reader.comments.first_line, 6);
    reader_close(&reader);
}

/* A cell of some kind: plain, quoted, with line ends and quotes in it. */
static size_t make_cell(unsigned kind, char *written, char *meant)
{
    static const char *const cells[][2] = {
        {"1.25", "1.25"},
        {"", ""},
        {"\"a,b\"", "a,b"},
        {"\"x\r\ny\"", "x\r\ny"},
        {"\"say \"\"no\"\"\"", "say \"no\""},
        {" plain text ", "plain text"},
        {"\"\"", ""},
        {"2014-05-01T00:00:00Z", "2014-05-01T00:00:00Z"},
    };
    const char *const *cell = cells[kind % COUNT_OF(cells)];

    strcpy(meant, cell[1]);
    strcpy(written, cell[0]);
    return strlen(written);
}

enum { MANY = 40000, WIDTH = 7 };

static unsigned kind_of(size_t record, size_t cell)
{
    return (unsigned)((record * 2654435761u + cell * 40503u) >> 7);
}

/* Buffers are refilled at every kind of place in a record. */
static void records_across_refills_are_whole(void **state)
{
    char *text = malloc((size_t)MANY * WIDTH * 32), written[64], meant[64];
    size_t n = 0;
    struct reader reader;
    struct m2_error err;
    const struct reader_format format = {.delimiter = ',', .comment = "#"};

    (void)state;
    for (size_t r = 0; r < MANY; r++)
        for (size_t c = 0; c < WIDTH; c++) {
            size_t length = make_cell(kind_of(r, c), written, meant);
            memcpy(text + n, written, length);
            n += length;
            memcpy(text + n, c + 1 < WIDTH ? "," : "\r\n", 2);
            n += c + 1 < WIDTH ? 1 : 2;
        }
    const struct input_source source = {"f", (const uint8_t *)text, n};
    assert_ok(reader_open(&reader, &source, &format, &err), &err);
    for (size_t r = 0; r < MANY; r++) {
        assert_int_equal(reader_next(&reader, &err), 1);
        assert_int_equal(reader.n_cells, WIDTH);
        for (size_t c = 0; c < WIDTH; c++) {
            make_cell(kind_of(r, c), written, meant);
            assert_true(cell_is(&reader.cells[c], meant));
        }
    }
    assert_int_equal(reader_next(&reader, &err), 0);
    assert_true(reader.capacity < n / 8);
    reader_close(&reader);
    free(text);
}

static void a_record_without_an_end_is_refused(void **state)
{
    size_t n = READER_MAX_RECORD + 100000;
    char *text = malloc(n), shown[SHOWN];
    const struct reader_format format = {.delimiter = ',', .comment = "#"};

    (void)state;
    memset(text, 'x', n);
    memcpy(text, "a,b\nc,d\n", 8);
    show_records(text, n, &format, shown);
    assert_non_null(strstr(shown, "!f:3:1: a line of more than 8 MiB"));
    memcpy(text + 20, ",\"", 2);
    for (size_t i = 100; i < n; i += 100)
        text[i] = '\n';
    show_records(text, n, &format, shown);
    assert_non_null(strstr(shown, "!f:3:14: a quoted cell begins here"));
    free(text);
}

static void text_in_messages_is_short_and_clean(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"1.38x57", "1.38x57"},
        {"a\x01\n\x7f", "a???"},
        {"gr\xc3\xbc\xc3\x9f \xfc \xe2\x82\xac",
         "gr\xc3\xbc\xc3\x9f ? \xe2\x82\xac"},
        {"\xc0\xaf\xed\xa0\x80\xf5", "??????"},
        {"0123456789012345678901234567890123456789012345678\xe2\x82\xac and on",
         "0123456789012345678901234567890123456789012345678..."},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char out[CELL_SHOWN];
        const struct cell cell = {.text = cases[i].text,
                                  .n = (uint32_t)strlen(cases[i].text)};
        assert_string_equal(cell_show(&cell, out), cases[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_divided_and_know_their_place),
        cmocka_unit_test(damage_is_told_with_its_place),
        cmocka_unit_test(skipped_lines_are_counted),
        cmocka_unit_test(records_across_refills_are_whole),
        cmocka_unit_test(a_record_without_an_end_is_refused),
        cmocka_unit_test(text_in_messages_is_short_and_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
