/* Terminal rules and tables. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "util/terminal.h"

static const struct table_column columns[] = {
    {.key = "run", .title = "RUN"},
    {.key = "val/mse", .align = TABLE_RIGHT, .is_number = true},
    {.key = "note"},
};

static const char *const rows[][3] = {
    {"a,b", "0.1250", "say \"hi\""},
    {"caf\xc3\xa9-long", NULL, NULL},
    {"c", "nan", ""},
    {"d", "12", "-"},
};

static int make_table(void **state)
{
    struct m2_error err;
    struct table *table = malloc(sizeof *table);

    assert_ok(table_init(table, columns, COUNT_OF(columns), &err), &err);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_ok(table_add_row(table, rows[i], &err), &err);
    assert_int_equal(table_rows(table), COUNT_OF(rows));
    *state = table;
    return 0;
}

static int free_table(void **state)
{
    table_free(*state);
    free(*state);
    return 0;
}

static void columns_are_aligned(void **state)
{
    struct text out = {0};

    table_print(*state, &out);
    assert_string_equal(text_string(&out), "RUN        val/mse  note\n"
                                           "a,b         0.1250  say \"hi\"\n"
                                           "caf\xc3\xa9-long        -  -\n"
                                           "c              nan  \n"
                                           "d               12  -\n");
    text_free(&out);
}

static void two_columns_have_two_titles(void **state)
{
    static const char run[] = "run.steps", train[] = "a.train.steps",
                      other[] = "b.train.steps", lone[] = "model.d_state";
    const struct table_column alike[] = {
        {.key = "steps"},
        {.key = run, .title = run + 4},
        {.key = train, .title = train + 8},
        {.key = other, .title = other + 8},
        {.key = lone, .title = lone + 6},
        {.key = "took", .title = "steps"},
    };
    struct m2_error err;
    struct table table;
    struct text out = {0};

    (void)state;
    assert_ok(table_init(&table, alike, COUNT_OF(alike), &err), &err);
    table_print(&table, &out);
    assert_string_equal(text_string(&out), "steps  run.steps  a.train.steps  "
                                           "b.train.steps  d_state  steps\n");
    text_free(&out);
    table_free(&table);
}

static void csv_quotes_where_it_must(void **state)
{
    struct text out = {0};

    table_csv(*state, &out);
    assert_string_equal(text_string(&out), "run,val/mse,note\n"
                                           "\"a,b\",0.1250,\"say \"\"hi\"\"\"\n"
                                           "caf\xc3\xa9-long,,\n"
                                           "c,nan,\n"
                                           "d,12,-\n");
    text_free(&out);
}

static void json_keeps_types_and_missing_values(void **state)
{
    struct text out = {0};

    table_json(*state, &out);
    assert_string_equal(
        text_string(&out),
        "[\n {\"run\": \"a,b\", \"val/mse\": 0.125, "
        "\"note\": \"say \\\"hi\\\"\"},\n"
        " {\"run\": \"caf\xc3\xa9-long\", \"val/mse\": null, \"note\": null},\n"
        " {\"run\": \"c\", \"val/mse\": null, \"note\": \"\"},\n"
        " {\"run\": \"d\", \"val/mse\": 12, \"note\": \"-\"}\n]\n");
    text_free(&out);
}

static void empty_table_is_a_header_or_an_empty_list(void **state)
{
    struct m2_error err;
    struct table table;
    struct text out = {0};

    (void)state;
    assert_ok(table_init(&table, columns, 2, &err), &err);
    table_print(&table, &out);
    table_csv(&table, &out);
    table_json(&table, &out);
    assert_string_equal(text_string(&out), "RUN  val/mse\nrun,val/mse\n[]\n");
    text_free(&out);
    table_free(&table);
}

static void no_cell_breaks_its_line_or_commands_the_terminal(void **state)
{
    const char *const cells[] = {"a\nb\x1b[2J", "\x7f", "\t"};
    struct text out = {0};
    struct m2_error err;

    assert_ok(table_add_row(*state, cells, &err), &err);
    table_print(*state, &out);
    assert_non_null(strstr(text_string(&out), "\na?b?[2J "));
    assert_null(strpbrk(text_string(&out), "\x1b\x7f\t"));
    text_free(&out);
}

static void a_file_is_no_terminal(void **state)
{
    int fd = open("/dev/null", O_RDONLY);

    (void)state;
    assert_false(terminal_is_tty(fd));
    assert_false(terminal_can_redraw(fd));
    assert_false(terminal_can_color(fd));
    unsetenv("COLUMNS");
    assert_int_equal(terminal_width(fd), 80);
    setenv("COLUMNS", "120", 1);
    assert_int_equal(terminal_width(fd), 120);
    setenv("COLUMNS", "wide", 1);
    assert_int_equal(terminal_width(fd), 80);
    close(fd);
}

static void environment_turns_colors_and_redrawing_off(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    int fd;

    (void)state;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        skip();
    fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(fd >= 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_true(terminal_can_redraw(fd));
    assert_true(terminal_can_color(fd));
    setenv("NO_COLOR", "1", 1);
    assert_true(terminal_can_redraw(fd));
    assert_false(terminal_can_color(fd));
    setenv("NO_COLOR", "", 1);
    assert_true(terminal_can_color(fd));
    setenv("TERM", "dumb", 1);
    assert_false(terminal_can_redraw(fd));
    assert_false(terminal_can_color(fd));
    close(fd);
    close(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_are_aligned, make_table,
                                        free_table),
        cmocka_unit_test(two_columns_have_two_titles),
        cmocka_unit_test_setup_teardown(csv_quotes_where_it_must, make_table,
                                        free_table),
        cmocka_unit_test_setup_teardown(json_keeps_types_and_missing_values,
                                        make_table, free_table),
        cmocka_unit_test(empty_table_is_a_header_or_an_empty_list),
        cmocka_unit_test_setup_teardown(
            no_cell_breaks_its_line_or_commands_the_terminal, make_table,
            free_table),
        cmocka_unit_test(a_file_is_no_terminal),
        cmocka_unit_test(environment_turns_colors_and_redrawing_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
