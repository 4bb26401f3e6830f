/* The parts of `m2run run`: what is to be done with each run, and what is said
 * of them at the end. */
#ifndef M2_CLI_RUN_H
#define M2_CLI_RUN_H

#include "cli/options.h"
#include "cli/run_list.h"
#include "schedule/pool.h"

/* What decides about runs that have begun or ended before. */
struct run_choice {
    const char *root;
    struct run_policy policy;
    int64_t begun_ns; /* when this invocation was: a run that another one has
                         ended since is not run again */
};

/* One task per run (owned array, run_tasks_free), with the action of the rule
 * table: to be skipped, run again from nothing, or worked. */
int run_tasks_make(const struct resolved_sweep *resolved,
                   const struct run_choice *choice, struct pool_task **out,
                   struct m2_error *err);
void run_tasks_free(struct pool_task *tasks, size_t n);
size_t run_tasks_waiting(const struct pool_task *tasks, size_t n);

/* Fills in what the tasks say of devices.  *slots_out: accelerators that the
 * waiting runs may use, 0: none computes on one.  Processes of their own find
 * that out, for no backend is loaded here. */
int run_devices_find(const struct resolved_sweep *resolved,
                     struct pool_task *tasks, int *slots_out,
                     struct m2_error *err);

/* Runs at once, of at most `jobs`: one per accelerator unless more were
 * wanted (0: not said), which is told. */
int run_devices_jobs(int slots, int64_t wanted, int jobs);

/* `jobs`, or as many as have the memory that the largest waiting run is planned
 * to take, at least 1; with a word when it is fewer.  A process of its own
 * finds that out, for no backend is loaded here. */
int run_memory_jobs(const char *root, const struct arguments *arguments,
                    const struct pool_task *tasks, size_t n, int jobs);

/* stdout: a line per run that is published.  stderr: counts per state, the
 * failed ones, and the commands that show and retry them. */
void run_report_print(const struct pool_task *tasks, size_t n,
                      const struct arguments *arguments);

/* Exit code: 0 only when every run is published as done. */
int run_report_code(const struct pool_result *result, size_t n);

#endif
