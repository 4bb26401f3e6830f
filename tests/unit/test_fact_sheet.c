/* The facts of this process, made twice, are the same; a changed file and
 * another backend are found. */
#include "train/fact_sheet.h"

#include "results/facts.h"
#include "tests/unit/small_experiment.h"
#include "tests/unit/unit.h"

static json_t *sheet_of(const char *overrides, int threads)
{
    struct experiment experiment;
    struct m2_error err;
    json_t *sheet = NULL;

    small_experiment(&experiment, overrides);
    assert_ok(fact_sheet_now(&experiment.config, threads, &sheet, &err), &err);
    experiment_free(&experiment);
    return sheet;
}

static const char *text_at(const json_t *sheet, const char *group,
                           const char *key)
{
    return json_string_value(
        json_object_get(json_object_get(sheet, group), key));
}

static void a_sheet_holds_build_host_backend_and_data(void **state)
{
    json_t *sheet = sheet_of("", 3), *data = json_object_get(sheet, "data");

    (void)state;
    assert_non_null(text_at(sheet, "build", "commit"));
    assert_non_null(text_at(sheet, "build", "difference"));
    assert_non_null(text_at(sheet, "host", "cpu"));
    assert_non_null(text_at(sheet, "host", "isa"));
    assert_non_null(text_at(sheet, "host", "libc"));
    assert_string_equal(text_at(sheet, "backend", "name"), "ref");
    assert_non_null(text_at(sheet, "backend", "build"));
    assert_true(json_array_size(json_object_get(sheet, "libraries")) > 0);
    assert_int_equal(json_array_size(json_object_get(data, "files")), 0);
    assert_string_equal(json_string_value(json_object_get(
                            json_object_get(data, "plugin"), "name")),
                        "synthetic");
    assert_int_equal(strlen(json_string_value(json_object_get(
                         json_object_get(data, "plugin"), "sha256"))),
                     64);
    json_decref(sheet);
}

static void two_sheets_of_a_process_differ_only_where_asked(void **state)
{
    struct fact_differences found;
    struct m2_error err;
    json_t *a = sheet_of("", 3), *b = sheet_of("", 3), *c = sheet_of("", 4);

    (void)state;
    assert_ok(facts_compare(a, b, &found, &err), &err);
    assert_int_equal(found.n, 0);
    assert_ok(facts_compare(a, c, &found, &err), &err);
    assert_int_equal(found.n, 1);
    assert_string_equal(found.items[0].what, "threads");
    assert_int_equal(facts_that_change_bits(&found), 0);
    fact_differences_free(&found);
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

static void a_backend_from_a_file_has_its_digest(void **state)
{
    const char *build = getenv("top_builddir");
    struct fact_differences found;
    struct m2_error err;
    char overrides[4096];
    json_t *ref = sheet_of("", 1), *mock;

    (void)state;
    snprintf(overrides, sizeof overrides,
             "device=%s/tests/mock/.libs/m2_mock.so",
             build != NULL ? build : ".");
    mock = sheet_of(overrides, 1);
    assert_int_equal(strlen(text_at(mock, "backend", "sha256")), 64);
    assert_ok(facts_compare(ref, mock, &found, &err), &err);
    assert_true(found.n >= 1);
    assert_string_equal(found.items[0].what, "backend");
    assert_string_equal(found.items[0].then, "ref");
    assert_string_equal(found.items[0].now, "mock");
    fact_differences_free(&found);
    json_decref(ref);
    json_decref(mock);
}

static void what_cannot_be_opened_is_an_error(void **state)
{
    struct experiment experiment;
    struct m2_error err;
    json_t *sheet = NULL;

    (void)state;
    small_experiment(&experiment, "device=/nowhere/m2_x.so");
    assert_int_equal(fact_sheet_now(&experiment.config, 1, &sheet, &err),
                     M2_E_DEVICE);
    assert_null(sheet);
    experiment_free(&experiment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_holds_build_host_backend_and_data),
        cmocka_unit_test(two_sheets_of_a_process_differ_only_where_asked),
        cmocka_unit_test(a_backend_from_a_file_has_its_digest),
        cmocka_unit_test(what_cannot_be_opened_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
