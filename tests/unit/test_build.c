/* Build facts: every one is there. */
#include "tests/unit/unit.h"

#include "util/build.h"

static void every_build_fact_is_set(void **state)
{
    const struct build_facts *facts = build_facts();

    (void)state;
    assert_true(strlen(facts->version) > 0);
    assert_true(strlen(facts->commit) == 40 ||
                strcmp(facts->commit, "unknown") == 0);
    assert_true(strlen(facts->compiler) > 0);
    assert_non_null(facts->cflags);
    /* what is not committed is told from other changes by a digest */
    assert_int_equal(strlen(facts->difference), facts->dirty ? 64 : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_build_fact_is_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
