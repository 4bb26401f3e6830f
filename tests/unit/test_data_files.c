/* data.path: which files are read, and the fingerprint of what is in them. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "data/source.h"
#include "util/file.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static char root[512]; /* of this test: made anew by set_up */

static const char *in_root(const char *name)
{
    static char paths[8][1024];
    static int next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const char *content)
{
    struct m2_error err;

    if (file_write_atomic(in_root(name), content, strlen(content), M2_E_DATA,
                          &err) != M2_OK)
        fail_msg("%s", err.text);
}

/* As if written in the past: a fresh file is not remembered. */
static void make_old(const char *name, int64_t seconds)
{
    struct timespec times[2] = {{seconds, 0}, {seconds, 0}};

    assert_int_equal(utimensat(AT_FDCWD, in_root(name), times, 0), 0);
}

static int set_up(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(root, sizeof root, "%s/m2run-test-XXXXXX",
             tmp == NULL ? "/tmp" : tmp);
    if (mkdtemp(root) == NULL || mkdir(in_root("d"), 0700) != 0 ||
        mkdir(in_root("d/sub"), 0700) != 0)
        return -1;
    write_file("d/b.csv", "b");
    write_file("d/a.csv", "a");
    write_file("d/metadata.json", "{}");
    write_file("d/.hidden.csv", "h");
    return setenv("XDG_CACHE_HOME", in_root("cache"), 1);
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(root, M2_E_DATA, NULL);
}

static struct string_list files_of(const char *const *paths, size_t n, int code,
                                   struct m2_error *err)
{
    struct config_data config = {0};
    struct string_list files = {0};
    char *list[4];

    config.paths = list;
    config.n_paths = n;
    for (size_t i = 0; i < n; i++)
        list[i] = strdup(in_root(paths[i]));
    assert_int_equal(source_files(&config, &files, NULL, err), code);
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    return files;
}

static void paths_are_files_patterns_and_directories(void **state)
{
    static const struct {
        const char *paths[3];
        size_t n;
        const char *files[2];
        size_t n_files;
    } cases[] = {
        {{"d/b.csv"}, 1, {"d/b.csv"}, 1},
        {{"d"}, 1, {"d/a.csv", "d/b.csv"}, 2},
        {{"d/*.csv"}, 1, {"d/a.csv", "d/b.csv"}, 2},
        {{"d/b.csv", "d/a.csv"}, 2, {"d/a.csv", "d/b.csv"}, 2},
        {{"d/b.csv", "d", "d/?.csv"}, 3, {"d/a.csv", "d/b.csv"}, 2},
        {{"d/metadata.json"}, 1, {"d/metadata.json"}, 1},
        {{""}, 0, {NULL}, 0},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct m2_error err;
        struct string_list files =
            files_of(cases[k].paths, cases[k].n, M2_OK, &err);
        assert_int_equal(files.count, cases[k].n_files);
        for (size_t i = 0; i < files.count; i++)
            assert_string_equal(files.items[i], in_root(cases[k].files[i]));
        string_list_free(&files);
    }
}

static void what_matches_nothing_is_named(void **state)
{
    static const char *const cases[][2] = {
        {"d/c.csv", "data.path: there is no file "},
        {"d/*.dbn", "data.path: no file matches "},
        {"d/sub", "data.path: no data file in directory "},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct m2_error err;
        struct string_list files = files_of(cases[k], 1, M2_E_DATA, &err);
        assert_memory_equal(err.text, cases[k][1], strlen(cases[k][1]));
        assert_non_null(strstr(err.text, in_root(cases[k][0])));
        string_list_free(&files);
    }
}

/* The fingerprint of d/: names and contents, nothing else. */
static char *fingerprint(const char *path)
{
    struct config config = {0};
    struct text text = {0};
    struct m2_error err;
    char *list[1] = {strdup(in_root(path))};

    config.data.paths = list;
    config.data.n_paths = 1;
    if (dataset_fingerprint(&config, &text, &err) != M2_OK)
        fail_msg("%s", err.text);
    free(list[0]);
    return text_steal(&text, &err);
}

static void the_fingerprint_is_names_and_contents(void **state)
{
    (void)state;
    char *here = fingerprint("d");
    assert_string_equal(
        here,
        "a.csv ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48"
        "bb\n"
        "b.csv 3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c00"
        "9d\n");
    assert_int_equal(rename(in_root("d"), in_root("moved")), 0);
    char *there = fingerprint("moved");
    assert_string_equal(here, there);
    write_file("moved/b.csv", "c");
    char *changed = fingerprint("moved");
    assert_string_not_equal(here, changed);
    assert_memory_equal(here, changed, 70);
    free(here);
    free(there);
    free(changed);
}

static void digests_are_remembered_by_path_size_and_time(void **state)
{
    (void)state;
    make_old("d/a.csv", 1000);
    char *first = fingerprint("d/a.csv");
    assert_true(file_is_dir(in_root("cache/m2run")));
    /* Other content, but size and time as remembered: the cache answers. */
    write_file("d/a.csv", "x");
    make_old("d/a.csv", 1000);
    char *cached = fingerprint("d/a.csv");
    assert_string_equal(first, cached);
    make_old("d/a.csv", 1001);
    char *fresh = fingerprint("d/a.csv");
    assert_string_not_equal(first, fresh);
    free(first);
    free(cached);
    free(fresh);
}

static void a_file_changed_just_now_is_not_remembered(void **state)
{
    (void)state;
    char *first = fingerprint("d/a.csv");
    assert_false(file_exists(in_root("cache/m2run")));
    free(first);
}

static void a_damaged_or_missing_cache_changes_nothing(void **state)
{
    (void)state;
    make_old("d/a.csv", 1000);
    char *first = fingerprint("d/a.csv");
    char command[1200];
    snprintf(command, sizeof command,
             "for f in %s/cache/m2run/*; do echo "
             "rubbish > $f; done",
             root);
    assert_int_equal(system(command), 0);
    char *second = fingerprint("d/a.csv");
    assert_string_equal(first, second);
    free(second);
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    second = fingerprint("d/a.csv");
    assert_string_equal(first, second);
    free(second);
    free(first);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(paths_are_files_patterns_and_directories),
        TEST(what_matches_nothing_is_named),
        TEST(the_fingerprint_is_names_and_contents),
        TEST(digests_are_remembered_by_path_size_and_time),
        TEST(a_file_changed_just_now_is_not_remembered),
        TEST(a_damaged_or_missing_cache_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
