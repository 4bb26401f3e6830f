/* File names. */
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "util/path.h"

/* Compares and frees what a path function returned. */
static void assert_path(char *path, const char *expected)
{
    assert_non_null(path);
    assert_string_equal(path, expected);
    free(path);
}

static void join_keeps_absolute_names(void **state)
{
    (void)state;
    assert_path(path_join("a", "b", NULL), "a/b");
    assert_path(path_join("a/", "b", NULL), "a/b");
    assert_path(path_join("", "b", NULL), "b");
    assert_path(path_join("/", "b", NULL), "/b");
    assert_path(path_join("a", "/b", NULL), "/b");
}

static void dirname_and_basename_split_a_path(void **state)
{
    static const struct {
        const char *path, *dir, *base;
    } cases[] = {
        {"a/b.c", "a", "b.c"}, {"b", ".", "b"},     {"/b", "/", "b"},
        {"/", "/", "/"},       {"a//b", "a", "b"},  {"a/b/", "a", "b/"},
        {"", ".", ""},         {"/a/b", "/a", "b"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_path(path_dirname(cases[i].path, NULL), cases[i].dir);
        assert_string_equal(path_basename(cases[i].path), cases[i].base);
    }
}

static void paths_in_a_file_are_relative_to_that_file(void **state)
{
    (void)state;
    assert_path(path_resolve("exp/a.yaml", "../d.csv", NULL), "exp/../d.csv");
    assert_path(path_resolve("a.yaml", "d.csv", NULL), "d.csv");
    assert_path(path_resolve("exp/a.yaml", "/d.csv", NULL), "/d.csv");
    assert_path(path_resolve("/a.yaml", "d.csv", NULL), "/d.csv");
}

static void absolute_path_starts_at_the_working_directory(void **state)
{
    char here[4096], expected[4200];

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    snprintf(expected, sizeof expected, "%s/x/../y", here);
    assert_path(path_absolute("./x//../y", NULL), expected);
    assert_path(path_absolute(".", NULL), here);
    assert_path(path_absolute("/a//./b/", NULL), "/a/b");
    assert_path(path_absolute("/", NULL), "/");
}

static void listing_and_glob_are_sorted_bytewise(void **state)
{
    const char *dir = *state;
    struct m2_error err;
    struct string_list names = {0};
    static const char *const made[] = {"b.csv", "B.csv", "a.csv", ".h", "x"};
    static const char *const sorted[] = {".h", "B.csv", "a.csv", "b.csv", "x"};

    for (size_t i = 0; i < COUNT_OF(made); i++)
        unit_write(unit_path(dir, made[i]), "");
    assert_ok(path_list(dir, M2_E_DATA, &names, &err), &err);
    assert_int_equal(names.count, COUNT_OF(sorted));
    for (size_t i = 0; i < COUNT_OF(sorted); i++)
        assert_string_equal(names.items[i], sorted[i]);
    string_list_free(&names);

    assert_ok(path_glob(unit_path(dir, "*.csv"), M2_E_DATA, &names, &err),
              &err);
    assert_int_equal(names.count, 3);
    assert_string_equal(names.items[0], unit_path(dir, "B.csv"));
    assert_string_equal(names.items[2], unit_path(dir, "b.csv"));
    string_list_free(&names);
}

static void glob_without_a_match_is_empty(void **state)
{
    const char *dir = *state;
    struct m2_error err;
    struct string_list names = {0};

    assert_ok(path_glob(unit_path(dir, "none*"), M2_E_DATA, &names, &err),
              &err);
    assert_int_equal(names.count, 0);
    unit_write(unit_path(dir, "odd[1].csv"), "");
    assert_ok(path_glob(unit_path(dir, "odd[1].csv"), M2_E_DATA, &names, &err),
              &err);
    assert_int_equal(names.count, 1);
    string_list_free(&names);
}

static void listing_a_missing_directory_names_it(void **state)
{
    const char *dir = *state;
    struct m2_error err;
    struct string_list names = {0};

    assert_fails(path_list(unit_path(dir, "no"), M2_E_DATA, &names, &err),
                 M2_E_DATA, "/no: No such file or directory", &err);
}

static void executable_is_this_program(void **state)
{
    char *path = path_executable(NULL);

    (void)state;
    assert_non_null(path);
    assert_true(path_is_absolute(path));
    assert_int_equal(access(path, X_OK), 0);
    free(path);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(join_keeps_absolute_names),
        cmocka_unit_test(dirname_and_basename_split_a_path),
        cmocka_unit_test(paths_in_a_file_are_relative_to_that_file),
        cmocka_unit_test(absolute_path_starts_at_the_working_directory),
        cmocka_unit_test(executable_is_this_program),
        cmocka_unit_test_setup_teardown(listing_and_glob_are_sorted_bytewise,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(glob_without_a_match_is_empty, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(listing_a_missing_directory_names_it,
                                        make_dir, remove_dir),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
