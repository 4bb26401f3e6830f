/* Unfinished runs whose data have changed: state `stale`.
 *
 * A run is its configuration and its data.  When a data file changes, the same
 * experiment is another run; what was begun on the old bytes cannot go on, and
 * stays until somebody removes it.  Only unfinished runs that nobody works on
 * are looked at.  A file with the size and time of modification of the record
 * is not read; another's digest is cached (data/digest_cache.h).  Data that are
 * not there at all tell nothing: they may be on another machine. */
#ifndef M2_TRAIN_STALE_H
#define M2_TRAIN_STALE_H

#include "results/listing.h"
#include "util/text.h"

/* Gives every such entry the state "stale", and its record, in memory, that
 * state and a reason that names the first file that differs.  M2_E_MEMORY. */
int stale_mark(struct run_entry *entries, size_t n, struct m2_error *err);

/* Adds one line about the stale runs of an experiment: how many, why, and how
 * to be rid of them; nothing when there are none. */
int stale_describe(const char *root, const char *name, struct text *out,
                   struct m2_error *err);

#endif
