/* What a process inherits, and what the system knows of it. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/process.h"

static void a_closed_stream_is_taken_by_no_file(void **state)
{
    char byte = 'x';
    int kept[3], file;
    ssize_t got[3];

    for (int fd = 0; fd < 3; fd++)
        kept[fd] = dup(fd);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    process_begin();
    file = open(unit_path(*state, "f"), O_RDWR | O_CREAT, 0600);
    got[0] = read(0, &byte, 1);
    got[1] = write(1, &byte, 1);
    got[2] = write(2, &byte, 1);
    for (int fd = 0; fd < 3; fd++) {
        dup2(kept[fd], fd);
        close(kept[fd]);
    }
    assert_true(file > 2);
    close(file);
    for (int fd = 0; fd < 3; fd++)
        assert_int_equal(got[fd], -1);
}

static void a_file_beyond_the_limit_is_an_error_of_write(void **state)
{
    struct rlimit before, none;
    int file = open(unit_path(*state, "f"), O_RDWR | O_CREAT, 0600);
    ssize_t written;
    int cause;

    process_begin();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    written = write(file, "x", 1);
    cause = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(written, -1);
    assert_int_equal(cause, EFBIG);
    close(file);
}

static void memory_and_age_are_those_of_a_small_young_program(void **state)
{
    struct process_memory memory = process_memory();
    double age = process_age();

    (void)state;
    if (memory.peak == 0 || isnan(age))
        skip(); /* no /proc */
    assert_true(memory.now > 0 && memory.now <= memory.peak);
    assert_true(age >= 0 && age < 3600);
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
        cmocka_unit_test_setup_teardown(a_closed_stream_is_taken_by_no_file,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(
            a_file_beyond_the_limit_is_an_error_of_write, make_dir, remove_dir),
        cmocka_unit_test(memory_and_age_are_those_of_a_small_young_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
