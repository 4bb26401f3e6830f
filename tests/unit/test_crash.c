/* Publishing for a worker that crashed. */
#include "schedule/crash.h"

#include "results/listing.h"
#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"
#include "util/file.h"

#define DEAD "exp/.active/" HASH_A "/0001/"

static void crash(const char *root, char **path_out)
{
    const struct run_place place = folder_place(root, "run", IDENTITY_A);
    struct m2_error err;

    const struct crash crash = {"signal 11", "Assertion `x' failed\n"};

    assert_ok(crash_publish(&place, &crash, path_out, &err), &err);
}

static struct attempt *begin(const char *root)
{
    const struct claim_request request = {
        .place = folder_place(root, "run", IDENTITY_A)};

    return folder_claim(&request, CLAIM_OWNED);
}

static void check_text(const struct run_entry *entry, const char *key,
                       const char *expected)
{
    const char *text = json_string_value(run_value(entry, NULL, key));

    assert_non_null(text);
    assert_string_equal(text, expected);
}

static void the_dead_attempt_is_published_with_its_files(void **state)
{
    static const char *const files[] = {"config.yaml", "metrics.csv",
                                        "timing.csv", "log.txt",
                                        "checkpoints/last.safetensors"};
    const char *root = *state;
    struct run_entry entry;
    struct m2_error err;
    char *path;

    attempt_release(begin(root));
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char name[100];

        snprintf(name, sizeof name, DEAD "%s", files[i]);
        folder_write(root, name, "text\n");
    }
    folder_write(root, DEAD "run.json",
                 "{\"schema\": 1, \"identity\": \"" IDENTITY_A
                 "\", \"state\": \"running\", \"started\": \"then\","
                 " \"config\": {\"seed\": \"3\"}}");
    crash(root, &path);
    assert_string_equal(path, folder_path(root, "exp/run-" HASH_A));
    for (size_t i = 0; i < COUNT_OF(files); i++)
        assert_true(file_exists(unit_path(path, files[i])));
    assert_ok(run_entry_load(path, &entry, &err), &err);
    assert_string_equal(entry.state, "failed");
    check_text(&entry, "reason", "signal 11");
    check_text(&entry, "started", "then");
    assert_string_equal(json_string_value(run_value(&entry, "config", "seed")),
                        "3");
    assert_false(folder_has(root, "exp/.active/" HASH_A));
    run_entry_free(&entry);
    free(path);
}

static void what_an_earlier_attempt_has_computed_is_not_lost(void **state)
{
    const char *root = *state;
    struct m2_error err;
    struct text rows = {0};
    char *path;

    attempt_release(begin(root));
    folder_write(root, DEAD "metrics.csv", "earlier\n");
    folder_write(root, DEAD "checkpoints/last.safetensors", "earlier\n");
    folder_write(root, DEAD "run.json", "{\"started\": \"then\"}");
    attempt_release(begin(root));
    folder_write(root, "exp/.active/" HASH_A "/0002/metrics.csv", "torn");
    crash(root, &path);
    assert_true(file_exists(unit_path(path, "checkpoints/last.safetensors")));
    assert_ok(file_read(unit_path(path, "metrics.csv"), 100, M2_E_RESULTS,
                        &rows, &err),
              &err);
    assert_string_equal(text_string(&rows), "earlier\n");
    text_free(&rows);
    free(path);
}

static void a_worker_that_wrote_nothing_has_a_record_all_the_same(void **state)
{
    struct run_entry entry;
    struct m2_error err;
    char *path;

    crash(*state, &path);
    assert_ok(run_entry_load(path, &entry, &err), &err);
    assert_string_equal(entry.state, "failed");
    assert_string_equal(entry.experiment, "exp");
    assert_string_equal(entry.run, "run-" HASH_A);
    check_text(&entry, "identity", IDENTITY_A);
    check_text(&entry, "reason", "signal 11");
    run_entry_free(&entry);
    free(path);
}

static void a_run_that_somebody_else_works_on_is_left_alone(void **state)
{
    struct attempt *attempt = begin(*state);
    char *path;

    crash(*state, &path);
    assert_null(path);
    assert_false(folder_has(*state, "exp/run-" HASH_A));
    attempt_release(attempt);
}

static void a_run_that_is_published_stays_as_it_is(void **state)
{
    const struct run_place place = folder_place(*state, "run", IDENTITY_A);
    struct run_entry entry;
    struct m2_error err;
    char *path;

    folder_publish(&place, "done", "{}");
    crash(*state, &path);
    assert_ok(run_entry_load(path, &entry, &err), &err);
    assert_string_equal(entry.state, "done");
    run_entry_free(&entry);
    free(path);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, folder_open, folder_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_dead_attempt_is_published_with_its_files),
        TEST(what_an_earlier_attempt_has_computed_is_not_lost),
        TEST(a_worker_that_wrote_nothing_has_a_record_all_the_same),
        TEST(a_run_that_somebody_else_works_on_is_left_alone),
        TEST(a_run_that_is_published_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
