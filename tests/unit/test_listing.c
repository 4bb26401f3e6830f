/* Runs read back from their folders, and found by what users write. */
#include "results/listing.h"

#include <unistd.h>

#include "cli/ls_table.h"
#include "results/store.h"
#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"

#define HASH_C "cccccccccccc"

static struct run_list load(const char *root, const char *name)
{
    struct run_list list;
    struct m2_error err;

    assert_ok(run_list_load(root, name, &list, &err), &err);
    return list;
}

static void an_empty_or_missing_folder_has_no_runs(void **state)
{
    struct run_list list = load(*state, NULL);

    assert_int_equal(list.n, 0);
    run_list_free(&list);
    list = load("/nowhere/at/all", NULL);
    assert_int_equal(list.n, 0);
    run_list_free(&list);
    list = load(*state, "no-such-experiment");
    assert_int_equal(list.n, 0);
    run_list_free(&list);
}

static void runs_stand_in_the_order_of_their_names(void **state)
{
    const char *root = *state;
    struct run_list list;

    folder_write(root, "b/x-" HASH_A "/run.json", "{\"state\": \"done\"}");
    folder_write(root, "a/y-" HASH_B "/run.json", "{\"state\": \"oom\"}");
    folder_write(root, "a/x-" HASH_C "/run.json", "{\"state\": \"failed\"}");
    /* none of these is a run */
    folder_write(root, "a/sweep-01234567.yaml", "");
    folder_write(root, "a/.old/x-" HASH_A "/run.json", "{}");
    folder_write(root, "a/x-" HASH_A ".repro-1/run.json", "{}");
    folder_write(root, "a/notes/run.json", "{}");
    list = load(root, NULL);
    assert_int_equal(list.n, 3);
    assert_string_equal(list.entries[0].run, "x-" HASH_C);
    assert_string_equal(list.entries[0].state, "failed");
    assert_string_equal(list.entries[1].run, "y-" HASH_B);
    assert_string_equal(list.entries[1].experiment, "a");
    assert_true(list.entries[1].published);
    assert_string_equal(list.entries[2].experiment, "b");
    run_list_free(&list);
    list = load(root, "b");
    assert_int_equal(list.n, 1);
    run_list_free(&list);
}

/* As many as several threads read. */
static void many_runs_are_each_with_their_own_record(void **state)
{
    enum { N = 1500 };
    const char *root = *state;
    struct run_list list;

    for (int i = 0; i < N; i++) {
        char name[64], record[128];

        snprintf(name, sizeof name, "e/run-%012x/run.json", i * 7919 % N);
        snprintf(record, sizeof record,
                 "{\"state\": \"done\", \"config\": {\"seed\": \"%d\","
                 " \"same\": \"1\"}}",
                 i * 7919 % N);
        folder_write(root, name, record);
    }
    list = load(root, NULL);
    assert_int_equal(list.n, N);
    for (int i = 0; i < N; i++) {
        char seed[16];

        snprintf(seed, sizeof seed, "%d", i);
        assert_string_equal(
            json_string_value(run_value(&list.entries[i], "config", "seed")),
            seed);
    }
    run_list_free(&list);
}

static void what_a_published_run_left_behind_is_no_run(void **state)
{
    const char *root = *state;
    struct run_list list;

    folder_write(root, "e/x-" HASH_A "/run.json", "{\"state\": \"done\"}");
    folder_write(root, "e/.active/" HASH_A "/label", "x");
    folder_write(root, "e/.active/" HASH_A "/0001/run.json", "{}");
    folder_write(root, "e/.active/" HASH_B "/label", "a");
    folder_write(root, "e/.active/" HASH_B "/0001/run.json", "{}");
    list = load(root, NULL);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.entries[0].run, "a-" HASH_B);
    assert_false(list.entries[0].published);
    assert_true(list.entries[1].published);
    run_list_free(&list);
}

static void a_damaged_record_is_listed_with_its_damage(void **state)
{
    const char *root = *state;
    struct run_list list;

    folder_write(root, "e/cut-" HASH_A "/run.json", "{\n  \"state\": \"do");
    folder_write(root, "e/list-" HASH_B "/run.json", "[1]");
    folder_write(root, "e/none-" HASH_C "/metrics.csv", "");
    list = load(root, "e");
    assert_int_equal(list.n, 3);
    for (size_t i = 0; i < list.n; i++) {
        assert_string_equal(list.entries[i].state, "damaged");
        assert_null(list.entries[i].record);
    }
    assert_non_null(strstr(list.entries[0].damage, "run.json:2:"));
    assert_non_null(strstr(list.entries[1].damage, "not a run.json"));
    assert_null(list.entries[2].damage);
    run_list_free(&list);
}

