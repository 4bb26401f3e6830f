/* Runs grouped by configuration: one row per set of settings, seeds apart. */
#ifndef M2_RESULTS_LEADERBOARD_H
#define M2_RESULTS_LEADERBOARD_H

#include "results/listing.h"
#include "results/statistic.h"
#include "util/text.h"

/* The statistics are over the runs that are `done` and have a finite value, so
 * nothing that diverged enters a mean; how many values each has is its n. */
struct leaderboard_row {
    char *settings; /* experiment, values of the differing keys, data */
    const struct run_entry *example; /* one of its runs, if possible done */
    struct statistic metric;         /* the runs' best value of their metric */
    struct statistic val_mse;        /* at the best step */
    struct statistic naive;    /* best naive mse on the validation windows */
    struct statistic skill;    /* 1 - mse / naive, at the best step */
    struct statistic hit_rate; /* at the best step; returns only */
    struct statistic test;     /* the metric on the test part: scored once, on
                                  the best checkpoint */
    struct statistic test_mse;
    size_t n_done, n_other; /* runs; others did not end as done */
    size_t n_diverged;      /* of the others */
    size_t n_expected; /* runs of this configuration, or of that which has the
                          most in its experiment: fewer values are marked */
    size_t rank; /* from 1 in its experiment and metric; 0: without a value */
};

struct leaderboard {
    struct leaderboard_row *rows; /* best first */
    size_t n;
    struct string_list keys; /* settings that differ between rows */
    const char *metric;      /* of all runs, or "metric" when they have several;
                                borrowed from the list */
};

/* Groups the runs by configuration and ranks by the mean of the metric over
 * those that are `done`; each experiment on its own, in the order of their
 * names.  Rows without a value come last.  The list must outlive the
 * leaderboard. */
int leaderboard_make(const struct run_list *list, struct leaderboard *out,
                     struct m2_error *err);
void leaderboard_free(struct leaderboard *board);

/* The metric of a row's runs; "" when it is not known. */
const char *leaderboard_metric(const struct leaderboard_row *row);

#endif
