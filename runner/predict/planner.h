/* What a run will take, before it is started: windows, steps, parameters,
 * memory, operations.
 *
 * Sizes on the device are exact: they are counted by the code that allocates.
 * The memory of the process is predicted as
 *
 *     base        measured: this program with the device open
 *   + dataset     rows, windows
 *   + device      all of it, where the device computes in host memory
 *   + copies      parameters and moments on their way to a checkpoint,
 *                 predictions of an evaluation
 *
 * or as what loading the data took at most, where that is more. */
#ifndef M2_PREDICT_PLANNER_H
#define M2_PREDICT_PLANNER_H

#include "train/session.h"

struct run_plan {
    int64_t rows;             /* of all series */
    int64_t windows[N_PARTS]; /* per part */
    int64_t steps_per_epoch, steps;
    double epochs;
    struct model_plan model;
    uint64_t tree_bytes;   /* arenas of the tree of microbatches */
    uint64_t series_bytes; /* the dataset on the device */
    uint64_t device_bytes; /* all of the above */
    uint64_t device_limit; /* what the device has, 0: not known */
    uint64_t base_bytes, dataset_bytes, copy_bytes;
    uint64_t process_bytes; /* peak resident memory of the run's process */
    bool device_is_host;
};

/* Keeps the device and the dataset from run to run while they stay the
 * same. */
struct planner; /* opaque */
int planner_create(struct planner **out, struct m2_error *err);
void planner_free(struct planner *planner);

/* The config must live until the next call. */
int planner_plan(struct planner *planner, const struct config *config,
                 int threads, struct run_plan *out, struct m2_error *err);

/* What may change bits of the last planned run, as session.numerics. */
const char *planner_numerics(const struct planner *planner);

#endif
