/* What becomes of workers and their runs.  The program is its own worker: the
 * pool starts it with the words of `m2run worker`, and the record's name says
 * what the worker does. */
#include "schedule/pool.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "results/attempt.h"
#include "schedule/events.h"
#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"

enum { STOPPED = 75, MAX_DEATHS = 5 };

/* ---- the worker --------------------------------------------------------- */

static void publish_done(const char *root)
{
    const struct run_place place = folder_place(root, "run", IDENTITY_A);

    folder_publish(&place, "done", "{}");
}

static void tell_done(const char *root)
{
    struct event event = {.kind = EVENT_END, .state = "done"};

    snprintf(event.path, sizeof event.path, "%s/exp/run-" HASH_A, root);
    event_send(STDOUT_FILENO, &event);
}

static int work(const char *root, const char *what)
{
    const struct rlimit none = {0};

    setrlimit(RLIMIT_CORE, &none);
    if (strcmp(what, "crash") == 0)
        abort();
    if (strcmp(what, "stop") == 0)
        return STOPPED;
    if (strcmp(what, "fail") == 0)
        return 5;
    if (strcmp(what, "die") == 0 || !folder_has(root, "begun")) {
        folder_write(root, "begun", "");
        if (strncmp(what, "die", 3) == 0)
            raise(SIGKILL);
    }
    publish_done(root);
    if (strcmp(what, "publish and crash") == 0)
        abort();
    tell_done(root);
    return 0;
}

/* ---- the pool ----------------------------------------------------------- */

struct outcome {
    struct pool_task task;
    struct pool_result result;
};

static struct outcome run(const char *root, const char *what)
{
    struct outcome out = {.task = {.label = "run", .identity = IDENTITY_A}};
    const struct pool_request request = {
        .record = what,
        .root = root,
        .name = "exp",
        .tasks = &out.task,
        .n_tasks = 1,
        .jobs = 1,
        .threads = 1,
        .no_wait = true,
        .quiet = true,
    };
    struct m2_error err;

    assert_ok(pool_run(&request, &out.result, &err), &err);
    return out;
}

static void free_outcome(struct outcome *outcome)
{
    free(outcome->task.reason);
    free(outcome->task.path);
}

static void check_failed(struct outcome *outcome, const char *root,
                         const char *reason)
{
    assert_int_equal(outcome->task.state, TASK_ENDED);
    assert_string_equal(outcome->task.result, "failed");
    assert_int_equal(outcome->result.n_failed, 1);
    assert_non_null(strstr(outcome->task.reason, reason));
    assert_true(folder_has(root, "exp/run-" HASH_A "/run.json"));
    free_outcome(outcome);
}

static void a_run_that_says_done_is_done(void **state)
{
    struct outcome outcome = run(*state, "work");

    assert_int_equal(outcome.task.state, TASK_ENDED);
    assert_int_equal(outcome.result.n_done, 1);
    assert_string_equal(outcome.task.path,
                        folder_path(*state, "exp/run-" HASH_A));
    free_outcome(&outcome);
}

static void a_crash_is_published_as_failed(void **state)
{
    struct outcome outcome = run(*state, "crash");

    check_failed(&outcome, *state, "killed by signal 6");
}

static void a_crash_after_publishing_is_no_failure(void **state)
{
    struct outcome outcome = run(*state, "publish and crash");

    assert_int_equal(outcome.task.state, TASK_ENDED);
    assert_string_equal(outcome.task.result, "done");
    assert_int_equal(outcome.result.n_done, 1);
    assert_int_equal(outcome.result.n_failed, 0);
    free_outcome(&outcome);
}

static void a_crash_of_a_run_that_others_hold_leaves_it_to_them(void **state)
{
    const struct claim_request request = {
        .place = folder_place(*state, "run", IDENTITY_A)};
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);
    struct outcome outcome = run(*state, "crash");

    assert_int_equal(outcome.task.state, TASK_HELD);
    assert_int_equal(outcome.result.n_held, 1);
    assert_int_equal(outcome.result.n_failed, 0);
    assert_false(folder_has(*state, "exp/run-" HASH_A));
    free_outcome(&outcome);
    attempt_release(attempt);
}

static void a_killed_worker_is_started_again(void **state)
{
    struct outcome outcome = run(*state, "die once");

    assert_int_equal(outcome.task.deaths, 1);
    assert_int_equal(outcome.result.n_done, 1);
    free_outcome(&outcome);
}

static void five_deaths_without_a_checkpoint_are_a_failure(void **state)
{
    struct outcome outcome = run(*state, "die");

    assert_int_equal(outcome.task.deaths, MAX_DEATHS);
    check_failed(&outcome, *state, "5 workers died without a new checkpoint");
}

static void an_end_without_a_word_is_an_error_or_a_stop(void **state)
{
    struct outcome outcome = run(*state, "fail");

    assert_int_equal(outcome.task.state, TASK_ERROR);
    assert_int_equal(outcome.result.first_error, M2_E_DATA);
    free_outcome(&outcome);
    outcome = run(*state, "stop");
    assert_int_equal(outcome.task.state, TASK_STOPPED);
    assert_int_equal(outcome.result.n_stopped, 1);
    free_outcome(&outcome);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, folder_open, folder_close)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_that_says_done_is_done),
        TEST(a_crash_is_published_as_failed),
        TEST(a_crash_after_publishing_is_no_failure),
        TEST(a_crash_of_a_run_that_others_hold_leaves_it_to_them),
        TEST(a_killed_worker_is_started_again),
        TEST(five_deaths_without_a_checkpoint_are_a_failure),
        TEST(an_end_without_a_word_is_an_error_or_a_stop),
    };

    if (argc > 3 && strcmp(argv[1], "worker") == 0) /* --results ROOT ... */
        return work(argv[3], argv[argc - 2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
