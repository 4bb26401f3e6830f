/* A program: a list of op calls, checked once and run many times.
 *
 * Building: program_add checks a call, asks the backend whether it supports
 * it and how much scratch it needs, and keeps a copy of the arguments.  The
 * first failure is remembered and later calls are ignored, so that a list is
 * built without a check per line; program_check tells the outcome.
 *
 * A program that only plans counts operations and scratch and keeps nothing:
 * its views may have any buffer that is not NULL (NULL says "absent"), and
 * its device may be NULL. */
#ifndef M2_MODEL_PROGRAM_H
#define M2_MODEL_PROGRAM_H

#include "backends/ops.h"

struct program_call {
    enum m2_op op;
    size_t args; /* offset in the program's args */
};

struct program {
    struct m2_device *device;
    bool planning;
    struct program_call *calls;
    size_t n_calls, calls_capacity;
    unsigned char *args; /* the argument structs, one after another */
    size_t args_size, args_capacity;
    double flops;         /* of one run; multiply-add = 2 */
    size_t scratch_bytes; /* that one run needs; planning only */
    int result;           /* first failure while building */
    struct m2_error *err; /* where it is told */
};

/* err receives the message of a failure until program_check. */
void program_init(struct program *program, struct m2_device *device,
                  bool planning, struct m2_error *err);
void program_free(struct program *program);

/* args points to the argument struct of op. */
void program_add(struct program *program, enum m2_op op, const void *args);

/* 0, or the first failure of program_add. */
int program_check(struct program *program);

/* The kept arguments of a call, to change scalars between runs. */
void *program_args(struct program *program, size_t call);

/* Runs the calls in order; scratch must have been reserved. */
int program_run(struct program *program, struct m2_error *err);

#endif
