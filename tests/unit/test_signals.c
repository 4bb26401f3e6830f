/* Stop requests are counted, and those that nobody is to hear are not. */
#include "schedule/signals.h"

#include <time.h>

#include "tests/unit/unit.h"

/* So that the next signal is another request. */
static void wait_for_the_burst_to_end(void)
{
    const struct timespec wait = {0, (long)(1e9 * SIGNAL_BURST_S) + 10000000};

    nanosleep(&wait, NULL);
}

/* Each test leaves its own number of requests behind: the count only grows. */
static void an_ignored_signal_stays_ignored(void **state)
{
    int before = stop_requests();

    (void)state;
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signals_for_parent();
    raise(SIGHUP);
    raise(SIGINT);
    assert_int_equal(stop_requests(), before);
    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
}

static void every_kind_of_stop_is_counted(void **state)
{
    static const int kinds[] = {SIGINT, SIGTERM, SIGHUP, SIGINT};
    int before = stop_requests();

    (void)state;
    signals_for_parent();
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        raise(kinds[i]);
        assert_int_equal(stop_requests(), before + (int)i + 1);
        wait_for_the_burst_to_end();
    }
}

static void signals_of_one_moment_are_one_request(void **state)
{
    int before = stop_requests();

    (void)state;
    signals_for_parent();
    raise(SIGTERM);
    raise(SIGHUP);
    raise(SIGTERM);
    assert_int_equal(stop_requests(), before + 1);
}

/* A reader that has gone is an error of write(), never a death. */
static void a_closed_pipe_kills_nobody(void **state)
{
    (void)state;
    signals_for_parent();
    raise(SIGPIPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ignored_signal_stays_ignored),
        cmocka_unit_test(every_kind_of_stop_is_counted),
        cmocka_unit_test(signals_of_one_moment_are_one_request),
        cmocka_unit_test(a_closed_pipe_kills_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
