/* A data plugin at work: the files it is given, and its slots as functions.
 *
 * Paths.  Each entry of data.path is a file, a glob pattern or a directory.
 * Of a directory every plain file directly in it is taken but hidden ones and
 * those whose ending says that they hold no series (.json, .md, .yaml, .yml,
 * .html, .pdf, .sha256); what was skipped is counted.  The list is sorted
 * bytewise and free of duplicates, so its order depends on names alone. */
#ifndef M2_DATA_SOURCE_H
#define M2_DATA_SOURCE_H

#include "config/config.h"
#include "data/facts.h"
#include "loader.h"
#include "m2_data.h"

/* Adds the files that the config names.  M2_E_DATA when an entry matches
 * nothing.  facts may be NULL. */
int source_files(const struct config_data *config, struct string_list *out,
                 struct fact_list *facts, struct m2_error *err);

/* An open source.  A block that breaks the rules of m2_data.h is refused as
 * M2_E_DATA, naming the plugin. */
struct data_source {
    const struct plugin *plugin;
    void *handle;
    struct m2_data_info info;
    int64_t *last_times; /* (n_series) of the rows so far */
};

int source_open(const struct plugin *plugin, const struct config *config,
                const struct string_list *files, struct data_source *out,
                struct m2_error *err);
/* The next block; n_rows_out is 0 at the end. */
int source_next(struct data_source *source, struct m2_data_next *out,
                struct m2_error *err);
/* Adds the plugin's counters. */
int source_counts(struct data_source *source, struct fact_list *facts,
                  struct m2_error *err);
void source_close(struct data_source *source);

#endif
