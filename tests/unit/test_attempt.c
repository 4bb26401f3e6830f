/* Claiming a run, publishing it, and two processes that want the same. */
#include "results/attempt.h"

#include <sys/stat.h>
#include <unistd.h>

#include "results/attempt_private.h"
#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"
#include "util/file.h"

#define WINNER "{\"identity\": \"" IDENTITY_A "\"}"

/* What happens at the next rename of an attempt's folder. */
static enum {
    RENAME_PLAIN,
    RENAME_SENT_TWICE,
    CLAIM_SENT_TWICE,
    RENAME_TOO_LATE,
    RENAME_OF_NOTHING, /* and nobody has published */
    RENAME_OTHER_LABEL /* the same, but somebody has */
} rename_fault;

static const char *published_elsewhere;

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

/* In place of rename(), by the linker. */
int __wrap_rename(const char *from, const char *to)
{
    bool is_publishing = strstr(to, ".active") == NULL;

    if (rename_fault ==
        (is_publishing ? RENAME_SENT_TWICE : CLAIM_SENT_TWICE)) {
        rename_fault = RENAME_PLAIN;
        assert_int_equal(__real_rename(from, to), 0);
    } else if (is_publishing && rename_fault == RENAME_TOO_LATE) {
        rename_fault = RENAME_PLAIN;
        assert_int_equal(mkdir(to, 0777), 0);
        unit_write(unit_path(to, "run.json"), WINNER);
    }
    if (is_publishing && rename_fault >= RENAME_OF_NOTHING) {
        if (rename_fault == RENAME_OTHER_LABEL)
            folder_write(published_elsewhere, "run.json", WINNER);
        rename_fault = RENAME_PLAIN;
        file_remove_tree(from, M2_E_RESULTS, NULL);
    }
    return __real_rename(from, to);
}

static struct claim_request make_request(const char *root)
{
    return (struct claim_request){
        .place = folder_place(root, "lr-0.1_s0", IDENTITY_A)};
}

static void write_record(struct attempt *attempt)
{
    json_t *record =
        json_pack("{s:s, s:s, s:s}", "identity", IDENTITY_A, "state", "done",
                  "token", attempt_owner(attempt)->token);
    struct m2_error err;

    assert_ok(attempt_write_record(attempt, record, &err), &err);
    json_decref(record);
}

static void publish(struct attempt *attempt, bool expected_won,
                    const char *expected_path)
{
    struct m2_error err;
    char *path = NULL;
    bool won;

    assert_ok(attempt_publish(attempt, &won, &path, &err), &err);
    assert_int_equal(won, expected_won);
    assert_string_equal(path, expected_path);
    free(path);
}

/* ---- claiming ----------------------------------------------------------- */

static void a_claim_is_a_locked_folder_with_a_number(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);

    assert_int_equal(attempt_number(attempt), 1);
    assert_string_equal(attempt_label(attempt), "lr-0.1_s0");
    assert_string_equal(attempt_path(attempt),
                        folder_path(root, "exp/.active/" HASH_A "/0001"));
    assert_true(folder_has(root, "exp/.active/" HASH_A "/0001/owner.json"));
    assert_null(attempt_earlier(attempt)[0]);
    attempt_release(attempt);
}

static void a_live_owner_holds_the_run(void **state)
{
    struct claim_request request = make_request(*state);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);

    folder_claim(&request, CLAIM_HELD);
    request.place.identity = IDENTITY_B;
    attempt_release(folder_claim(&request, CLAIM_OWNED));
    attempt_release(attempt);
}

static void a_dead_owner_is_followed_by_the_next_number(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt;

    for (int number = 1; number <= 3; number++) {
        attempt = folder_claim(&request, CLAIM_OWNED);
        assert_int_equal(attempt_number(attempt), number);
        if (number < 3)
            attempt_release(attempt);
    }
    assert_string_equal(attempt_earlier(attempt)[0],
                        folder_path(root, "exp/.active/" HASH_A "/0002"));
    assert_string_equal(attempt_earlier(attempt)[1],
                        folder_path(root, "exp/.active/" HASH_A "/0001"));
    assert_null(attempt_earlier(attempt)[2]);
    attempt_release(attempt);
}

