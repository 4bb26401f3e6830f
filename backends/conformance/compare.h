/* How far two results are apart, and how far they may be. */
#ifndef M2_BACKENDS_CONFORMANCE_COMPARE_H
#define M2_BACKENDS_CONFORMANCE_COMPARE_H

#include <stdbool.h>

#include "m2_backend.h"

/* The rule of the golden vectors: error = max|got - want| / max|want| over
 * the tensor (the denominator at least 1e-30).  Equal values, infinities and
 * NaNs in the same place count as no difference; any other value that is not
 * finite makes the error infinite. */
struct difference {
    double error;
    int64_t index; /* the worst element */
    double got, want;
};
struct difference compare(const double *got, const double *want, int64_t n);

/* The largest error of an op that is accepted against the reference in f64
 * with the same inputs; one table, in compare.c. */
double compare_limit(enum m2_op op, enum m2_dtype real);

#endif
