/* The settings of many runs, and which of them differ.
 *
 * A setting is a key of "config" in run.json.  Some change no result (name,
 * paths, threads, checkpoint: the schema knows); of a device and a data source
 * only the name counts, as in the identity. */
#ifndef M2_RESULTS_SETTINGS_H
#define M2_RESULTS_SETTINGS_H

#include "results/listing.h"
#include "util/text.h"

struct setting {
    const char *key;      /* borrowed from a record */
    const char *first;    /* value of the first run that has it; borrowed */
    size_t n;             /* runs that have it */
    bool differs;         /* between the runs, or some lack it */
    bool changes_results; /* schema_changes_results */
};

struct setting_list {
    struct setting *items;
    size_t n, capacity;
};

/* Every key that any of the runs has, in the order in which they are met.  The
 * runs must outlive the list.  A run without "config" has none, and makes no
 * difference; an option that another data source does not have makes none
 * either: data.source tells them apart. */
int setting_list_make(const struct run_list *runs, struct setting_list *out,
                      struct m2_error *err);
void setting_list_free(struct setting_list *list);

/* Value of a run's setting; NULL when it has none. */
const char *setting_value(const struct run_entry *entry, const char *key);

/* Adds the value as far as it counts. */
void setting_write(const char *key, const char *value, struct text *out);

/* Keys that differ between the runs of a list and change results; the seed
 * only when with_seed. */
int run_list_differing_keys(const struct run_list *list, bool with_seed,
                            struct string_list *out, struct m2_error *err);

#endif
