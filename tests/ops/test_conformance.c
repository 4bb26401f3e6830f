/* The conformance suite on the backends of this tree, and the suite itself:
 * it must find what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/conformance/conformance.h"
#include "loader.h"
#include "model/golden_file.h"

/* Failures as TAP comments; every case with M2_TEST_VERBOSE. */
static void print_case(void *context, enum conformance_outcome outcome,
                       const char *text)
{
    static const char *const words[] = {"passed", "FAILED", "not supported"};
    (void)context;
    if (outcome == CONFORMANCE_FAILED || getenv("M2_TEST_VERBOSE"))
        printf("# %s: %s\n", words[outcome], text);
}

static struct conformance_result run(const struct plugin *plugin,
                                     const char *only, const char *golden,
                                     int *code)
{
    struct conformance_options options = {
        .plugin = plugin,
        .threads = 2,
        .only = only,
        .golden_dir = golden,
        .golden_read = golden_file_read,
    };
    struct conformance_result result;
    struct m2_error err = {0};
    *code = conformance_run(&options, print_case, NULL, &result, &err);
    printf("# %zu passed, %zu failed, %zu not supported, %zu of unknown kind\n",
           result.passed, result.failed, result.unsupported, result.unknown);
    if (*code)
        printf("# %s\n", err.text);
    return result;
}

static void golden_dir(char *path, size_t size)
{
    const char *top = getenv("top_srcdir");
    snprintf(path, size, "%s/tests/golden", top ? top : ".");
}

static void keeps_every_contract(const struct plugin *plugin)
{
    char path[4096];
    int code;
    golden_dir(path, sizeof path);
    struct conformance_result result = run(plugin, NULL, path, &code);
    assert_int_equal(code, M2_OK);
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.unsupported, 0);
    assert_true(result.passed > 850);
}

static void ref_keeps_every_contract(void **state)
{
    (void)state;
    keeps_every_contract(plugin_builtin_ref());
}

static void cpu_keeps_every_contract(void **state)
{
    const struct plugin *plugin;
    struct m2_error err = {0};
    (void)state;
    if (plugin_load("cpu", M2_PLUGIN_BACKEND, &plugin, &err)) {
        printf("# %s\n", err.text);
        skip();
    }
    keeps_every_contract(plugin);
}

/* Ops run late, at the next DOWNLOAD, and from copies. */
static void a_backend_that_defers_keeps_every_contract(void **state)
{
    const struct plugin *plugin;
    const char *top = getenv("top_builddir");
    struct m2_error err = {0};
    char path[4096];
    int code;
    (void)state;
    snprintf(path, sizeof path, "%s/tests/mock/.libs/m2_mock.so",
             top ? top : ".");
    setenv("M2_MOCK", "defer", 1);
    assert_int_equal(plugin_load(path, M2_PLUGIN_BACKEND, &plugin, &err),
                     M2_OK);
    struct conformance_result result = run(plugin, NULL, NULL, &code);
    assert_int_equal(code, M2_OK);
    assert_int_equal(result.failed + result.unsupported, 0);
}

static void every_op_has_cases(void **state)
{
    (void)state;
    for (int op = 0; op < M2_N_OPS; op++) {
        struct conformance_options options = {
            .plugin = plugin_builtin_ref(), .threads = 1, .only = op_name(op)};
        struct conformance_result result;
        conformance_run(&options, NULL, NULL, &result, NULL);
        if (result.passed == 0)
            fail_msg("%s is never run", op_name(op));
    }
}

static void zero_executed_cases_is_a_failure(void **state)
{
    int code;
    (void)state;
    struct conformance_result result =
        run(plugin_builtin_ref(), "no_such_op", NULL, &code);
    assert_int_equal(code, M2_E_FAILED);
    assert_int_equal(result.passed + result.failed, 0);
}

static void a_missing_golden_directory_is_an_error(void **state)
{
    int code;
    (void)state;
    run(plugin_builtin_ref(), "silu", "/nonexistent", &code);
    assert_int_equal(code, M2_E_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ref_keeps_every_contract),
        cmocka_unit_test(cpu_keeps_every_contract),
        cmocka_unit_test(a_backend_that_defers_keeps_every_contract),
        cmocka_unit_test(every_op_has_cases),
        cmocka_unit_test(zero_executed_cases_is_a_failure),
        cmocka_unit_test(a_missing_golden_directory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
