/* The part of the conformance suite that is quick enough for valgrind, which
 * sees reads of what was never written and accesses beyond a buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "backends/conformance/conformance.h"
#include "loader.h"

static const char *const ops[] = {
    "order",     "gather_windows", "embed", "rmsnorm",     "layernorm",
    "silu",      "conv1d_silu",    "dt",    "conv1d_step", "ssd_step",
    "mean_time", "huber",          "clip",  "adamw",       "spectral",
};

static void print_failure(void *context, enum conformance_outcome outcome,
                          const char *text)
{
    (void)context;
    if (outcome == CONFORMANCE_FAILED)
        printf("# FAILED: %s\n", text);
}

static void check_backend(const struct plugin *plugin)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct conformance_options options = {
            .plugin = plugin, .threads = 2, .only = ops[i]};
        struct conformance_result result;
        struct m2_error err;
        if (conformance_run(&options, print_failure, NULL, &result, &err))
            fail_msg("%s: %s", ops[i], err.text);
    }
}

static void small_ops_of_ref(void **state)
{
    (void)state;
    check_backend(plugin_builtin_ref());
}

static void small_ops_of_cpu(void **state)
{
    const struct plugin *plugin;
    struct m2_error err;
    (void)state;
    if (plugin_load("cpu", M2_PLUGIN_BACKEND, &plugin, &err)) {
        printf("# %s\n", err.text);
        skip();
    }
    check_backend(plugin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ops_of_ref),
        cmocka_unit_test(small_ops_of_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
