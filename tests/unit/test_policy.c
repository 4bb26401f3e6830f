/* The rule table of `m2run run`, and the limit of failures. */
#include "schedule/policy.h"

#include "tests/unit/unit.h"

static void every_state_and_option_has_its_action(void **state)
{
    static const struct {
        const char *state;
        enum run_action plain, retried, fresh;
    } cases[] = {
        {"pending", ACTION_START, ACTION_START, ACTION_START},
        {"stopped", ACTION_CONTINUE, ACTION_CONTINUE, ACTION_ANEW},
        {"interrupted", ACTION_CONTINUE, ACTION_CONTINUE, ACTION_ANEW},
        {"running", ACTION_WAIT, ACTION_WAIT, ACTION_WAIT},
        {"done", ACTION_SKIP, ACTION_SKIP, ACTION_AGAIN},
        {"failed", ACTION_SKIP, ACTION_AGAIN, ACTION_AGAIN},
        {"diverged", ACTION_SKIP, ACTION_AGAIN, ACTION_AGAIN},
        {"oom", ACTION_SKIP, ACTION_AGAIN, ACTION_AGAIN},
        {"damaged", ACTION_SKIP, ACTION_SKIP, ACTION_SKIP},
    };
    struct run_policy plain = {0}, retry = {0}, fresh = {.fresh = true};

    (void)state;
    assert_int_equal(policy_parse_retry("all", &retry.retry, NULL), 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(policy_action(&plain, cases[i].state), cases[i].plain);
        assert_int_equal(policy_action(&retry, cases[i].state),
                         cases[i].retried);
        assert_int_equal(policy_action(&fresh, cases[i].state), cases[i].fresh);
    }
}

static void only_the_named_states_are_retried(void **state)
{
    struct run_policy policy = {0};

    (void)state;
    assert_int_equal(policy_parse_retry("oom,failed", &policy.retry, NULL), 0);
    assert_int_equal(policy_action(&policy, "failed"), ACTION_AGAIN);
    assert_int_equal(policy_action(&policy, "oom"), ACTION_AGAIN);
    assert_int_equal(policy_action(&policy, "diverged"), ACTION_SKIP);
    assert_int_equal(policy_action(&policy, "done"), ACTION_SKIP);
}

static void what_others_work_on_is_waited_for_left_or_taken(void **state)
{
    const struct run_policy leave = {.no_wait = true};
    const struct run_policy take = {.no_wait = true, .takeover = true};

    (void)state;
    assert_int_equal(policy_action(&leave, "running"), ACTION_LEAVE);
    assert_int_equal(policy_action(&take, "running"), ACTION_TAKE_OVER);
}

static void a_word_that_is_no_state_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"faled", "did you mean 'failed'?"},
        {"failed,", "unknown state ''"},
        {"", "unknown state ''"},
        {"failed,zebra", "there are failed, diverged, oom"},
        {"done", "--fresh runs it again"},
        {"running", "unknown state 'running'"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct m2_error err = {0};
        unsigned states = 77;

        assert_int_equal(policy_parse_retry(cases[i].text, &states, &err),
                         M2_E_USAGE);
        assert_non_null(strstr(err.text, cases[i].message));
        assert_int_equal(states, 77);
    }
}

static void a_limit_is_a_number_or_a_share(void **state)
{
    static const struct {
        const char *text;
        uint64_t n_failed, n_runs;
        bool reached;
    } cases[] = {
        {"0", 5, 5, false},      {"2", 1, 12, false},  {"2", 2, 12, true},
        {"25%", 2, 12, false},   {"25%", 3, 12, true}, {"0%", 12, 12, false},
        {"100%", 11, 12, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct failure_limit limit;

        assert_int_equal(policy_parse_limit(cases[i].text, &limit, NULL), 0);
        assert_int_equal(
            policy_limit_reached(&limit, cases[i].n_failed, cases[i].n_runs),
            cases[i].reached);
    }
}

static void a_limit_that_is_none_is_refused(void **state)
{
    static const char *const cases[] = {
        "", "%", "-1", "1.5", "101%", "two", "5%%", "99999999999999999999999"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct failure_limit limit;

        assert_int_equal(policy_parse_limit(cases[i], &limit, NULL),
                         M2_E_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_and_option_has_its_action),
        cmocka_unit_test(only_the_named_states_are_retried),
        cmocka_unit_test(what_others_work_on_is_waited_for_left_or_taken),
        cmocka_unit_test(a_word_that_is_no_state_is_refused),
        cmocka_unit_test(a_limit_is_a_number_or_a_share),
        cmocka_unit_test(a_limit_that_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
