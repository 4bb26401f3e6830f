/* The table of subcommands, in the order of `m2run --help`: an experiment's
 * way from file to prediction, then what looks at the machine. */
#include "cli/command.h"

const struct command commands[] = {
    {"check", "validate an experiment file, show every error", command_check},
    {"best", "leaderboard of an experiment", command_best},
    {NULL, NULL, NULL},
};
