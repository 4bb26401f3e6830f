/* Whole files and directories. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/path.h"

static void file_is_read_up_to_the_limit(void **state)
{
    const char *path = unit_path(*state, "f");
    struct m2_error err;
    struct text text = {0};

    unit_write(path, "12345678");
    assert_ok(file_read(path, 8, M2_E_DATA, &text, &err), &err);
    assert_string_equal(text_string(&text), "12345678");
    assert_fails(file_read(path, 7, M2_E_DATA, &text, &err), M2_E_DATA,
                 "/f: larger than the limit of 7 bytes", &err);
    text_free(&text);
}

static void limit_holds_for_files_without_a_size(void **state)
{
    struct m2_error err;
    struct text text = {0};

    (void)state;
    assert_fails(file_read("/dev/zero", 100000, M2_E_DATA, &text, &err),
                 M2_E_DATA, "limit of 100000 bytes", &err);
    text_free(&text);
}

static void missing_file_is_named_under_the_callers_code(void **state)
{
    const char *path = unit_path(*state, "none");
    struct m2_error err;
    struct text text = {0};
    struct file_facts facts;

    assert_fails(file_read(path, 10, M2_E_CONFIG, &text, &err), M2_E_CONFIG,
                 "/none: No such file or directory", &err);
    assert_fails(file_get_facts(path, M2_E_DATA, &facts, &err), M2_E_DATA,
                 "/none: No such file or directory", &err);
    assert_false(file_exists(path));
}

static void atomic_write_replaces_and_leaves_nothing_else(void **state)
{
    const char *path = unit_path(*state, "f");
    struct m2_error err;
    struct text text = {0};
    struct string_list names = {0};

    unit_write(path, "old contents");
    assert_ok(file_write_atomic(path, "new", 3, M2_E_RESULTS, &err), &err);
    assert_ok(file_read(path, 100, M2_E_DATA, &text, &err), &err);
    assert_string_equal(text_string(&text), "new");
    assert_ok(path_list(*state, M2_E_DATA, &names, &err), &err);
    assert_int_equal(names.count, 1);
    string_list_free(&names);
    text_free(&text);
}

static void a_copy_replaces_and_a_missing_file_is_left_out(void **state)
{
    enum { SIZE = 200000 };
    const char *from = unit_path(*state, "from"), *to = unit_path(*state, "to");
    char *bytes = malloc(SIZE + 1);
    struct m2_error err;
    struct text text = {0};

    memset(bytes, 'x', SIZE);
    bytes[SIZE] = '\0';
    unit_write(from, bytes);
    unit_write(to, "old");
    assert_ok(file_copy(from, to, M2_E_RESULTS, &err), &err);
    assert_ok(file_read(to, SIZE, M2_E_RESULTS, &text, &err), &err);
    assert_string_equal(text_string(&text), bytes);
    unlink(from);
    assert_ok(file_copy(from, to, M2_E_RESULTS, &err), &err);
    assert_true(file_exists(to));
    assert_fails(file_copy(*state, to, M2_E_RESULTS, &err), M2_E_RESULTS,
                 "/to: Is a directory", &err);
    assert_true(file_exists(to));
    assert_false(file_exists(unit_path(*state, ".to.tmp")));
    text_free(&text);
    free(bytes);
}

static void atomic_write_into_no_directory_fails(void **state)
{
    struct m2_error err;

    assert_fails(file_write_atomic(unit_path(*state, "no/f"), "x", 1,
                                   M2_E_RESULTS, &err),
                 M2_E_RESULTS, "No such file or directory", &err);
}

static void facts_are_size_and_time_to_the_nanosecond(void **state)
{
    const char *path = unit_path(*state, "f");
    const struct timespec times[2] = {{12, 345}, {1700000000, 123456789}};
    struct m2_error err;
    struct file_facts facts;

    unit_write(path, "123");
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_ok(file_get_facts(path, M2_E_DATA, &facts, &err), &err);
    assert_int_equal(facts.size, 3);
    assert_true(facts.mtime_ns == INT64_C(1700000000123456789));
}

static void directories_are_made_with_their_parents(void **state)
{
    const char *deep = unit_path(*state, "a/b//c/");
    struct m2_error err;

    assert_ok(file_make_dirs(deep, M2_E_RESULTS, &err), &err);
    assert_ok(file_make_dirs(deep, M2_E_RESULTS, &err), &err);
    assert_true(file_is_dir(unit_path(*state, "a/b/c")));
    unit_write(unit_path(*state, "a/file"), "");
    assert_fails(
        file_make_dirs(unit_path(*state, "a/file/d"), M2_E_RESULTS, &err),
        M2_E_RESULTS, "/a/file: not a directory", &err);
    assert_int_equal(symlink("nowhere", unit_path(*state, "a/link")), 0);
    assert_fails(
        file_make_dirs(unit_path(*state, "a/link/d"), M2_E_RESULTS, &err),
        M2_E_RESULTS, "/a/link: not a directory", &err);
}

static void removed_tree_spares_what_links_point_at(void **state)
{
    const char *dir = *state;
    struct m2_error err;

    assert_ok(file_make_dirs(unit_path(dir, "t/u/v"), M2_E_RESULTS, &err),
              &err);
    assert_ok(file_make_dirs(unit_path(dir, "kept"), M2_E_RESULTS, &err), &err);
    unit_write(unit_path(dir, "kept/f"), "");
    unit_write(unit_path(dir, "t/u/f"), "");
    assert_int_equal(symlink("../kept", unit_path(dir, "t/link")), 0);
    assert_ok(file_remove_tree(unit_path(dir, "t"), M2_E_RESULTS, &err), &err);
    assert_false(file_exists(unit_path(dir, "t")));
    assert_true(file_exists(unit_path(dir, "kept/f")));
    assert_ok(file_remove_tree(unit_path(dir, "t"), M2_E_RESULTS, &err), &err);
}

static int make_dir(void **state)
{
    *state = unit_make_dir();
    return 0;
}

static int remove_dir(void **state)
{
    unit_remove_dir(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(file_is_read_up_to_the_limit),
        TEST(limit_holds_for_files_without_a_size),
        TEST(missing_file_is_named_under_the_callers_code),
        TEST(atomic_write_replaces_and_leaves_nothing_else),
        TEST(a_copy_replaces_and_a_missing_file_is_left_out),
        TEST(atomic_write_into_no_directory_fails),
        TEST(facts_are_size_and_time_to_the_nanosecond),
        TEST(directories_are_made_with_their_parents),
        TEST(removed_tree_spares_what_links_point_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
