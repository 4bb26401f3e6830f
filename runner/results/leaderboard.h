/* Runs grouped by configuration: one row per set of settings, seeds apart. */
#ifndef M2_RESULTS_LEADERBOARD_H
#define M2_RESULTS_LEADERBOARD_H

#include "results/listing.h"
#include "util/text.h"

/* Mean and sample standard deviation of the values that are there. */
struct statistic {
    size_t n;
    double sum, squares;
};
void statistic_add(struct statistic *statistic, double value);
double statistic_mean(const struct statistic *statistic); /* NaN: none */
double statistic_std(const struct statistic *statistic);  /* NaN: n < 2 */

struct leaderboard_row {
    char *settings; /* canonical key: value lines without the seed */
    const struct run_entry *example; /* one of its runs */
    struct statistic metric;         /* the runs' best value of their metric */
    struct statistic val_mse;        /* at the best step */
    struct statistic naive;    /* best naive mse on the validation windows */
    struct statistic skill;    /* 1 - mse / naive, at the best step */
    struct statistic hit_rate; /* at the best step; returns only */
    struct statistic test_mse; /* test part, once, on the best checkpoint */
    size_t n_done, n_other;    /* runs; others did not end as done */
};

struct leaderboard {
    struct leaderboard_row *rows; /* best first */
    size_t n;
    struct string_list keys; /* settings that differ between rows */
    const char *metric;      /* of the first run; borrowed from it */
};

/* Groups the runs that are `done`, ranks by the mean of their metric.  The
 * list must outlive the leaderboard. */
int leaderboard_make(const struct run_list *list, struct leaderboard *out,
                     struct m2_error *err);
void leaderboard_free(struct leaderboard *board);

/* Keys of "config" that differ between the runs of a list, sorted; the seed
 * only when with_seed. */
int run_list_differing_keys(const struct run_list *list, bool with_seed,
                            struct string_list *out, struct m2_error *err);

#endif
