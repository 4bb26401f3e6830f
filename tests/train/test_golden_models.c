/* Golden vectors of blocks, models, steps and trainings on the backends of
 * this tree.  seed_model takes half a minute on the reference backend, so it
 * runs on cpu here, and on both in `m2run selftest`. */
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
#include "train/golden_kinds.h"

static void print_case(void *context, enum conformance_outcome outcome,
                       const char *text)
{
    (void)context;
    if (outcome != CONFORMANCE_PASSED || getenv("M2_TEST_VERBOSE") != NULL)
        printf("# %s%s\n",
               outcome == CONFORMANCE_PASSED ? "" : "NOT OK: ", text);
}

/* Runs the cases of one kind; every one must pass in both types. */
static void run_kind(const struct plugin *plugin, const char *kind,
                     size_t expected)
{
    const char *top = getenv("top_srcdir");
    struct golden_kind kinds[N_GOLDEN_KINDS];
    struct conformance_options options = {.plugin = plugin,
                                          .threads = 1,
                                          .only = kind,
                                          .golden_read = golden_file_read,
                                          .kinds = kinds,
                                          .n_kinds = N_GOLDEN_KINDS};
    struct conformance_result result = {0};
    struct m2_error err = {0};
    char dir[4096];
    int code;

    snprintf(dir, sizeof dir, "%s/tests/golden", top != NULL ? top : ".");
    options.golden_dir = dir;
    golden_kinds(kinds);
    code = conformance_run(&options, print_case, NULL, &result, &err);
    if (code != 0)
        printf("# %s: %s\n", kind, err.text);
    assert_int_equal(code, 0);
    assert_int_equal(result.failed + result.unsupported + result.unknown, 0);
    assert_int_equal(result.passed, expected);
}

/* Kinds and the number of their cases in f32 and f64 together. */
static const struct {
    const char *name;
    size_t cases;
} quick_kinds[] = {
    {"block", 6},          {"model_regression", 8}, {"model_lm", 4},
    {"step_inference", 4}, {"inverse_softplus", 2}, {"lr_schedule", 4},
    {"train", 6},
};

static void run_quick(const struct plugin *plugin)
{
    for (size_t i = 0; i < sizeof quick_kinds / sizeof *quick_kinds; i++)
        run_kind(plugin, quick_kinds[i].name, quick_kinds[i].cases);
}

static void models_on_ref_equal_the_golden_ones(void **state)
{
    (void)state;
    run_quick(plugin_builtin_ref());
}

static const struct plugin *load_cpu(void)
{
    const struct plugin *plugin;
    struct m2_error err = {0};

    if (plugin_load("cpu", M2_PLUGIN_BACKEND, &plugin, &err) == 0)
        return plugin;
    printf("# %s\n", err.text);
    return NULL;
}

static void models_on_cpu_equal_the_golden_ones(void **state)
{
    const struct plugin *plugin = load_cpu();
    (void)state;

    if (plugin == NULL)
        skip();
    run_quick(plugin);
}

static void the_seed_model_on_cpu_equals_the_golden_one(void **state)
{
    const struct plugin *plugin = load_cpu();
    (void)state;

    if (plugin == NULL)
        skip();
    run_kind(plugin, "seed_model", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_on_ref_equal_the_golden_ones),
        cmocka_unit_test(models_on_cpu_equal_the_golden_ones),
        cmocka_unit_test(the_seed_model_on_cpu_equals_the_golden_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
