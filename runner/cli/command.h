/* The subcommands, and what they share.
 *
 * A command parses its options, calls one room, prints.  It returns an exit
 * code: 0 ok, 1 a run failed, 2 usage, 3 configuration, 4 device or plugin,
 * 5 data, 6 results directory, 7 comparison differs, 70 internal error,
 * 75 interrupted and resumable.  stdout is the result, stderr everything
 * else. */
#ifndef M2_CLI_COMMAND_H
#define M2_CLI_COMMAND_H

#include "cli/options.h"
#include "config/load.h"

struct command {
    const char *name;
    const char *summary; /* one line; NULL: hidden */
    int (*run)(int argc, char **argv);
};

extern const struct command commands[]; /* a NULL name ends the table */

int command_bench(int argc, char **argv);
int command_best(int argc, char **argv);
int command_check(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_compare_backends(int argc, char **argv);
int command_data(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_ls(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_prove(int argc, char **argv);
int command_reproduce(int argc, char **argv);
int command_run(int argc, char **argv);
int command_schema(int argc, char **argv);
int command_selftest(int argc, char **argv);
int command_show(int argc, char **argv);
int command_stop(int argc, char **argv);
int command_worker(int argc, char **argv);

/* Exit code of a result code. */
int exit_code_of(int code);

/* Prints "m2run: error: ..." and returns the exit code. */
int report_error(int code, const struct m2_error *err);

/* Loads an experiment and prints all its messages to stderr.  The experiment
 * must be freed whatever the result. */
int load_experiment(const char *path, const char *const *overrides,
                    size_t n_overrides, struct experiment *out,
                    struct m2_error *err);

/* One warning when unfinished runs of an experiment were begun on data that
 * have changed since. */
void warn_of_stale_runs(const char *root, const char *name);

/* The experiment that a word means: itself, or the name in the file that it
 * is (it ends with .yaml).  The caller frees *out. */
int experiment_name(const char *argument, char **out, struct m2_error *err);

#endif
