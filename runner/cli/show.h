/* Pieces of `m2run show`. */
#ifndef M2_CLI_SHOW_H
#define M2_CLI_SHOW_H

#include "results/listing.h"
#include "util/text.h"

/* Everything about a run that a person may want to know. */
int show_report(const struct run_entry *entry, struct text *out,
                struct m2_error *err);

/* Its scores beside those of the naive baselines. */
int show_scores(const struct run_entry *entry, struct text *out,
                struct m2_error *err);

/* Its checkpoints, and the last rows of its metrics.csv. */
int show_files(const struct run_entry *entry, struct text *out,
               struct m2_error *err);

/* Prints log.txt of a run as it grows, until the run ends.  The folder may be
 * renamed meanwhile: that is how a run is published. */
int show_follow(const char *path, struct m2_error *err);

#endif
