/* A mirror: a second device, the twin, runs every op that a device runs, on
 * equal inputs, and what both wrote is compared.
 *
 * Before each op, every element that it reads is copied to the twin bit by
 * bit: inputs, what is changed in place, and what is added to.  So an error
 * belongs to the op that made it and never travels on, whatever the twin
 * computed before; uploads need no mirroring, and whoever runs the ops need
 * not know.  Elements that the op does not name are neither copied nor
 * compared.  Which views are read and written is in the ops' contracts.
 *
 * Errors are measured as by the conformance suite, and held against its table
 * of limits: see compare.h.  The device is what is right.  In training a sum
 * over all rows may cancel to nearly nothing, as the gradient of a single
 * bias: then no two orders of summation agree in that measure.  So an error
 * over its limit is measured once more, relative to how the result reacts to
 * small changes of the inputs (the size of the terms of such a sum), where
 * that is larger than the result. */
#ifndef M2_BACKENDS_CONFORMANCE_MIRROR_H
#define M2_BACKENDS_CONFORMANCE_MIRROR_H

#include "backends/ops.h"

struct mirror; /* opaque */

/* What a view is called, and the layer it belongs to (-1: none). */
struct mirror_name {
    char text[128]; /* "": nothing is known */
    int64_t layer;
};

/* The worst element of one output of one call. */
struct mirror_place {
    int64_t call, step; /* both from 1; the step is that of mirror_set_step */
    enum m2_op op;
    const char *argument;    /* its name in the contract; NULL: no call yet */
    struct mirror_name name; /* of the output; the layer is the op's */
    int64_t row, column;
    double device, twin; /* values */
    double error;        /* may be infinite */
};

struct mirror_op {
    int64_t calls, calls_over;
    double limit;
    struct mirror_place worst;
};

struct mirror_report {
    struct mirror_op ops[M2_N_OPS];
    int64_t calls, calls_over;
    struct mirror_place first; /* over its limit, in the order of execution */
};

struct mirror_request {
    /* Both with the same real type; they must outlive the mirror. */
    struct m2_device *device, *twin;
    bool exact; /* every limit is 0 */
    void (*describe)(void *context, const struct m2_view *view,
                     struct mirror_name *out); /* may be NULL */
    void *context;
};

/* From now on; the device must have no other observer. */
int mirror_open(const struct mirror_request *request, struct mirror **out,
                struct m2_error *err);
void mirror_close(struct mirror *mirror); /* NULL is allowed */

/* Number of the step that the next calls belong to. */
void mirror_set_step(struct mirror *mirror, int64_t step);

const struct mirror_report *mirror_report(const struct mirror *mirror);

#endif
