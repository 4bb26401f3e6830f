/* The table of `m2run ls`.
 *
 * A row per run: its facts, and a column for every key of the configuration
 * in which the runs differ.  For people numbers are short, and columns of
 * nothing are left out; for programs every fact is there, lossless. */
#ifndef M2_CLI_LS_TABLE_H
#define M2_CLI_LS_TABLE_H

#include "results/listing.h"
#include "util/text.h"

enum ls_format { LS_TEXT, LS_JSON, LS_CSV };

/* Adds the first `limit` runs, 0: all.  No run is an empty text, or an empty
 * list in JSON, or a header alone in CSV. */
int ls_table_write(const struct run_list *list, enum ls_format format,
                   size_t limit, struct text *out, struct m2_error *err);

#endif
