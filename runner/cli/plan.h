/* What the files of `m2run plan` share. */
#ifndef M2_CLI_PLAN_H
#define M2_CLI_PLAN_H

#include "cli/run_list.h"
#include "predict/planner.h"
#include "results/listing.h"
#include "results/store.h"
#include "schedule/policy.h"
#include "util/capacity.h"

struct plan_options {
    const char *results, *retry;
    int64_t jobs; /* 0: as run chooses them */
    struct run_policy policy;
    bool json, csv, time, mixed;
};

/* One run of the list, beside sweep.runs and record.runs. */
struct planned_run {
    struct run_plan plan;
    const char *state;      /* "pending", or that of what is there */
    enum run_action action; /* of `m2run run` with the same options */
    bool is_to_do;          /* not published yet, or to be run again */
    uint64_t disk_bytes;    /* that stay when it is done */
    double seconds;         /* NaN: not measured */
};

/* What the runs to do need, and what there is. */
struct plan_needs {
    uint64_t memory;       /* of the jobs at once, at most */
    uint64_t device;       /* the same, on a device of its own; 0: none */
    uint64_t device_limit; /* 0: not known */
    struct memory_capacity capacity;
    uint64_t disk, disk_free;
};

struct plan {
    const struct plan_options *options;
    const char *root;
    struct resolved_sweep resolved;
    struct run_list published; /* and unfinished: all that is there */
    struct planned_run *runs;
    size_t n_to_do;
    size_t n_refused;  /* of them, for the numerics of their checkpoints */
    int slots;         /* accelerators that they may use, 0: none */
    int jobs, threads; /* at once; of each, unless the file says otherwise */
    struct plan_needs needs;
    struct string_list problems; /* why it does not fit */
    size_t n_shapes;             /* that were measured */
    double total_s, wall_s;      /* NaN: not measured */
};

/* "LABEL-HASH12", the run's folder. */
void plan_run_name(const struct plan *plan, size_t i, char out[RUN_NAME_SIZE]);

/* Threads of one run. */
int plan_threads(const struct plan *plan, const struct config *config);

/* Whether one run alone has the memory it needs. */
bool plan_run_fits(const struct plan *plan, size_t i);

/* Fills needs and problems: plan_fit.c. */
int plan_fit(struct plan *plan, struct m2_error *err);

/* Measures the runs to do, each shape once, in processes of their own, and
 * fills seconds, total_s, wall_s: plan_time.c. */
int plan_time(struct plan *plan, struct m2_error *err);

/* As the options say, on stdout: plan_print.c. */
int plan_print(const struct plan *plan, struct m2_error *err);

#endif