/* ---- unfinished runs ---------------------------------------------------- */

static struct attempt *begin(const char *root, const char *record)
{
    const struct claim_request request = {
        .place = folder_place(root, "lr-0.1", IDENTITY_A)};
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);

    if (record != NULL)
        unit_write(unit_path(attempt_path(attempt), "run.json"), record);
    return attempt;
}

static void check_only_run(const char *root, const char *expected)
{
    struct run_list list = load(root, "exp");
    struct run_entry entry;
    struct m2_error err;

    assert_int_equal(list.n, 1);
    assert_string_equal(list.entries[0].run, "lr-0.1-" HASH_A);
    assert_string_equal(list.entries[0].state, expected);
    assert_false(list.entries[0].published);
    assert_ok(run_entry_load(list.entries[0].path, &entry, &err), &err);
    assert_string_equal(entry.state, expected);
    run_entry_free(&entry);
    run_list_free(&list);
}

static void an_unfinished_run_runs_or_was_stopped_or_interrupted(void **state)
{
    const char *root = *state;
    struct attempt *attempt = begin(root, NULL);

    check_only_run(root, "running");
    attempt_release(attempt);
    check_only_run(root, "interrupted");
    attempt = begin(root, "{\"state\": \"running\"}");
    check_only_run(root, "running");
    attempt_release(attempt);
    check_only_run(root, "interrupted");
    attempt = begin(root, "{\"state\": \"stopped\"}");
    check_only_run(root, "running");
    attempt_release(attempt);
    check_only_run(root, "stopped");
    /* it could not be published, so it is not done */
    attempt_release(begin(root, "{\"state\": \"done\"}"));
    check_only_run(root, "interrupted");
}

/* Between the rename and the removal of owner.json. */
static void a_run_under_its_published_name_is_published(void **state)
{
    const char *root = *state;
    struct attempt *attempt = begin(root, "{\"state\": \"done\"}");
    const char *path = folder_path(root, "exp/lr-0.1-" HASH_A);
    struct run_entry entry;
    struct m2_error err;

    assert_int_equal(rename(attempt_path(attempt), path), 0);
    assert_ok(run_entry_load(path, &entry, &err), &err);
    assert_true(entry.published);
    assert_string_equal(entry.state, "done");
    run_entry_free(&entry);
    attempt_release(attempt);
}

static void the_newest_attempt_stands_for_the_run(void **state)
{
    const char *root = *state;
    struct run_list list;

    for (int i = 0; i < 12; i++)
        attempt_release(begin(root, NULL));
    folder_write(root, "exp/.active/" HASH_A "/0007b/run.json", "{}");
    folder_write(root, "exp/.active/" HASH_A "/.new-0099/run.json", "{}");
    folder_write(root, "exp/.active/.driver-0/owner.json", "{}");
    list = load(root, NULL);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.entries[0].path,
                        folder_path(root, "exp/.active/" HASH_A "/0012"));
    run_list_free(&list);
}

/* ---- values ------------------------------------------------------------- */

static void values_are_found_by_group_and_key(void **state)
{
    struct run_entry entry;
    struct m2_error err;

    folder_write(*state, "e/x-" HASH_A "/run.json",
                 "{\"step\": 3, \"best\": {\"val/loss\": 0.5}, \"config\":"
                 " {\"train.steps\": \"4\"}}");
    assert_ok(run_entry_load(folder_path(*state, "e/x-" HASH_A), &entry, &err),
              &err);
    assert_int_equal(json_integer_value(run_value(&entry, NULL, "step")), 3);
    assert_true(json_real_value(run_value(&entry, "best", "val/loss")) == 0.5);
    assert_string_equal(
        json_string_value(run_value(&entry, "config", "train.steps")), "4");
    assert_null(run_value(&entry, "none", "step"));
    assert_null(run_value(&entry, NULL, "none"));
    run_entry_free(&entry);
}

/* ---- finding a run ------------------------------------------------------ */

static int open_named_runs(void **state)
{
    folder_open(state);
    folder_write(*state, "e/lr-0.1_s0-" HASH_A "/run.json",
                 "{\"started\": \"2024-01-03T00:00:00Z\"}");
    folder_write(*state, "e/lr-0.1_s1-" HASH_B "/run.json",
                 "{\"started\": \"2024-01-01T00:00:00Z\"}");
    folder_write(*state, "f/lr-0.1_s0-" HASH_C "/run.json",
                 "{\"started\": \"2024-01-02T00:00:00Z\"}");
    return 0;
}

static void check_found(const char *root, const char *word,
                        const char *expected)
{
    struct m2_error err;
    char *path;

    assert_ok(store_resolve(root, word, &path, &err), &err);
    assert_string_equal(path, folder_path(root, expected));
    free(path);
}