static void takeover_does_not_ask(void **state)
{
    struct claim_request request = make_request(*state);
    struct attempt *first = folder_claim(&request, CLAIM_OWNED), *second;

    request.takeover = true;
    second = folder_claim(&request, CLAIM_OWNED);
    assert_int_equal(attempt_number(second), 2);
    attempt_release(first);
    attempt_release(second);
}

static void the_first_claim_fixes_the_label(void **state)
{
    struct claim_request request = make_request(*state);
    struct attempt *attempt;

    attempt_release(folder_claim(&request, CLAIM_OWNED));
    request.place.label = "renamed";
    attempt = folder_claim(&request, CLAIM_OWNED);
    assert_string_equal(attempt_label(attempt), "lr-0.1_s0");
    attempt_release(attempt);
}

static void an_owner_on_another_host_leaves_it_unsure(void **state)
{
    struct claim_request request = make_request(*state);

    attempt_release(folder_claim(&request, CLAIM_OWNED));
    setenv("M2RUN_BOOT_ID", "another boot", 1);
    folder_claim(&request, CLAIM_UNSURE);
    request.takeover = true;
    attempt_release(folder_claim(&request, CLAIM_OWNED));
}

static enum claim look(const char *root, struct owner_watch *watch)
{
    const struct run_place place = folder_place(root, "x", IDENTITY_A);
    struct m2_error err;
    enum claim claim;

    assert_ok(attempt_look(&place, watch, &claim, &err), &err);
    return claim;
}

static void a_look_tells_what_a_claim_would_give(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct owner_watch watch = {0};
    struct attempt *attempt;

    assert_int_equal(look(root, &watch), CLAIM_OWNED);
    assert_false(folder_has(root, "exp"));
    attempt = folder_claim(&request, CLAIM_OWNED);
    assert_int_equal(look(root, &watch), CLAIM_HELD);
    attempt_release(attempt);
    assert_int_equal(look(root, &watch), CLAIM_OWNED);
    assert_false(folder_has(root, "exp/.active/" HASH_A "/0002"));
    folder_publish(&request.place, "done", "{}");
    assert_int_equal(look(root, &watch), CLAIM_PUBLISHED);
}

static void the_owner_that_was_silent_for_a_minute_can_be_followed(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct owner_watch watch = {0};

    attempt_release(folder_claim(&request, CLAIM_OWNED));
    setenv("M2RUN_BOOT_ID", "another boot", 1);
    assert_int_equal(look(root, &watch), CLAIM_UNSURE);
    watch.since_s -= OWNER_SILENCE_S;
    assert_int_equal(look(root, &watch), CLAIM_OWNED);
    request.silent_owner = "somebody else";
    folder_claim(&request, CLAIM_UNSURE);
    request.silent_owner = watch.token;
    attempt_release(folder_claim(&request, CLAIM_OWNED));
}

static void an_owner_that_was_silent_but_holds_the_lock_lives(void **state)
{
    struct claim_request request = make_request(*state);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);

    setenv("M2RUN_BOOT_ID", "another boot", 1);
    request.silent_owner = attempt_owner(attempt)->token;
    folder_claim(&request, CLAIM_HELD);
    attempt_release(attempt);
}

/* ---- while it works ----------------------------------------------------- */

static void a_heartbeat_is_written_every_ten_seconds(void **state)
{
    struct claim_request request = make_request(*state);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);
    struct m2_error err;

    assert_ok(attempt_heartbeat(attempt, &err), &err);
    assert_int_equal(attempt_owner(attempt)->heartbeat, 0);
    attempt->last_beat_s -= 10;
    assert_ok(attempt_heartbeat(attempt, &err), &err);
    assert_int_equal(attempt_owner(attempt)->heartbeat, 1);
    assert_ok(attempt_heartbeat(attempt, &err), &err);
    assert_int_equal(attempt_owner(attempt)->heartbeat, 1);
    attempt_release(attempt);
}

