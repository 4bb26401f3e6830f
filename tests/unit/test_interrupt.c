/* A signal that is held ends the process later, and a second one at once. */
#include "util/interrupt.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static void wait_for_the_burst_to_end(void)
{
    const struct timespec wait = {0,
                                  (long)(1e9 * INTERRUPT_BURST_S) + 10000000};

    nanosleep(&wait, NULL);
}

/* The wait status of a process that does this. */
static int status_of(void (*work)(int number), int number)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        signal(number, SIG_DFL);
        work(number);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void hold_one(int number)
{
    struct interrupt_hold hold;

    interrupt_hold(&hold);
    if (interrupt_came() != 0)
        _exit(1);
    raise(number);
    raise(number); /* of the same moment */
    if (interrupt_came() != number)
        _exit(2);
    interrupt_release(&hold);
}

static void a_held_signal_ends_the_process_at_the_release(void **state)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        int status = status_of(hold_one, numbers[i]);

        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
    }
}

static void ask_twice(int number)
{
    struct interrupt_hold hold;

    interrupt_hold(&hold);
    raise(number);
    wait_for_the_burst_to_end();
    raise(number);
    _exit(3);
}

static void a_second_one_ends_it_at_once(void **state)
{
    int status = status_of(ask_twice, SIGINT);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

static void ask_in_vain(int number)
{
    struct interrupt_hold hold;

    signal(number, SIG_IGN);
    interrupt_hold(&hold);
    raise(number);
    if (interrupt_came() != 0)
        _exit(1);
    interrupt_release(&hold);
    raise(number);
}

static void what_was_ignored_stays_so(void **state)
{
    (void)state;
    assert_int_equal(status_of(ask_in_vain, SIGHUP), 0);
}

static void hold_nothing(int number)
{
    struct interrupt_hold hold;

    interrupt_hold(&hold);
    interrupt_release(&hold);
    raise(number);
}

static void after_the_release_a_signal_does_what_it_did(void **state)
{
    int status = status_of(hold_nothing, SIGTERM);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_signal_ends_the_process_at_the_release),
        cmocka_unit_test(a_second_one_ends_it_at_once),
        cmocka_unit_test(what_was_ignored_stays_so),
        cmocka_unit_test(after_the_release_a_signal_does_what_it_did),
    };

    return cmocka_run_group_tests_name("interrupt", tests, NULL, NULL);
}
