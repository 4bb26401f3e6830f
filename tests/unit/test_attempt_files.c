/* The files of an attempt: they end up in its own folder or nowhere; earlier
 * attempts that nobody goes on from are removed. */
#include "results/attempt.h"

#include <stdio.h>
#include <string.h>

#include "results/attempt_private.h"
#include "tests/unit/results_folder.h"
#include "tests/unit/unit.h"
#include "util/file.h"

#define ACTIVE    "exp/.active/" HASH_A
#define PUBLISHED "exp/lr-0.1_s0-" HASH_A

static struct claim_request make_request(const char *root)
{
    return (struct claim_request){
        .place = folder_place(root, "lr-0.1_s0", IDENTITY_A)};
}

static int write_file(const struct attempt *attempt, const char *name,
                      struct m2_error *err)
{
    const struct file_at file = attempt_file(attempt, name);

    return file_write_at(&file, "mine", 4, M2_E_RESULTS, err);
}

/* Everything was removed, and somebody has begun again with number 1. */
static struct attempt *begin_again(const char *root)
{
    struct claim_request request = make_request(root);
    struct m2_error err;

    assert_ok(file_remove_tree(folder_path(root, ACTIVE), M2_E_RESULTS, &err),
              &err);
    return folder_claim(&request, CLAIM_OWNED);
}

static void a_file_never_lands_in_a_later_folder_of_the_same_name(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *old = folder_claim(&request, CLAIM_OWNED);
    struct attempt *young = begin_again(root);
    const struct file_at dir = attempt_file(old, "checkpoints");
    json_t *record = json_object();
    struct m2_error err;

    assert_string_equal(attempt_path(old), attempt_path(young));
    assert_fails(write_file(old, "config.yaml", &err), M2_E_RESULTS,
                 "0001/config.yaml: No such file", &err);
    assert_fails(file_make_dir_at(&dir, M2_E_RESULTS, &err), M2_E_RESULTS,
                 "0001/checkpoints: No such file", &err);
    assert_fails(attempt_write_record(old, record, &err), M2_E_RESULTS,
                 "0001/run.json: No such file", &err);
    assert_true(attempt_superseded(old));
    assert_false(attempt_superseded(young));
    json_decref(record);
    attempt_release(old);
    attempt_release(young);
}

static void a_later_folder_of_the_same_name_is_not_published(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *old = folder_claim(&request, CLAIM_OWNED);
    struct attempt *young = begin_again(root);
    char *path = NULL;
    struct m2_error err;
    bool won;

    assert_fails(attempt_publish(old, &won, &path, &err), M2_E_RESULTS,
                 "has gone, and nobody has published", &err);
    assert_false(won);
    assert_null(path);
    assert_true(folder_has(root, ACTIVE "/0001/owner.json"));
    attempt_release(young);
}

static void a_later_folder_of_the_same_name_is_not_discarded(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *old = folder_claim(&request, CLAIM_OWNED);
    struct attempt *young = begin_again(root);

    attempt_discard(old);
    assert_true(folder_has(root, ACTIVE "/0001/owner.json"));
    attempt_release(young);
}

/* Three attempts with a checkpoint each; the last one is returned. */
static struct attempt *claim_three(const char *root)
{
    struct claim_request request = make_request(root);
    struct attempt *attempt = NULL;
    struct m2_error err;

    for (int i = 0; i < 3; i++) {
        struct file_at dir;

        attempt_release(attempt);
        attempt = folder_claim(&request, CLAIM_OWNED);
        dir = attempt_file(attempt, "checkpoints");
        assert_ok(file_make_dir_at(&dir, M2_E_RESULTS, &err), &err);
        assert_ok(write_file(attempt, "checkpoints/last.safetensors", &err),
                  &err);
    }
    return attempt;
}

static bool has_checkpoint(const char *root, int attempt)
{
    struct text name = {0};
    bool found;

    text_addf(&name, ACTIVE "/%04d/checkpoints/last.safetensors", attempt);
    found = folder_has(root, text_string(&name));
    text_free(&name);
    return found;
}

static void what_is_not_gone_on_from_is_removed(void **state)
{
    const char *root = *state;
    struct attempt *attempt = claim_three(root);

    assert_true(attempt_prune(attempt, attempt_earlier(attempt)[1]));
    assert_true(has_checkpoint(root, 1));
    assert_false(has_checkpoint(root, 2));
    assert_true(has_checkpoint(root, 3));
    assert_false(attempt_prune(attempt, attempt_earlier(attempt)[1]));
    assert_true(attempt_prune(attempt, NULL));
    assert_false(has_checkpoint(root, 1));
    assert_true(has_checkpoint(root, 3));
    attempt_release(attempt);
}

static void what_another_host_may_need_is_not(void **state)
{
    const char *root = *state;
    struct attempt *attempt;

    setenv("M2RUN_BOOT_ID", "far", 1);
    attempt = claim_three(root);
    setenv("M2RUN_BOOT_ID", "near", 1);
    assert_false(attempt_prune(attempt, NULL));
    assert_true(has_checkpoint(root, 1));
    assert_true(has_checkpoint(root, 2));
    attempt_release(attempt);
}

static void a_killed_publisher_is_tidied_up_after(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);

    folder_publish(&request.place, "done", "{}");
    folder_write(root, PUBLISHED "/owner.json", "{}");
    folder_write(root, ACTIVE "/0002/owner.json", "{}");
    folder_claim(&request, CLAIM_PUBLISHED);
    assert_false(folder_has(root, PUBLISHED "/owner.json"));
    assert_false(folder_has(root, ACTIVE));
}

static void a_publisher_that_is_not_through_keeps_its_owner(void **state)
{
    const char *root = *state;
    struct claim_request request = make_request(root);
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);
    json_t *record = json_pack("{s:s}", "identity", IDENTITY_A);
    struct m2_error err;
    char *from;

    assert_ok(attempt_write_record(attempt, record, &err), &err);
    json_decref(record);
    from = strdup(attempt_path(attempt));
    assert_int_equal(rename(from, folder_path(root, PUBLISHED)), 0);
    free(from);
    folder_claim(&request, CLAIM_PUBLISHED);
    assert_true(folder_has(root, PUBLISHED "/owner.json"));
    attempt_release(attempt);
    folder_claim(&request, CLAIM_PUBLISHED);
    assert_false(folder_has(root, PUBLISHED "/owner.json"));
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, folder_open, folder_close)
    const struct CMUnitTest tests[] = {
        TEST(a_file_never_lands_in_a_later_folder_of_the_same_name),
        TEST(a_later_folder_of_the_same_name_is_not_published),
        TEST(a_later_folder_of_the_same_name_is_not_discarded),
        TEST(what_is_not_gone_on_from_is_removed),
        TEST(what_another_host_may_need_is_not),
        TEST(a_killed_publisher_is_tidied_up_after),
        TEST(a_publisher_that_is_not_through_keeps_its_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