static void files_of_an_earlier_attempt_are_copied(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt;
    struct m2_error err;
    struct text text = {0};

    attempt_release(folder_claim(&request, CLAIM_OWNED));
    folder_write(root, "exp/.active/" HASH_A "/0001/metrics.csv", "a\n1\n");
    attempt = folder_claim(&request, CLAIM_OWNED);
    assert_ok(attempt_copy_file(attempt, attempt_earlier(attempt)[0],
                                "metrics.csv", &err),
              &err);
    assert_ok(attempt_copy_file(attempt, attempt_earlier(attempt)[0], "log.txt",
                                &err),
              &err);
    assert_ok(file_read(unit_path(attempt_path(attempt), "metrics.csv"), 100,
                        M2_E_RESULTS, &text, &err),
              &err);
    assert_string_equal(text_string(&text), "a\n1\n");
    assert_false(file_exists(unit_path(attempt_path(attempt), "log.txt")));
    assert_fails(attempt_copy_file(attempt, attempt_earlier(attempt)[0],
                                   "metrics.csv/no", &err),
                 M2_E_RESULTS, "metrics.csv/no: Not a directory", &err);
    text_free(&text);
    attempt_release(attempt);
}

/* ---- publishing --------------------------------------------------------- */

static void publishing_renames_the_folder_and_leaves_nothing(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    const char *path = folder_path(root, "exp/lr-0.1_s0-" HASH_A);
    struct attempt *attempt;

    attempt_release(folder_claim(&request, CLAIM_OWNED));
    attempt = folder_claim(&request, CLAIM_OWNED);
    write_record(attempt);
    publish(attempt, true, path);
    assert_true(file_exists(unit_path(path, "run.json")));
    assert_false(file_exists(unit_path(path, "owner.json")));
    assert_false(folder_has(root, "exp/.active/" HASH_A));
    folder_claim(&request, CLAIM_PUBLISHED);
}

static void who_is_superseded_is_told_and_discards_itself(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *slow = folder_claim(&request, CLAIM_OWNED), *fast;
    const char *path = folder_path(root, "exp/lr-0.1_s0-" HASH_A);
    struct m2_error err;

    request.takeover = true;
    fast = folder_claim(&request, CLAIM_OWNED);
    assert_true(attempt_superseded(slow));
    assert_false(attempt_superseded(fast));
    slow->last_beat_s -= 11;
    assert_fails(attempt_heartbeat(slow, &err), M2_E_RESULTS,
                 "0001: superseded: another process has taken this run over",
                 &err);
    write_record(fast);
    publish(fast, true, path);
    assert_true(attempt_superseded(slow));
    publish(slow, false, path);
}

/* The winner's label is another one when its .active folder began anew. */
static void the_second_to_publish_removes_itself(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);

    write_record(attempt);
    folder_write(root, "exp/other-" HASH_A "/run.json",
                 "{\"identity\": \"" IDENTITY_A "\", \"state\": \"done\"}");
    publish(attempt, false, folder_path(root, "exp/other-" HASH_A));
    assert_false(folder_has(root, "exp/lr-0.1_s0-" HASH_A));
    assert_false(folder_has(root, "exp/.active/" HASH_A));
}

static void a_rename_that_failed_although_it_worked_is_a_win(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);

    write_record(attempt);
    rename_fault = RENAME_SENT_TWICE;
    publish(attempt, true, folder_path(root, "exp/lr-0.1_s0-" HASH_A));
}

/* Somebody publishes between our look and our rename. */
static void a_claim_that_failed_although_it_worked_is_a_claim(void **state)
{
    struct claim_request request = make_request(*state);
    struct attempt *attempt;

    rename_fault = CLAIM_SENT_TWICE;
    attempt = folder_claim(&request, CLAIM_OWNED);
    assert_int_equal(attempt_number(attempt), 1);
    assert_false(attempt_superseded(attempt));
    attempt_release(attempt);
}

static void a_rename_onto_a_published_run_loses(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);
    struct text text = {0};
    struct m2_error err;

    write_record(attempt);
    rename_fault = RENAME_TOO_LATE;
    publish(attempt, false, folder_path(root, "exp/lr-0.1_s0-" HASH_A));
    assert_ok(file_read(folder_path(root, "exp/lr-0.1_s0-" HASH_A "/run.json"),
                        100, M2_E_RESULTS, &text, &err),
              &err);
    assert_string_equal(text_string(&text), WINNER);
    assert_false(folder_has(root, "exp/.active/" HASH_A));
    text_free(&text);
}

static void who_publishes_under_another_label_wins_too(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);

    write_record(attempt);
    published_elsewhere = folder_path(root, "exp/other-" HASH_A);
    rename_fault = RENAME_OTHER_LABEL;
    publish(attempt, false, published_elsewhere);
}

