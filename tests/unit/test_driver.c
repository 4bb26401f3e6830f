/* Marks of the processes that work an experiment. */
#include "results/driver.h"

#include <unistd.h>

#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"

static void count(void *context, const struct owner *owner)
{
    assert_int_equal(owner->pid, getpid());
    ++*(int *)context;
}

static int count_drivers(const char *root)
{
    struct m2_error err;
    int n = 0;

    assert_ok(driver_each(root, "exp", count, &n, &err), &err);
    return n;
}

static void drivers_are_found_while_they_live(void **state)
{
    const char *root = *state;
    struct driver *a, *b;
    struct m2_error err;

    assert_int_equal(count_drivers(root), 0);
    assert_ok(driver_begin(root, "exp", &a, &err), &err);
    assert_ok(driver_begin(root, "exp", &b, &err), &err);
    assert_int_equal(count_drivers(root), 2);
    driver_end(a);
    assert_int_equal(count_drivers(root), 1);
    driver_end(b);
    assert_int_equal(count_drivers(root), 0);
    driver_end(NULL);
}

static void the_mark_of_a_dead_driver_is_removed(void **state)
{
    const char *root = *state;
    struct owner owner;
    struct m2_error err;
    char text[300];

    assert_ok(owner_self(&owner, &err), &err);
    snprintf(text, sizeof text, "{\"boot_id\": \"%s\", \"token\": \"x\"}",
             owner.boot_id);
    folder_write(root, "exp/.active/.driver-dead/owner.json", text);
    folder_write(root, "exp/.active/.driver-far/owner.json",
                 "{\"boot_id\": \"another boot\"}");
    assert_int_equal(count_drivers(root), 0);
    assert_false(folder_has(root, "exp/.active/.driver-dead"));
    assert_true(folder_has(root, "exp/.active/.driver-far"));
}

static void a_folder_that_cannot_be_written_is_an_error(void **state)
{
    struct driver *driver = NULL;
    struct m2_error err;

    unit_write(folder_path(*state, "exp"), "");
    assert_fails(driver_begin(*state, "exp", &driver, &err), M2_E_RESULTS,
                 "/exp", &err);
    assert_null(driver);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, folder_open, folder_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(drivers_are_found_while_they_live),
        TEST(the_mark_of_a_dead_driver_is_removed),
        TEST(a_folder_that_cannot_be_written_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
