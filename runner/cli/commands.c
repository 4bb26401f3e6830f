/* The table of subcommands, in the order of `m2run --help`: an experiment's
 * way from file to prediction, then what looks at the machine. */
#include "cli/command.h"

const struct command commands[] = {
    {"check", "validate an experiment file, show every error", command_check},
    {"data", "what the data is: rows, gaps, statistics, windows", command_data},
    {"plan", "list the runs and what each takes, without training",
     command_plan},
    {"run", "train every run of an experiment that is not done yet",
     command_run},
    {"stop", "ask what runs here to stop, with a checkpoint", command_stop},
    {"ls", "table of runs", command_ls},
    {"show", "everything about one run; -f follows it", command_show},
    {"best", "leaderboard of an experiment", command_best},
    {"compare", "runs side by side: what differs, and their scores",
     command_compare},
    {"reproduce", "train a run again: is every bit the same?",
     command_reproduce},
    {"prove", "do kills, threads and jobs leave every bit the same?",
     command_prove},
    {"predict", "predictions of a run, or of rows as they arrive",
     command_predict},
    {"bench", "time steps and predictions of an experiment, per device",
     command_bench},
    {"devices", "backends and devices found here, or why they cannot be used",
     command_devices},
    {"selftest", "does a backend keep every contract?", command_selftest},
    {"compare-backends", "training steps on two backends: the same numbers?",
     command_compare_backends},
    {"schema", "every key of an experiment file", command_schema},
    {"worker", NULL, command_worker},
    {NULL, NULL, NULL},
};
