/* Append-only tables: written row by row, cut on resume, read by name. */
#include "results/csvlog.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "util/file.h"

static const char *const columns[] = {"step", "train/loss", "trace"};
enum { N = COUNT_OF(columns) };

struct fixture {
    char *dir;
    int dirfd;
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->dir = unit_make_dir();
    f->dirfd = open(f->dir, O_RDONLY | O_DIRECTORY);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    close(f->dirfd);
    unit_remove_dir(f->dir);
    free(f);
    return 0;
}

static void check_file(const struct fixture *f, const char *name,
                       const char *expected)
{
    struct text text = {0};
    struct m2_error err;

    assert_ok(
        file_read(unit_path(f->dir, name), 10000, M2_E_RESULTS, &text, &err),
        &err);
    assert_string_equal(text_string(&text), expected);
    text_free(&text);
}

static struct csvlog *create(const struct fixture *f, const char *name)
{
    struct csvlog *log;
    struct m2_error err;

    assert_ok(csvlog_create(f->dirfd, name, columns, N, &log, &err), &err);
    return log;
}

static void add_row(struct csvlog *log, const char *a, const char *b,
                    const char *c)
{
    const char *const cells[] = {a, b, c};
    struct m2_error err;

    assert_ok(csvlog_row(log, cells, &err), &err);
}

/* ---- writing ------------------------------------------------------------ */

static void rows_stand_under_the_header(void **state)
{
    const struct fixture *f = *state;
    struct csvlog *log = create(f, "a.csv");
    struct m2_error err;

    assert_int_equal(csvlog_bytes(log), strlen("step,train/loss,trace\n"));
    add_row(log, "1", "0.5", "ab");
    add_row(log, "2", NULL, "");
    assert_ok(csvlog_sync(log, &err), &err);
    check_file(f, "a.csv", "step,train/loss,trace\n1,0.5,ab\n2,,\n");
    assert_int_equal(csvlog_bytes(log),
                     strlen("step,train/loss,trace\n1,0.5,ab\n2,,\n"));
    csvlog_close(log);
    csvlog_close(NULL);
}

/* A row can only be torn by a crash, never by a full disk: what a failed
 * write left is cut off, and the next row stands on a line of its own.  The
 * limit on the size of files plays the full disk. */
static void a_row_that_does_not_fit_leaves_whole_rows(void **state)
{
    const struct fixture *f = *state;
    struct csvlog *log = create(f, "a.csv");
    const char *const cells[] = {"1", "0.123456789", "abcdef"};
    struct rlimit limit, small;
    struct m2_error err;
    int64_t bytes;

    add_row(log, "1", "0.5", "ab");
    bytes = csvlog_bytes(log);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = (rlim_t)bytes + 5;
    setrlimit(RLIMIT_FSIZE, &small);
    assert_fails(csvlog_row(log, cells, &err), M2_E_RESULTS,
                 "a.csv: cannot write: ", &err);
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(csvlog_bytes(log), bytes);
    check_file(f, "a.csv", "step,train/loss,trace\n1,0.5,ab\n");
    add_row(log, "2", "0.25", "cd");
    check_file(f, "a.csv", "step,train/loss,trace\n1,0.5,ab\n2,0.25,cd\n");
    csvlog_close(log);
}

static void a_folder_that_is_gone_is_an_error(void **state)
{
    const struct fixture *f = *state;
    struct csvlog *log;
    struct m2_error err;

    assert_fails(csvlog_create(f->dirfd, "no/a.csv", columns, N, &log, &err),
                 M2_E_RESULTS, "no/a.csv: No such file", &err);
}

/* ---- going on ----------------------------------------------------------- */

#define OLD  "step,train/loss,trace\n1,0.5,ab\n"
#define MORE "2,0.25,cd\n3,0.1"