static void an_attempt_that_has_gone_is_not_published(void **state)
{
    struct claim_request request = make_request(*state);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);
    struct m2_error err;
    char *path;
    bool won;

    write_record(attempt);
    rename_fault = RENAME_OF_NOTHING;
    assert_fails(attempt_publish(attempt, &won, &path, &err), M2_E_RESULTS,
                 "/0001 has gone, and nobody has published the run", &err);
    assert_false(won);
    assert_null(path);
}

static void a_folder_with_the_hash_of_another_run_is_refused(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt;
    char *published;
    enum claim claim;
    struct m2_error err;

    folder_write(root, "exp/old-" HASH_A "/run.json",
                 "{\"identity\": \"" HASH_A "ffff\"}");
    assert_fails(attempt_claim(&request, &claim, &attempt, &published, &err),
                 M2_E_RESULTS,
                 "old-" HASH_A ": holds another run: identity " HASH_A
                 "ffff, expected " IDENTITY_A,
                 &err);
    folder_write(root, "exp/old-" HASH_A "/run.json", "{\"state\": \"do");
    assert_fails(attempt_claim(&request, &claim, &attempt, &published, &err),
                 M2_E_RESULTS, "names no identity", &err);
}

static void what_a_published_run_left_behind_is_removed(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);

    folder_publish(&request.place, "done", "{}");
    folder_write(root, "exp/.active/" HASH_A "/label", "lr-0.1_s0");
    folder_write(root, "exp/.active/" HASH_A "/0001/metrics.csv", "");
    folder_claim(&request, CLAIM_PUBLISHED);
    assert_false(folder_has(root, "exp/.active/" HASH_A));
}

/* ---- giving up ---------------------------------------------------------- */

static void discarding_the_only_attempt_leaves_nothing(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);

    attempt_discard(folder_claim(&request, CLAIM_OWNED));
    assert_false(folder_has(root, "exp/.active/" HASH_A));
    attempt_discard(NULL);
}

static void discarding_spares_the_earlier_attempts(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);

    attempt_release(folder_claim(&request, CLAIM_OWNED));
    attempt_discard(folder_claim(&request, CLAIM_OWNED));
    assert_false(folder_has(root, "exp/.active/" HASH_A "/0002"));
    assert_true(folder_has(root, "exp/.active/" HASH_A "/0001/owner.json"));
    assert_true(folder_has(root, "exp/.active/" HASH_A "/label"));
}

static void a_results_folder_that_is_a_file_is_an_error(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt;
    char *published;
    enum claim claim;
    struct m2_error err;

    unit_write(folder_path(root, "exp"), "");
    assert_fails(attempt_claim(&request, &claim, &attempt, &published, &err),
                 M2_E_RESULTS, "/exp: ", &err);
    assert_null(attempt);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, folder_open, folder_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_claim_is_a_locked_folder_with_a_number),
        TEST(a_live_owner_holds_the_run),
        TEST(a_dead_owner_is_followed_by_the_next_number),
        TEST(takeover_does_not_ask),
        TEST(the_first_claim_fixes_the_label),
        TEST(an_owner_on_another_host_leaves_it_unsure),
        TEST(a_look_tells_what_a_claim_would_give),
        TEST(the_owner_that_was_silent_for_a_minute_can_be_followed),
        TEST(an_owner_that_was_silent_but_holds_the_lock_lives),
        TEST(a_heartbeat_is_written_every_ten_seconds),
        TEST(files_of_an_earlier_attempt_are_copied),
        TEST(publishing_renames_the_folder_and_leaves_nothing),
        TEST(who_is_superseded_is_told_and_discards_itself),
        TEST(the_second_to_publish_removes_itself),
        TEST(a_rename_that_failed_although_it_worked_is_a_win),
        TEST(a_claim_that_failed_although_it_worked_is_a_claim),
        TEST(a_rename_onto_a_published_run_loses),
        TEST(who_publishes_under_another_label_wins_too),
        TEST(an_attempt_that_has_gone_is_not_published),
        TEST(a_folder_with_the_hash_of_another_run_is_refused),
        TEST(what_a_published_run_left_behind_is_removed),
        TEST(discarding_the_only_attempt_leaves_nothing),
        TEST(discarding_spares_the_earlier_attempts),
        TEST(a_results_folder_that_is_a_file_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
