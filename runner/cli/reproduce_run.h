/* The run that `m2run reproduce` repeats: read, and checked as far as that can
 * be done before anything is computed. */
#ifndef M2_CLI_REPRODUCE_RUN_H
#define M2_CLI_REPRODUCE_RUN_H

#include "config/load.h"
#include "results/listing.h"
#include "util/sha256.h"

struct recorded_run {
    struct run_entry entry;       /* run.json */
    struct experiment experiment; /* config.yaml with the overrides */
    const char *identity;         /* 64 digits, in the entry */
    /* Of the new run: another one only when data files were renamed or the
     * device is another. */
    char new_identity[SHA256_HEX_SIZE];
    int64_t last_step;   /* the recorded run did not end by its own rules: its
                            files end here; 0: it did */
    int64_t first_row;   /* step of the first row of metrics.csv; 0: none */
    struct text altered; /* how config.yaml or run.json do not fit the identity;
                            empty: they do */
};

/* Reads run.json and config.yaml of the directory, finds the data and the file
 * of init_from, and proves by their SHA-256 and the identity that they are
 * those of the run.  Overrides may move data.path and model.init_from and
 * choose device and threads, nothing else (M2_E_USAGE).  M2_E_DATA for data
 * that are missing or others; M2_E_RESULTS for a run that cannot be repeated.
 * Free *out whatever the result. */
int recorded_run_open(const char *path, const char *const *overrides, size_t n,
                      struct recorded_run *out, struct m2_error *err);
void recorded_run_free(struct recorded_run *run);

/* Text of a sweep record that holds the new run alone; *label_out is the
 * caller's. */
int recorded_run_record(const struct recorded_run *run, struct text *out,
                        char **label_out, struct m2_error *err);

#endif