static void resuming_cuts_what_the_checkpoint_does_not_know(void **state)
{
    const struct fixture *f = *state;
    struct csvlog *log;
    struct m2_error err;

    unit_write(unit_path(f->dir, "old.csv"), OLD MORE);
    assert_ok(csvlog_continue(f->dirfd, "a.csv", unit_path(f->dir, "old.csv"),
                              (int64_t)strlen(OLD), columns, N, &log, &err),
              &err);
    assert_int_equal(csvlog_bytes(log), strlen(OLD));
    add_row(log, "2", "0.75", "ef");
    csvlog_close(log);
    check_file(f, "a.csv", OLD "2,0.75,ef\n");
    check_file(f, "old.csv", OLD MORE);
}

static void resuming_wants_whole_rows_and_the_same_columns(void **state)
{
    static const char *const other[] = {"step", "val/loss", "trace"};
    const struct fixture *f = *state;
    const char *old = unit_path(f->dir, "old.csv");
    const struct {
        int64_t bytes;
        const char *const *columns;
    } cases[] = {
        {(int64_t)strlen(OLD) + 1, columns},  /* longer than the file */
        {(int64_t)strlen(OLD) - 1, columns},  /* within a row */
        {(int64_t)strlen("step\n"), columns}, /* within the header */
        {0, columns},
        {-1, columns},
        {(int64_t)strlen(OLD), other},
    };
    struct csvlog *log;
    struct m2_error err;

    unit_write(old, OLD);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_fails(csvlog_continue(f->dirfd, "a.csv", old, cases[i].bytes,
                                     cases[i].columns, N, &log, &err),
                     M2_E_RESULTS, "old.csv: has 31 bytes, expected at least ",
                     &err);
    assert_fails(csvlog_continue(f->dirfd, "a.csv", "/nowhere/x.csv", 40,
                                 columns, N, &log, &err),
                 M2_E_RESULTS, "/nowhere/x.csv: No such file", &err);
    assert_false(file_exists(unit_path(f->dir, "a.csv")));
}

/* ---- reading ------------------------------------------------------------ */

static void cells_are_found_by_column(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "a.csv");
    struct csv_table table;
    struct m2_error err;

    unit_write(path, "step,val/loss\n1,\n2,0.5\n");
    assert_ok(csv_table_read(path, &table, &err), &err);
    assert_int_equal(table.n_columns, 2);
    assert_int_equal(table.n_rows, 2);
    assert_int_equal(csv_table_column(&table, "val/loss"), 1);
    assert_int_equal(csv_table_column(&table, "val"), -1);
    assert_string_equal(table.cells[1], "");
    assert_string_equal(table.cells[2], "2");
    assert_string_equal(table.cells[3], "0.5");
    csv_table_free(&table);
}

static void a_torn_last_line_is_left_out(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "a.csv");
    struct csv_table table;
    struct m2_error err;

    unit_write(path, "step,val/loss\n1,0.5\n2,0.");
    assert_ok(csv_table_read(path, &table, &err), &err);
    assert_int_equal(table.n_rows, 1);
    csv_table_free(&table);
    unit_write(path, "step,val/loss\n");
    assert_ok(csv_table_read(path, &table, &err), &err);
    assert_int_equal(table.n_rows, 0);
    csv_table_free(&table);
}

static void other_files_are_no_table(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "a.csv: has no header line"},
        {"step,val", "a.csv: has no header line"},
        {"step,val\n1\n", "a.csv:2: expected 2 columns"},
        {"step,val\n1,2\n1,2,3\n", "a.csv:3: expected 2 columns"},
    };
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "a.csv");
    struct csv_table table;
    struct m2_error err;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unit_write(path, cases[i].text);
        assert_fails(csv_table_read(path, &table, &err), M2_E_RESULTS,
                     cases[i].part, &err);
    }
    assert_fails(csv_table_read("/nowhere.csv", &table, &err), M2_E_RESULTS,
                 "/nowhere.csv: No such file", &err);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_stand_under_the_header),
        TEST(a_row_that_does_not_fit_leaves_whole_rows),
        TEST(a_folder_that_is_gone_is_an_error),
        TEST(resuming_cuts_what_the_checkpoint_does_not_know),
        TEST(resuming_wants_whole_rows_and_the_same_columns),
        TEST(cells_are_found_by_column),
        TEST(a_torn_last_line_is_left_out),
        TEST(other_files_are_no_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
