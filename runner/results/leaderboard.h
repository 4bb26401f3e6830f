/* Runs grouped by configuration: one row per set of settings, seeds apart. */
#ifndef M2_RESULTS_LEADERBOARD_H
#define M2_RESULTS_LEADERBOARD_H

#include "results/listing.h"
#include "util/text.h"

/* Mean and sample standard deviation of the values that are there. */
struct statistic {
    size_t n;
    double mean, squares; /* squares: of the distances from the mean */
};
void statistic_add(struct statistic *statistic, double value);
double statistic_mean(const struct statistic *statistic); /* NaN: none */
double statistic_std(const struct statistic *statistic);  /* NaN: n < 2 */

struct leaderboard_row {
    char *settings; /* experiment, key: value lines without the seed and
                       without keys that change no result, data */
    const struct run_entry *example; /* one of its runs */
    struct statistic metric;         /* the runs' best value of their metric */
    struct statistic val_mse;        /* at the best step */
    struct statistic naive;    /* best naive mse on the validation windows */
    struct statistic skill;    /* 1 - mse / naive, at the best step */
    struct statistic hit_rate; /* at the best step; returns only */
    struct statistic test_mse; /* test part, once, on the best checkpoint */
    size_t n_done, n_other;    /* runs; others did not end as done */
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

/* Keys of "config" that differ between the runs of a list and change results,
 * in the order in which they are met; the seed only when with_seed. */
int run_list_differing_keys(const struct run_list *list, bool with_seed,
                            struct string_list *out, struct m2_error *err);

#endif
