/* Opens the devices and runs the parts of the suite. */
#include "backends/conformance/conformance.h"

#include <string.h>

#include "backends/conformance/suite.h"
#include "plugins/loader.h"

const char *suite_real(const struct suite *suite)
{
    return suite->real == M2_F32 ? "f32" : "f64";
}

bool suite_wants(const struct suite *suite, const char *name)
{
    const char *only = suite->options->only;
    return only == NULL || (name != NULL && strcmp(only, name) == 0);
}

enum conformance_outcome suite_outcome(int code)
{
    return code == M2_E_UNSUPPORTED ? CONFORMANCE_UNSUPPORTED
                                    : CONFORMANCE_FAILED;
}

void suite_report(struct suite *suite, enum conformance_outcome outcome,
                  const char *format, ...)
{
    char text[1024];
    va_list arguments;

    suite->result->passed += outcome == CONFORMANCE_PASSED;
    suite->result->failed += outcome == CONFORMANCE_FAILED;
    suite->result->unsupported += outcome == CONFORMANCE_UNSUPPORTED;
    if (suite->report == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    suite->report(suite->context, outcome, text);
}

static int open_devices(struct suite *suite, struct m2_error *err)
{
    const struct conformance_options *options = suite->options;
    const int threads[SUITE_DEVICES] = {options->threads, 1, 3};
    int code = device_open(plugin_builtin_ref(), 0, M2_F64, 1,
                           &suite->oracle_device, err);
    bench_init(&suite->oracle, suite->oracle_device);
    for (int i = 0; code == M2_OK && i < SUITE_DEVICES; i++) {
        code = device_open(options->plugin, options->index, suite->real,
                           threads[i], &suite->devices[i], err);
        bench_init(&suite->benches[i], suite->devices[i]);
    }
    return code;
}

static void close_devices(struct suite *suite)
{
    for (int i = 0; i < SUITE_DEVICES; i++) {
        bench_free(&suite->benches[i]);
        device_close(suite->devices[i]);
    }
    bench_free(&suite->oracle);
    device_close(suite->oracle_device);
}

static int run_real(struct suite *suite, struct m2_error *err)
{
    int code = open_devices(suite, err);
    if (code == M2_OK && suite->options->golden_dir)
        code = suite_golden(suite, err);
    if (code == M2_OK && suite_wants(suite, "order"))
        suite_order(suite);
    if (code == M2_OK)
        suite_grid(suite);
    close_devices(suite);
    return code;
}

int conformance_run(const struct conformance_options *options,
                    conformance_report report, void *context,
                    struct conformance_result *out, struct m2_error *err)
{
    static const enum m2_dtype reals[] = {M2_F64, M2_F32};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        struct suite suite = {.options = options,
                              .report = report,
                              .context = context,
                              .result = out,
                              .real = reals[i]};
        int code = run_real(&suite, err);
        if (code)
            return code;
    }
    if (out->failed > 0)
        return m2_fail(err, M2_E_FAILED, "%zu of %zu cases failed", out->failed,
                       out->passed + out->failed + out->unsupported);
    if (out->passed == 0)
        return m2_fail(err, M2_E_FAILED, "no case was executed%s%s",
                       options->only ? " for " : "",
                       options->only ? options->only : "");
    return M2_OK;
}
