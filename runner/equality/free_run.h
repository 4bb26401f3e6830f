/* How far do two backends drift apart?  Both train freely, with the same data
 * in the same order from the same first parameters, and their losses are
 * compared step by step. */
#ifndef M2_EQUALITY_FREE_RUN_H
#define M2_EQUALITY_FREE_RUN_H

#include "equality/side.h"

/* Largest relative gap between the losses of a step that is accepted.  In f64
 * what is left after rounding errors have grown for some hundred steps; in f32
 * the same, seen as far below what a wrong gradient does. */
#define FREE_RUN_LIMIT_F64 1e-9
#define FREE_RUN_LIMIT_F32 1e-3

struct free_run_step {
    struct update updates[2];
    uint8_t traces[2][TRACE_BYTES];
    double gap; /* |a - b| / max(|a|, |b|) of the losses; 0 for equal ones */
};

struct free_run {
    struct equality_device devices[2];
    struct free_run_step *steps; /* step i is steps[i - 1] */
    int64_t n;
    double limit;        /* 0: the same device twice */
    int64_t worst;       /* step of the largest gap */
    int64_t first_over;  /* first step whose gap is above the limit, or 0 */
    int64_t first_apart; /* first step with other bits of loss or norm, or 0 */
};

/* 0 whether they agree or not; free *out then. */
int free_run_make(const struct equality_request *request, struct free_run *out,
                  struct m2_error *err);
void free_run_free(struct free_run *run);

#endif
