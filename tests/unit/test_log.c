/* Messages: their form, the levels, the file beside stderr. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "util/file.h"
#include "util/log.h"

struct fixture {
    char *dir;
    int saved_stderr;
};

/* From here on stderr is the file "err" of the test's directory. */
static int catch_stderr(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    int fd;

    fixture->dir = unit_make_dir();
    fixture->saved_stderr = dup(STDERR_FILENO);
    fd =
        open(unit_path(fixture->dir, "err"), O_RDWR | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0);
    dup2(fd, STDERR_FILENO);
    close(fd);
    log_set_level(LOG_DETAIL);
    *state = fixture;
    return 0;
}

static int restore_stderr(void **state)
{
    struct fixture *fixture = *state;

    dup2(fixture->saved_stderr, STDERR_FILENO);
    close(fixture->saved_stderr);
    log_close();
    log_before_message(NULL);
    unit_remove_dir(fixture->dir);
    free(fixture);
    return 0;
}

static void assert_file(const struct fixture *fixture, const char *name,
                        const char *expected)
{
    struct m2_error err;
    struct text text = {0};

    assert_ok(
        file_read(unit_path(fixture->dir, name), 10000, M2_E_DATA, &text, &err),
        &err);
    assert_string_equal(text_string(&text), expected);
    text_free(&text);
}

static void messages_say_who_speaks_and_how_bad_it_is(void **state)
{
    log_error("%s: gone", "x.csv");
    log_warning("low");
    log_info("epoch %d", 3);
    log_from_plugin(1, "100%");
    log_from_plugin(0, "fine");
    assert_file(*state, "err",
                "m2run: error: x.csv: gone\nm2run: warning: low\nepoch 3\n"
                "m2run: warning: 100%\nfine\n");
}

static void quiet_spares_the_terminal_not_the_file(void **state)
{
    const struct fixture *fixture = *state;
    struct m2_error err;

    log_info("before");
    assert_ok(log_open(unit_path(fixture->dir, "log.txt"), &err), &err);
    log_set_level(LOG_WARNING);
    log_info("info");
    log_warning("warning");
    log_close();
    log_warning("after");
    assert_file(fixture, "err",
                "before\nm2run: warning: warning\nm2run: warning: after\n");
    assert_file(fixture, "log.txt", "info\nm2run: warning: warning\n");
}

static void one_of_many_spares_the_terminal_its_details(void **state)
{
    const struct fixture *fixture = *state;
    struct m2_error err;

    log_detail("alone");
    assert_ok(log_open(unit_path(fixture->dir, "log.txt"), &err), &err);
    log_set_level(LOG_INFO);
    assert_int_equal(log_level(), LOG_INFO);
    log_detail("detail");
    log_info("info");
    assert_file(fixture, "err", "alone\ninfo\n");
    assert_file(fixture, "log.txt", "detail\ninfo\n");
}

static void log_file_is_appended_to(void **state)
{
    const struct fixture *fixture = *state;
    struct m2_error err;

    unit_write(unit_path(fixture->dir, "log.txt"), "earlier\n");
    assert_ok(log_open(unit_path(fixture->dir, "log.txt"), &err), &err);
    log_info("now");
    assert_file(fixture, "log.txt", "earlier\nnow\n");
    assert_fails(log_open(unit_path(fixture->dir, "no/log.txt"), &err),
                 M2_E_RESULTS, "no/log.txt: No such file", &err);
}

static void erase_progress(void)
{
    assert_int_equal(write(STDERR_FILENO, "<erased>", 8), 8);
}

static void progress_line_is_erased_before_a_message(void **state)
{
    log_before_message(erase_progress);
    log_info("one");
    log_set_level(LOG_WARNING);
    log_info("dropped");
    assert_file(*state, "err", "<erased>one\n");
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, catch_stderr, restore_stderr)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(messages_say_who_speaks_and_how_bad_it_is),
        TEST(quiet_spares_the_terminal_not_the_file),
        TEST(one_of_many_spares_the_terminal_its_details),
        TEST(log_file_is_appended_to),
        TEST(progress_line_is_erased_before_a_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
