/* A trial: one call of an op, described on the host by argument names, and
 * its run on a device with everything around the outputs watched.
 *
 * A trial knows the shapes of its arguments, the values of its inputs and of
 * outputs that are read first, all as doubles; the names are those of
 * op_arguments.  A bench is one open device with memory for one trial.
 *
 *     trial_init(&t, M2_OP_silu, seed);
 *     trial_random(&t, "x", 3, 5, span_of(-2, 2));
 *     trial_output(&t, "y", 3, 5);
 *     code = trial_run(&bench, &t, &layout, err);
 *     ... trial_result(&t, "y") ...
 *
 * Allocation failures are remembered and reported by trial_run. */
#ifndef M2_BACKENDS_CONFORMANCE_TRIAL_H
#define M2_BACKENDS_CONFORMANCE_TRIAL_H

#include <stdbool.h>

#include "backends/ops.h"

enum { TRIAL_ARGUMENTS = 24 }; /* no op has more views */

#define TRIAL_MEMBER(name, type) struct type name;
union trial_args {
    M2_OPS(TRIAL_MEMBER)
};
#undef TRIAL_MEMBER

struct trial_view {
    bool present;
    enum m2_dtype dtype; /* 0: the handle's real type, or the contract's */
    int64_t rows, cols;
    int shares;     /* index of the argument whose memory it is, or -1 */
    double *values; /* (rows, cols); NULL for an output that starts as NaN */
    double *result; /* (rows, cols) after a run; outputs only */
};

struct trial {
    enum m2_op op;
    union trial_args args; /* scalars; views are filled in by the run */
    const struct op_argument *arguments;
    size_t n;
    struct trial_view views[TRIAL_ARGUMENTS];
    uint64_t seed;
    bool failed; /* out of memory, or a name that the op does not have */
};

void trial_init(struct trial *trial, enum m2_op op, uint64_t seed);
void trial_free(struct trial *trial);

/* Index of an argument, -1 when the op has none of that name. */
int trial_find(const struct trial *trial, const char *name);
/* The view of an argument when it is there, else NULL. */
const struct trial_view *trial_view(const struct trial *trial,
                                    const char *name);

struct span {
    double low, high;
};

static inline struct span span_of(double low, double high)
{
    return (struct span){low, high};
}

/* Makes an argument present: with values to be filled in (zeros; NULL when
 * out of memory), with generated values, or as an output without values. */
double *trial_values(struct trial *trial, const char *name, int64_t rows,
                     int64_t cols);
void trial_random(struct trial *trial, const char *name, int64_t rows,
                  int64_t cols, struct span span);
void trial_output(struct trial *trial, const char *name, int64_t rows,
                  int64_t cols);
/* Takes it away again: an optional argument left out. */
void trial_drop(struct trial *trial, const char *name);
/* Output `name` uses the memory of input `other` (which stays present). */
void trial_share(struct trial *trial, const char *name, const char *other);
/* Rounds all real inputs to a type, so that devices of different types get
 * the same numbers. */
void trial_round(struct trial *trial, enum m2_dtype real);
/* Values of an output after the last run; NULL when it is absent. */
const double *trial_result(const struct trial *trial, const char *name);
/* Does the last run's contract write this argument? */
bool trial_writes(const struct trial *trial, size_t i);

/* The pass over accumulate: address of the op's flag and the name of the
 * output that it concerns; NULL when the op has none. */
int *trial_accumulate(struct trial *trial, const char **output);

/* A device with memory for one trial at a time. */
struct bench {
    struct m2_device *device;
    struct m2_buffer *buffer;
    size_t capacity;
    unsigned char *image, *after; /* host copies of the buffer */
    size_t image_capacity;
};

void bench_init(struct bench *bench, struct m2_device *device);
void bench_free(struct bench *bench); /* does not close the device */

/* How the arguments lie in memory. */
struct trial_layout {
    int64_t pad;  /* ld - cols */
    int64_t lead; /* elements by which views start off a 64-byte boundary */
    bool poison;  /* real inputs are NaN: leaves NaN in the scratch */
    int steps;    /* run as that many equal training steps; 0: outside of one */
};

/* Uploads, checks, prepares, runs and downloads.  Everything that is not an
 * element of an output, padding included, starts as NaN (-1 for integers) and
 * must be unchanged afterwards.  M2_E_UNSUPPORTED: the backend's SUPPORTS
 * says no; M2_E_DIFFERS: memory outside the outputs changed; every other code
 * is a failure of the call. */
int trial_run(struct bench *bench, struct trial *trial,
              const struct trial_layout *layout, struct m2_error *err);

/* Results of one run, kept apart from the trial. */
struct results {
    double *of[TRIAL_ARGUMENTS];
};
/* Moves the results out of the trial (of must be empty), and back. */
void results_take(struct results *results, struct trial *trial);
void results_give(struct results *results, struct trial *trial);
void results_free(struct results *results);

/* The trial on two benches at the same time, one of them in a thread of its
 * own; the results of each (empty before) are the caller's to free. */
int trial_run_together(struct bench *const benches[2],
                       const struct trial *trial,
                       const struct trial_layout *layout,
                       struct results results[2], struct m2_error *err);

#endif
