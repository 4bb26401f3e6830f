/* A proof that bits do not depend on interruptions, threads or jobs: the runs
 * of a list are computed four times, and every byte is compared with that of
 * the first time.
 *
 *   straight   one run after the other, on all cores
 *   killed     the same, with random kills
 *   together   all runs at once, one thread each
 *   threads    two runs at once, three threads each
 *
 * The proof fails when no kill has hit a worker between its first row and its
 * last, or no worker went on from a checkpoint: then nothing was proven of
 * interruptions. */
#ifndef M2_PROVE_PROOF_H
#define M2_PROVE_PROOF_H

#include "prove/pass.h"
#include "util/text.h"

enum proof_pass_kind {
    PROOF_STRAIGHT,
    PROOF_KILLED,
    PROOF_TOGETHER,
    PROOF_THREADS,
    PROOF_N_PASSES
};

struct proof_pass {
    const char *name; /* static */
    int jobs, threads;
    size_t kills, midway, resumed; /* of struct pass_result */
    double seconds;
    bool compared, differs; /* with the first pass */
};

struct proof_request {
    const char *scratch;   /* folder for the passes' results folders */
    const char *record;    /* sweep record that workers read */
    const char *name;      /* experiment */
    struct pass_run *runs; /* those to be worked; final_bytes and step_s are
                              filled in */
    size_t n_runs;
    size_t kills; /* at least 1 */
    uint64_t seed;
    int cores;
    void (*tell)(void *context, const struct proof_pass *pass); /* or NULL */
    void *context;
};

struct proof {
    struct proof_pass passes[PROOF_N_PASSES]; /* in the order of the kinds */
    size_t n_passes;  /* worked: all, or up to the first that differs */
    int64_t steps;    /* of a run; of the longest */
    size_t n_rows;    /* of metrics.csv, in all runs */
    size_t n_tensors; /* in all runs */
    size_t n_files;   /* compared with their like, in all passes */
    int64_t bytes;    /* in these */
    /* The first difference; label NULL: all bytes agree. */
    const char *label;       /* of the run, borrowed from the request */
    const char *file;        /* static, or NULL: how it ended */
    struct text differences; /* a line each; the first is the first */
};

/* 0 whether bytes agree or not.  M2_E_FAILED when a run does not end as done,
 * or no kill found work left.  Free *out whatever the result. */
int proof_work(const struct proof_request *request, struct proof *out,
               struct m2_error *err);
void proof_free(struct proof *proof);

#endif
