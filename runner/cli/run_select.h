/* Which runs `ls` and `best` look at: [FILE|NAME] [KEY=VALUE ...]. */
#ifndef M2_CLI_RUN_SELECT_H
#define M2_CLI_RUN_SELECT_H

#include "cli/options.h"
#include "results/listing.h"

struct run_selection {
    const char *word; /* experiment or file, or NULL; borrowed */
    const char *const *conditions;
    size_t n_conditions;
};

/* Parts the arguments of a command: the one without a relation is an
 * experiment, and is moved in front of the others. */
int run_selection_make(struct arguments *arguments, const char *command,
                       struct run_selection *out, struct m2_error *err);

/* Keeps the runs that meet all conditions.  A word that no run knows is
 * M2_E_USAGE, but none while there is no run. */
int run_selection_apply(const struct run_selection *selection,
                        struct run_list *list, struct m2_error *err);

/* Says on stderr which of the runs have a run.json that cannot be read. */
void report_damaged(const struct run_list *list);

#endif
