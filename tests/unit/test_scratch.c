/* A folder to work in goes with its process, however that ends. */
#include "results/scratch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"
#include "util/file.h"

static void close_it(struct scratch *scratch, bool keep)
{
    struct m2_error err;

    assert_ok(scratch_close(scratch, keep, &err), &err);
}

static void it_is_removed_with_what_is_in_it(void **state)
{
    const char *root = *state;
    struct scratch scratch;
    struct m2_error err;
    char path[PATH_MAX];

    assert_ok(scratch_open(root, "work-", &scratch, &err), &err);
    snprintf(path, sizeof path, "%s", scratch.path);
    folder_write(path, "a/b", "x");
    assert_true(file_exists(path));
    close_it(&scratch, false);
    assert_false(file_exists(path));
    assert_true(file_exists(root));
    close_it(&scratch, false);
}

static void it_can_be_kept_and_is_nobodys_then(void **state)
{
    const char *root = *state;
    struct scratch scratch, next;
    struct m2_error err;
    char path[PATH_MAX];

    assert_ok(scratch_open(root, "work-", &scratch, &err), &err);
    snprintf(path, sizeof path, "%s", scratch.path);
    close_it(&scratch, true);
    assert_ok(scratch_open(root, "work-", &next, &err), &err);
    close_it(&next, false);
    assert_true(file_exists(path));
    assert_false(folder_has(path, "owner.json"));
}

/* A process of its own makes one and is killed; its path comes by a file. */
static void leave_one(const char *root, const char *prefix, char *path)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        struct scratch scratch;

        if (scratch_open(root, prefix, &scratch, NULL) == 0)
            folder_write(root, "left", scratch.path);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    {
        FILE *file = fopen(folder_path(root, "left"), "r");

        assert_non_null(file);
        assert_non_null(fgets(path, PATH_MAX, file));
        fclose(file);
    }
}

static void the_next_one_removes_those_of_the_killed(void **state)
{
    const char *root = *state;
    struct scratch living, next;
    char dead[PATH_MAX], other[PATH_MAX];
    struct m2_error err;

    assert_ok(scratch_open(root, "work-", &living, &err), &err);
    leave_one(root, "work-", dead);
    leave_one(root, "other-", other);
    assert_true(file_exists(dead));
    assert_ok(scratch_open(root, "work-", &next, &err), &err);
    assert_false(file_exists(dead));
    assert_true(file_exists(other));
    assert_true(file_exists(living.path));
    close_it(&next, false);
    close_it(&living, false);
}

static void a_root_that_was_made_goes_with_it(void **state)
{
    const char *root = folder_path(*state, "new");
    struct scratch scratch;
    struct m2_error err;

    assert_ok(scratch_open(root, "work-", &scratch, &err), &err);
    assert_true(file_exists(scratch.path));
    close_it(&scratch, false);
    assert_false(folder_has(*state, "new"));
}

static void the_temporary_one_lies_in_tmpdir(void **state)
{
    const char *root = *state;
    struct scratch scratch;
    struct m2_error err;

    setenv("TMPDIR", root, 1);
    assert_ok(scratch_open_temporary("work-", &scratch, &err), &err);
    assert_memory_equal(scratch.path, root, strlen(root));
    close_it(&scratch, false);
    setenv("TMPDIR", folder_path(root, "left"), 1);
    folder_write(root, "left", "a file");
    assert_fails(scratch_open_temporary("work-", &scratch, &err), M2_E_RESULTS,
                 "left", &err);
    close_it(&scratch, false);
}

#define IN_FOLDER(test)                                                        \
    cmocka_unit_test_setup_teardown(test, folder_open, folder_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(it_is_removed_with_what_is_in_it),
        IN_FOLDER(it_can_be_kept_and_is_nobodys_then),
        IN_FOLDER(the_next_one_removes_those_of_the_killed),
        IN_FOLDER(a_root_that_was_made_goes_with_it),
        IN_FOLDER(the_temporary_one_lies_in_tmpdir),
    };

    return cmocka_run_group_tests_name("scratch", tests, NULL, NULL);
}
