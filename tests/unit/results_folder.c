/* Runs for tests of the results room. */
#include "tests/unit/results_folder.h"

#include "tests/unit/unit.h"
#include "util/file.h"
#include "util/path.h"

int folder_open(void **state)
{
    *state = unit_make_dir();
    return 0;
}

int folder_close(void **state)
{
    unsetenv("M2RUN_BOOT_ID");
    unit_remove_dir(*state);
    return 0;
}

struct run_place folder_place(const char *root, const char *label,
                              const char *identity)
{
    return (struct run_place){root, "exp", label, identity};
}

const char *folder_path(const char *root, const char *name)
{
    return unit_path(root, name);
}

bool folder_has(const char *root, const char *name)
{
    return file_exists(folder_path(root, name));
}

struct attempt *folder_claim(const struct claim_request *request,
                             enum claim expected)
{
    struct attempt *attempt = NULL;
    char *published = NULL;
    enum claim claim;
    struct m2_error err;

    assert_ok(attempt_claim(request, &claim, &attempt, &published, &err), &err);
    assert_int_equal(claim, expected);
    assert_int_equal(published != NULL, claim == CLAIM_PUBLISHED);
    assert_int_equal(attempt != NULL, claim == CLAIM_OWNED);
    free(published);
    return attempt;
}

void folder_publish(const struct run_place *place, const char *state,
                    const char *members)
{
    const struct claim_request request = {.place = *place};
    struct attempt *attempt = folder_claim(&request, CLAIM_OWNED);
    json_t *record = json_loads(members, 0, NULL);
    char *path = NULL;
    struct m2_error err;
    bool won;

    assert_non_null(record);
    json_object_set_new(record, "identity", json_string(place->identity));
    json_object_set_new(record, "state", json_string(state));
    assert_ok(attempt_write_record(attempt, record, &err), &err);
    assert_ok(attempt_publish(attempt, &won, &path, &err), &err);
    assert_true(won);
    json_decref(record);
    free(path);
}

void folder_write(const char *root, const char *name, const char *contents)
{
    struct m2_error err;
    char *dir = path_dirname(folder_path(root, name), &err);

    assert_ok(file_make_dirs(dir, M2_E_RESULTS, &err), &err);
    unit_write(folder_path(root, name), contents);
    free(dir);
}
