/* How fast an experiment trains and predicts on a device.
 *
 * Steps are those of the training loop itself, with everything a run does
 * between two updates; a step's time is from the end of one to the end of the
 * next.  Nothing is evaluated between them, and what the loop writes goes to a
 * temporary folder. */
#ifndef M2_PREDICT_BENCH_H
#define M2_PREDICT_BENCH_H

#include "train/session.h"

struct bench_request {
    const struct config *config; /* its device is what is measured */
    int threads;
    int64_t steps; /* timed, after a few that are not */
};

struct bench_result {
    char device[64], device_name[96];
    int threads;
    int64_t batch; /* windows per step */
    uint64_t n_parameters;
    double step_median_s, step_min_s, step_mean_s;
    double samples_per_s;     /* by the median */
    double step_flops;        /* multiply-add = 2 */
    double flops_per_s;       /* by the median */
    double peak_flops_per_s;  /* measured, of as many threads; NaN where the
                                 device is not the host */
    double predict_median_s;  /* a window alone: cut, forward, download */
    double evaluate_window_s; /* a window of an evaluation, in its batches */
    double checkpoint_s;      /* writing one, with everything on the disk */
    double first_step_s;      /* from the start of the process to the moment the
                                 first step begins (for the second device: as
                                 if it had been the first) */
    uint64_t device_bytes, process_bytes; /* the latter: peak, resident */
};

int bench_run(const struct bench_request *request, struct bench_result *out,
              struct m2_error *err);

#endif
