/* m2run selftest: does a backend keep every contract of the op table? */
#include <stdlib.h>
#include <string.h>

#include "backends/conformance/conformance.h"
#include "backends/select.h"
#include "cli/command.h"
#include "model/golden_file.h"
#include "train/golden_kinds.h"
#include "util/log.h"
#include "util/suggest.h"

struct selftest_options {
    const char *golden, *op;
    int64_t threads;
    bool verbose;
};

static void print_case(void *context, enum conformance_outcome outcome,
                       const char *text)
{
    static const char *const words[] = {
        [CONFORMANCE_PASSED] = "passed",
        [CONFORMANCE_FAILED] = "FAILED",
        [CONFORMANCE_UNSUPPORTED] = "not supported",
    };
    const struct selftest_options *options = context;

    if (options->verbose || outcome == CONFORMANCE_FAILED)
        printf("%s: %s\n", words[outcome], text);
}

/* --op takes what the suite can tell apart; a name that runs nothing is
 * reported with the nearest op. */
static void suggest_op(const char *op)
{
    struct suggestion near = suggest_start(op);

    for (int i = 0; i < M2_N_OPS; i++)
        suggest_try(&near, op_name(i));
    log_error("--op %s: no such op or golden case%s%s%s", op,
              near.best != NULL ? "; did you mean '" : "",
              near.best != NULL ? near.best : "",
              near.best != NULL ? "'?" : "");
}

static int run_suite(struct selftest_options *options,
                     const struct plugin *plugin, int index,
                     struct m2_error *err)
{
    struct golden_kind kinds[N_GOLDEN_KINDS];
    const struct conformance_options suite = {
        .plugin = plugin,
        .index = index,
        .threads = (int)options->threads,
        .only = options->op,
        .golden_dir = options->golden,
        .golden_read = golden_file_read,
        .kinds = kinds,
        .n_kinds = N_GOLDEN_KINDS,
    };
    struct conformance_result result = {0};
    int code;

    golden_kinds(kinds);
    code = conformance_run(&suite, print_case, options, &result, err);
    if (code != 0 && code != M2_E_FAILED)
        return code;
    if (result.unknown > 0)
        code = m2_fail(err, M2_E_FAILED,
                       "%zu golden cases are of a kind that this program does "
                       "not know",
                       result.unknown);
    printf("%zu passed, %zu failed, %zu not supported\n", result.passed,
           result.failed, result.unsupported);
    if (options->op != NULL && result.passed + result.failed == 0 &&
        result.unsupported == 0)
        suggest_op(options->op);
    return code;
}

static int selftest(struct selftest_options *options, const char *device,
                    struct m2_error *err)
{
    struct device_choice choice;
    const struct plugin *plugin;
    char why[256];
    int code = device_choose(device, &choice, why, err);

    if (code == 0)
        code = device_load(&choice, &plugin, err);
    if (code == 0 && why[0] != '\0')
        log_info("%s", why);
    return code == 0 ? run_suite(options, plugin, choice.index, err) : code;
}

int command_selftest(int argc, char **argv)
{
    static const struct command_help help = {
        "selftest", "BACKEND",
        "Runs the conformance suite on a backend, in f64 and f32: every op\n"
        "against the reference, gradients against finite differences, golden\n"
        "vectors when they are given. BACKEND is a name, NAME:INDEX for one\n"
        "of its devices, or a file. Cases that fail are printed; the last\n"
        "line counts them. Ends with 1 when a case failed or none was run.",
        "  m2run selftest cpu\n"
        "  m2run selftest ref --golden tests/golden\n"
        "  m2run selftest ./m2_mine.so --op ssd -v"};
    struct selftest_options options = {.threads = 2};
    const struct option_spec specs[] = {
        {"golden", 'g', OPTION_TEXT, "DIR", "golden vectors, too",
         &options.golden},
        {"op", 0, OPTION_TEXT, "NAME", "only this op, golden kind or case",
         &options.op},
        {"threads", 't', OPTION_INT, "N", "threads of the device (2)",
         &options.threads},
        {"verbose", 'v', OPTION_FLAG, NULL, "print every case",
         &options.verbose},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n == 0)
        code = m2_fail(&err, M2_E_USAGE,
                       "selftest: which backend? a name, as cpu, or a file");
    if (code == 0 && arguments.n > 1)
        code = m2_fail(&err, M2_E_USAGE, "selftest: one backend, not %zu",
                       arguments.n);
    if (code == 0 && (options.threads < 1 || options.threads > 1024))
        code =
            m2_fail(&err, M2_E_USAGE, "selftest: --threads must be 1 to 1024");
    if (code == 0)
        code = selftest(&options, arguments.items[0], &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
