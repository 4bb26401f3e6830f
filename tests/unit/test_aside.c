/* Setting runs aside: once, under the next name, and never a newer one. */
#include "results/aside.h"

#include <pthread.h>
#include <unistd.h>

#include "results/listing.h"
#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"
#include "util/path.h"

#define RUN "lr-0.1_s0-" HASH_A

static struct run_place place_of(const char *root)
{
    return folder_place(root, "lr-0.1_s0", IDENTITY_A);
}

/* Publishes the run as failed, under a token. */
static void publish(const char *root, const char *token)
{
    const struct run_place place = place_of(root);
    char members[64];

    snprintf(members, sizeof members, "{\"token\": \"%s\"}", token);
    folder_publish(&place, "failed", members);
}

/* The path it was moved to must be this one below the folder. */
static void expect_move(const char *root, const char *token, const char *name)
{
    const struct run_place place = place_of(root);
    struct m2_error err;
    char *path = NULL;

    assert_ok(aside_published(&place, token, &path, &err), &err);
    if (name == NULL) {
        assert_null(path);
    } else {
        assert_string_equal(path, folder_path(root, name));
        assert_true(folder_has(root, name));
    }
    free(path);
}

static void a_published_run_is_moved_and_can_be_claimed(void **state)
{
    const struct claim_request request = {.place = place_of(*state)};

    publish(*state, "first");
    expect_move(*state, "first", "exp/.old/" RUN ".1");
    assert_false(folder_has(*state, "exp/" RUN));
    attempt_discard(folder_claim(&request, CLAIM_OWNED));
    publish(*state, "second");
    expect_move(*state, "second", "exp/.old/" RUN ".2");
    assert_true(folder_has(*state, "exp/.old/" RUN ".1/run.json"));
}

static void what_was_published_since_stays(void **state)
{
    publish(*state, "first");
    expect_move(*state, "first", "exp/.old/" RUN ".1");
    publish(*state, "second");
    expect_move(*state, "first", NULL);
    assert_true(folder_has(*state, "exp/" RUN "/run.json"));
}

static void nothing_there_is_nothing_to_move(void **state)
{
    expect_move(*state, "", NULL);
    assert_false(folder_has(*state, "exp/.old"));
}

struct mover {
    const char *root;
    const char *token;
    bool moved;
};

static void *move_it(void *context)
{
    struct mover *mover = context;
    const struct run_place place = place_of(mover->root);
    char *path = NULL;

    mover->moved =
        aside_published(&place, mover->token, &path, NULL) == 0 && path != NULL;
    free(path);
    return NULL;
}

static void of_many_at_once_one_moves(void **state)
{
    enum { N = 8, ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        struct mover movers[N];
        pthread_t threads[N];
        char token[24];
        int n_moved = 0;

        snprintf(token, sizeof token, "round-%d", round);
        publish(*state, token);
        for (int i = 0; i < N; i++) {
            movers[i] = (struct mover){*state, token, false};
            assert_int_equal(
                pthread_create(&threads[i], NULL, move_it, &movers[i]), 0);
        }
        for (int i = 0; i < N; i++) {
            pthread_join(threads[i], NULL);
            n_moved += movers[i].moved;
        }
        assert_int_equal(n_moved, 1);
    }
    assert_true(folder_has(*state, "exp/.old/" RUN ".20/run.json"));
}

static void runs_that_were_set_aside_are_not_listed(void **state)
{
    struct run_entry entry;
    struct run_list list;
    struct m2_error err;

    publish(*state, "first");
    expect_move(*state, "first", "exp/.old/" RUN ".1");
    assert_ok(run_list_load(*state, NULL, &list, &err), &err);
    assert_int_equal(list.n, 0);
    run_list_free(&list);
    assert_ok(
        run_entry_load(folder_path(*state, "exp/.old/" RUN ".1"), &entry, &err),
        &err);
    assert_string_equal(entry.state, "failed");
    assert_true(entry.published);
    run_entry_free(&entry);
}

static void earlier_attempts_are_moved_under_the_claim(void **state)
{
    const struct claim_request request = {.place = place_of(*state)};
    struct attempt *attempt;
    struct m2_error err;
    size_t n;

    for (int i = 0; i < 2; i++) {
        attempt = folder_claim(&request, CLAIM_OWNED);
        folder_write(attempt_path(attempt), "log.txt", "words");
        attempt_release(attempt);
    }
    attempt = folder_claim(&request, CLAIM_OWNED);
    assert_ok(aside_attempts(attempt, &n, &err), &err);
    assert_int_equal(n, 2);
    assert_null(attempt_earlier(attempt)[0]);
    assert_false(attempt_superseded(attempt));
    assert_true(folder_has(*state, "exp/.old/" RUN ".1/log.txt"));
    assert_true(folder_has(*state, "exp/.old/" RUN ".2/log.txt"));
    assert_true(folder_has(*state, "exp/.active/" HASH_A "/0003"));
    assert_false(folder_has(*state, "exp/.active/" HASH_A "/0001"));
    attempt_release(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_published_run_is_moved_and_can_be_claimed, folder_open,
            folder_close),
        cmocka_unit_test_setup_teardown(what_was_published_since_stays,
                                        folder_open, folder_close),
        cmocka_unit_test_setup_teardown(nothing_there_is_nothing_to_move,
                                        folder_open, folder_close),
        cmocka_unit_test_setup_teardown(of_many_at_once_one_moves, folder_open,
                                        folder_close),
        cmocka_unit_test_setup_teardown(runs_that_were_set_aside_are_not_listed,
                                        folder_open, folder_close),
        cmocka_unit_test_setup_teardown(
            earlier_attempts_are_moved_under_the_claim, folder_open,
            folder_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