static void a_run_is_a_unique_prefix_or_hash_or_the_last(void **state)
{
    const char *root = *state;

    check_found(root, "lr-0.1_s1", "e/lr-0.1_s1-" HASH_B);
    check_found(root, "lr-0.1_s0-a", "e/lr-0.1_s0-" HASH_A);
    check_found(root, HASH_C, "f/lr-0.1_s0-" HASH_C);
    check_found(root, "bbbb", "e/lr-0.1_s1-" HASH_B);
    check_found(root, "f/lr", "f/lr-0.1_s0-" HASH_C);
    check_found(root, "e/aaaa", "e/lr-0.1_s0-" HASH_A);
    check_found(root, "@last", "e/lr-0.1_s0-" HASH_A);
    check_found(root, folder_path(root, "f/lr-0.1_s0-" HASH_C),
                "f/lr-0.1_s0-" HASH_C);
}

static void a_word_that_fits_several_runs_lists_them(void **state)
{
    struct m2_error err;
    char *path;

    assert_fails(store_resolve(*state, "lr-0.1_s0", &path, &err), M2_E_USAGE,
                 "'lr-0.1_s0' fits 2 runs:\n  e/lr-0.1_s0-" HASH_A
                 "\n  f/lr-0.1_s0-" HASH_C,
                 &err);
    assert_null(path);
}

static void a_word_that_fits_no_run_is_a_usage_error(void **state)
{
    static const char *const words[] = {"nothing", "bbb", "g/lr", "@lost"};
    struct m2_error err;
    char *path;

    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_fails(store_resolve(*state, words[i], &path, &err), M2_E_USAGE,
                     "(3 runs); `m2run ls` lists them", &err);
    assert_fails(store_resolve(*state, folder_path(*state, "f"), &path, &err),
                 M2_E_USAGE, "no run '", &err); /* a folder, but of no run */
    assert_fails(store_resolve("/nowhere", "@last", &path, &err), M2_E_USAGE,
                 "no run '@last' in /nowhere (0 runs)", &err);
}

static void a_setting_named_like_a_fact_is_left_as_it_is(void **state)
{
    const char *root = *state;
    struct text text = {0};
    struct run_list list;
    struct m2_error err;

    folder_write(root, "a/x-" HASH_A "/run.json",
                 "{\"state\": \"failed\", \"reason\": \"out of\\nluck\","
                 " \"config\": {\"reason\": \"a long text of the file\"}}");
    folder_write(root, "a/y-" HASH_B "/run.json",
                 "{\"state\": \"failed\", \"reason\": \"again\","
                 " \"config\": {\"reason\": \"b\"}}");
    list = load(root, NULL);
    assert_ok(ls_table_write(&list, LS_TEXT, 0, &text, &err), &err);
    assert_non_null(strstr(text_string(&text), "out of luck"));
    assert_non_null(strstr(text_string(&text), "a long text of the file"));
    text_free(&text);
    run_list_free(&list);
}

static void the_folder_of_results_comes_from_option_or_environment(void **state)
{
    char *root;

    (void)state;
    setenv("M2RUN_RESULTS", "/from/environment", 1);
    root = store_root(NULL);
    assert_string_equal(root, "/from/environment");
    free(root);
    root = store_root("/from/option");
    assert_string_equal(root, "/from/option");
    free(root);
    unsetenv("M2RUN_RESULTS");
    root = store_root(NULL);
    assert_string_equal(strrchr(root, '/'), "/results");
    assert_int_equal(root[0], '/');
    free(root);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, folder_open, folder_close)
#define NAMED_TEST(name)                                                       \
    cmocka_unit_test_setup_teardown(name, open_named_runs, folder_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_or_missing_folder_has_no_runs),
        TEST(runs_stand_in_the_order_of_their_names),
        TEST(many_runs_are_each_with_their_own_record),
        TEST(what_a_published_run_left_behind_is_no_run),
        TEST(a_damaged_record_is_listed_with_its_damage),
        TEST(an_unfinished_run_runs_or_was_stopped_or_interrupted),
        TEST(a_run_under_its_published_name_is_published),
        TEST(the_newest_attempt_stands_for_the_run),
        TEST(values_are_found_by_group_and_key),
        TEST(a_setting_named_like_a_fact_is_left_as_it_is),
        NAMED_TEST(a_run_is_a_unique_prefix_or_hash_or_the_last),
        NAMED_TEST(a_word_that_fits_several_runs_lists_them),
        NAMED_TEST(a_word_that_fits_no_run_is_a_usage_error),
        TEST(the_folder_of_results_comes_from_option_or_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
