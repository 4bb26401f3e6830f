/* Pieces of `m2run compare`: runs side by side. */
#ifndef M2_CLI_COMPARE_H
#define M2_CLI_COMPARE_H

#include "results/listing.h"
#include "util/text.h"

enum { COMPARE_MAX_RUNS = 20 };

enum compare_section {
    COMPARE_RUN,
    COMPARE_SETTINGS,
    COMPARE_FACTS,
    COMPARE_SCORES,
    COMPARE_BASELINES,
};

/* A key, and what it is in each run.  Values are lossless; NULL: the run has
 * none. */
struct compare_row {
    enum compare_section section;
    char *key;
    char *values[COMPARE_MAX_RUNS];
    bool differs;
    unsigned best; /* scores: bit i for every run that has the best value */
};

struct comparison {
    const struct run_list *runs;
    struct compare_row *rows; /* section by section */
    size_t n, capacity;
};

/* Looks at 2 to COMPARE_MAX_RUNS runs, which must outlive it.  Settings and
 * facts that are the same in all runs, and all but the mse of the naive
 * forecasts, only with `all`; paths, threads and the like are settings here,
 * too: they may explain a time.  A fact that a run's version did not record
 * yet is no difference. */
int comparison_make(const struct run_list *runs, bool all,
                    struct comparison *out, struct m2_error *err);
void comparison_free(struct comparison *comparison);

/* Gives the record of an unfinished run, in memory, the scores that its
 * metrics.csv has so far, as "best" and "final". */
int compare_add_scores(struct run_entry *entry, struct m2_error *err);

/* Tables of at most `width` columns, one below the other where the runs do not
 * fit; 0: as wide as it takes. */
int compare_print(const struct comparison *comparison, size_t width,
                  struct text *out, struct m2_error *err);

/* A row per row: section, key, a column per run, and the numbers of the best
 * ones, from 1. */
int compare_csv(const struct comparison *comparison, struct text *out,
                struct m2_error *err);

/* {"runs": [...], "rows": [{"section", "key", "values", "differs", "best"}]}:
 * numbers as numbers; NULL when out of memory. */
json_t *compare_json(const struct comparison *comparison);

/* "settings" and the like. */
extern const char *const compare_section_names[];

#endif
