/* Comparing a run with the same run computed once more, to the last bit.
 *
 * `recorded` is the run directory that is to be proven, `again` that of a new
 * computation on this machine.  Compared are the cells of metrics.csv, the
 * tensors of last.safetensors and best.safetensors, and the scores and the end
 * in run.json.  Files that hold times are not.
 *
 * A difference is explained.  The trace (train/trace.h) is a chain of hashes:
 * where both traces of a step are equal, loss and gradient norm of every step
 * up to it were the same bits.  So a cell that differs at or before the last
 * step whose traces agree was altered after it was written, and so was a file
 * whose own SHA-256 does not fit; anything else was computed differently, after
 * the last step whose traces agree and not after the first whose traces
 * differ.  Both may be known for few steps only: rows and checkpoints of the
 * recorded run have a trace, and every step of the new one, when its trace
 * file is given. */
#ifndef M2_REPRODUCE_DIFFERENCE_H
#define M2_REPRODUCE_DIFFERENCE_H

#include <stdbool.h>

#include "util/sha256.h"

enum finding_kind {
    FINDING_COMPUTED, /* other numbers were computed */
    FINDING_ALTERED,  /* a recorded file is not as its run wrote it */
    FINDING_NOTE,     /* said, but no difference: what could not be compared */
};

struct finding {
    enum finding_kind kind;
    const char *file; /* "metrics.csv", ...: static */
    int64_t step;     /* where it was met; -1: at no step */
    int64_t agreed;   /* last step whose traces are equal; 0: none */
    char *text;       /* "step 412: train/loss 2.3170986 vs 2.3170989" */
};

struct difference_request {
    const char *recorded, *again; /* run directories */
    const char *traces;   /* trace file of `again` (trace_file.h), or NULL */
    const char *identity; /* of the recorded run's checkpoints; NULL: any */
    int64_t last_step;    /* compare what belongs to steps up to it; 0: all */
    double tolerance;     /* relative; 0: the bits */
};

struct difference {
    bool differs;      /* a finding is more than a note */
    size_t n_rows;     /* of metrics.csv compared */
    int64_t last_step; /* of the last of them */
    size_t n_tensors;  /* parameters and moments compared */
    /* Of the new run's last parameters (difference_parameters); "" when they
     * were not compared. */
    char parameters[SHA256_HEX_SIZE];
    double largest; /* relative difference met, and where; 0: none */
    char largest_at[128];
    /* Computed ones by step, then altered ones, then notes. */
    struct finding *findings;
    size_t n_findings, capacity;
};

/* 0 whether they differ or not.  M2_E_RESULTS when the new run cannot be read;
 * what is wrong with the recorded one is a finding.  With a tolerance, numbers
 * of metrics.csv differ by |a-b| / max(|a|,|b|), tensors by the norm of their
 * difference over their norm; traces, moments and run.json are not looked at.
 * Free *out whatever the result. */
int difference_find(const struct difference_request *request,
                    struct difference *out, struct m2_error *err);
void difference_free(struct difference *difference);

/* SHA-256 over the bytes of a checkpoint's parameters, in the order of the
 * file, without moments and metadata: the same for two runs whose models are
 * the same, whatever they are called. */
struct st_file; /* model/safetensors.h */
int difference_parameters(const struct st_file *file, char out[SHA256_HEX_SIZE],
                          struct m2_error *err);

#endif
