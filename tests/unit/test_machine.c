/* Processor and libraries of this process. */
#include "util/machine.h"

#include "tests/unit/unit.h"

static void the_machine_is_known(void **state)
{
    struct machine_facts facts;

    (void)state;
    machine_facts(&facts);
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    assert_true(strlen(facts.cpu) > 0);
    assert_true(strlen(facts.isa) > 0);
#endif
#ifdef __GLIBC__
    assert_ptr_equal(strstr(facts.libc, "glibc "), facts.libc);
#endif
}

struct seen {
    size_t n;
    char libc[MACHINE_BUILD_ID_SIZE];
};

static int see(void *context, const char *name,
               const char build_id[MACHINE_BUILD_ID_SIZE])
{
    struct seen *seen = context;

    seen->n++;
    assert_null(strchr(name, '/'));
    assert_int_equal(strspn(build_id, "0123456789abcdef"), strlen(build_id));
    if (strncmp(name, "libc.so", 7) == 0)
        memcpy(seen->libc, build_id, sizeof seen->libc);
    return 0;
}

static int stop(void *context, const char *name,
                const char build_id[MACHINE_BUILD_ID_SIZE])
{
    (void)name;
    (void)build_id;
    ++*(int *)context;
    return 5;
}

static void every_library_has_its_build_id(void **state)
{
    struct seen seen = {0}, again = {0};
    int calls = 0;

    (void)state;
    assert_int_equal(machine_libraries(see, &seen), 0);
    assert_true(seen.n > 0);
    assert_int_equal(machine_libraries(see, &again), 0);
    assert_string_equal(seen.libc, again.libc);
    assert_int_equal(machine_libraries(stop, &calls), 5);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_is_known),
        cmocka_unit_test(every_library_has_its_build_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
