/* The conformance suite: does a backend keep every contract of m2_backend.h?
 *
 * It drives a device through backends/ops.h alone, for f32 and f64:
 *   - golden vectors, when their directory is given;
 *   - every op against the reference backend in f64, over a grid of shapes;
 *   - every gradient tensor against finite differences of the device's own
 *     forward op, in f64;
 *   - at each of those calls: nothing outside the outputs is written, nothing
 *     beside the inputs is read, outputs and scratch may hold NaN before,
 *     the same call gives the same bits again, at another address, with 1 and
 *     with 3 threads, as a training step that comes back, and while another
 *     handle is at work;
 *   - calls happen in their order, and copy what they are given.
 * What SUPPORTS refuses is counted, not failed; what it accepts must run.
 * How large an error may be is in one table, in compare.c. */
#ifndef M2_BACKENDS_CONFORMANCE_CONFORMANCE_H
#define M2_BACKENDS_CONFORMANCE_CONFORMANCE_H

#include <stddef.h>

#include "backends/conformance/golden.h"
#include "backends/ops.h"

enum conformance_outcome {
    CONFORMANCE_PASSED,
    CONFORMANCE_FAILED,
    CONFORMANCE_UNSUPPORTED,
};

/* One call per case, as it ends.  text is one line: op, type and case; then
 * the worst error and its limit, or what failed with argument, index, both
 * values, limit and seed, or why the backend refuses. */
typedef void (*conformance_report)(void *context,
                                   enum conformance_outcome outcome,
                                   const char *text);

struct conformance_options {
    const struct plugin *plugin;
    int index;   /* device of the plugin */
    int threads; /* of the main device, at least 1; 1 and 3 are tried, too */
    const char *only; /* one op, golden kind or golden case; NULL: all */
    /* Golden vectors: a directory with manifest.json, NULL for none; how its
     * files are read; and kinds of cases beside those of single ops, which
     * are built in. */
    const char *golden_dir;
    golden_read_fn golden_read;
    const struct golden_kind *kinds;
    size_t n_kinds;
};

struct conformance_result {
    size_t passed, failed, unsupported;
    size_t unknown; /* golden cases of a kind that nobody brought */
};

/* Runs the suite; report may be NULL.  M2_OK: no case failed and at least one
 * passed.  M2_E_FAILED: a case failed, or none was executed.  Other codes: the
 * suite could not run (device, manifest, memory). */
int conformance_run(const struct conformance_options *options,
                    conformance_report report, void *context,
                    struct conformance_result *out, struct m2_error *err);

#endif
