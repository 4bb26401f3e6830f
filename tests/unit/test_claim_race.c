/* Several processes that want the same runs at the same time. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"
#include "util/path.h"

enum { PROCESSES = 4, RUNS = 25 };

static void make_identity(int run, char out[65])
{
    snprintf(out, 65, "%012x%052x", run, run);
}

/* cmocka's own failures would end in the parent's code. */
static void die(const struct m2_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    _exit(255);
}

static bool publish(struct attempt *attempt, const char *identity)
{
    json_t *record = json_pack("{s:s, s:s, s:s}", "identity", identity, "state",
                               "done", "token", attempt_owner(attempt)->token);
    struct m2_error err;
    char *path = NULL;
    bool won = false;

    int code = attempt_write_record(attempt, record, &err);

    json_decref(record);
    if (code != 0 && attempt_superseded(attempt)) {
        attempt_release(attempt);
        return false;
    }
    if (code == 0)
        code = attempt_publish(attempt, &won, &path, &err);
    if (code != 0)
        die(&err);
    free(path);
    return won;
}

/* Works until every run is published; returns how many were its own. */
static int work(const char *root, bool takeover)
{
    bool gave_up[RUNS] = {false};
    int n_won = 0;

    for (int run = 0; run < RUNS;) {
        char identity[65], *published = NULL;
        struct claim_request request = {.takeover = takeover};
        struct attempt *attempt = NULL;
        enum claim claim;
        struct m2_error err;

        make_identity(run, identity);
        request.place = folder_place(root, "run", identity);
        if (attempt_claim(&request, &claim, &attempt, &published, &err) != 0)
            die(&err);
        if (claim == CLAIM_OWNED && run % 5 == 4 && !gave_up[run]) {
            gave_up[run] = true;
            attempt_discard(attempt);
        } else if (claim == CLAIM_OWNED && publish(attempt, identity)) {
            n_won++;
        }
        run += claim == CLAIM_PUBLISHED;
        free(published);
    }
    return n_won;
}

static int sum_of_children(const char *root, bool takeover)
{
    pid_t children[PROCESSES];
    int sum = 0;

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(work(root, takeover));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;

        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status));
        sum += WEXITSTATUS(status);
    }
    return sum;
}

static void check_folder(const char *root)
{
    struct string_list names = {0};
    struct m2_error err;

    assert_ok(path_list(folder_path(root, "exp"), M2_E_RESULTS, &names, &err),
              &err);
    assert_int_equal(names.count, RUNS + 1);
    assert_string_equal(names.items[0], ".active");
    string_list_free(&names);
    assert_ok(
        path_list(folder_path(root, "exp/.active"), M2_E_RESULTS, &names, &err),
        &err);
    assert_int_equal(names.count, 0);
    string_list_free(&names);
}

static void every_run_is_published_exactly_once(void **state)
{
    assert_int_equal(sum_of_children(*state, false), RUNS);
    check_folder(*state);
}

/* Nobody asks who lives: many attempts, still one publication. */
static void taking_over_each_other_publishes_once(void **state)
{
    assert_int_equal(sum_of_children(*state, true), RUNS);
    check_folder(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_run_is_published_exactly_once,
                                        folder_open, folder_close),
        cmocka_unit_test_setup_teardown(taking_over_each_other_publishes_once,
                                        folder_open, folder_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
