/* One run of the suite with one real type: what its parts share.  Private to
 * backends/conformance. */
#ifndef M2_BACKENDS_CONFORMANCE_SUITE_H
#define M2_BACKENDS_CONFORMANCE_SUITE_H

#include "backends/conformance/conformance.h"
#include "backends/conformance/trial.h"

/* The device as asked for, with one thread, with three. */
enum { SUITE_DEVICES = 3 };

struct suite {
    const struct conformance_options *options;
    conformance_report report;
    void *context;
    struct conformance_result *result;
    enum m2_dtype real;
    struct m2_device *devices[SUITE_DEVICES], *oracle_device;
    struct bench benches[SUITE_DEVICES], oracle;
};

const char *suite_real(const struct suite *suite); /* "f32" */
bool suite_wants(const struct suite *suite, const char *name);

/* Counts a case and reports it. */
__attribute__((format(printf, 3, 4))) void
suite_report(struct suite *suite, enum conformance_outcome outcome,
             const char *format, ...);
/* The outcome that goes with the code of a failed call. */
enum conformance_outcome suite_outcome(int code);

/* The parts.  A directory that cannot be read ends the run. */
int suite_golden(struct suite *suite, struct m2_error *err);
void suite_order(struct suite *suite);
void suite_grid(struct suite *suite);

#endif
