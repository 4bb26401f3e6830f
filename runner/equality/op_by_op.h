/* Do two backends compute the same, op by op?  The first one trains; the
 * second one repeats every op of its steps on equal inputs
 * (backends/conformance/mirror.h), so that an error is that of one op. */
#ifndef M2_EQUALITY_OP_BY_OP_H
#define M2_EQUALITY_OP_BY_OP_H

#include "backends/conformance/mirror.h"
#include "equality/side.h"

struct op_by_op {
    struct equality_device devices[2];
    int64_t steps, batch; /* made; windows per step */
    bool exact;           /* the same device twice: every limit is 0 */
    struct mirror_report report;
};

/* 0 whether they agree or not: see report.calls_over.  M2_E_DIVERGED: the first
 * one's training did, and *out says how they compare until then. */
int op_by_op_run(const struct equality_request *request, struct op_by_op *out,
                 struct m2_error *err);

#endif
