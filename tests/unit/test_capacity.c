/* Memory and disk that there are. */
#include "unit.h"

#include "util/capacity.h"

static void memory_is_known_and_available_memory_is_part_of_it(void **state)
{
    struct memory_capacity capacity = memory_capacity();

    (void)state;
    assert_true(capacity.limit > 1 << 20);
    assert_true(capacity.available <= capacity.limit);
}

static void
a_folder_that_is_still_to_be_made_has_the_space_of_its_parent(void **state)
{
    static const char *const paths[] = {
        "/proc-of-nothing/a/b", "not/there/yet", "there", "", "/",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(paths); i++)
        assert_true(disk_available(paths[i]) ==
                        disk_available(*paths[i] == '/' ? "/" : ".") ||
                    disk_available(paths[i]) > 0);
    assert_true(disk_available("/proc") == 0); /* holds nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_known_and_available_memory_is_part_of_it),
        cmocka_unit_test(
            a_folder_that_is_still_to_be_made_has_the_space_of_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
