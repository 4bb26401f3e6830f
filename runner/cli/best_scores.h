/* The numbers of a leaderboard's row, by their names. */
#ifndef M2_CLI_BEST_SCORES_H
#define M2_CLI_BEST_SCORES_H

#include "results/leaderboard.h"

enum best_score_id {
    BEST_N,
    BEST_N_EXPECTED,
    BEST_METRIC,
    BEST_STD,
    BEST_CI95,
    BEST_VAL_MSE,
    BEST_NAIVE_MSE,
    BEST_SKILL,
    BEST_HIT_RATE,
    BEST_TEST,
    BEST_TEST_MSE,
    BEST_DIVERGED,
    BEST_NOT_DONE,
    N_BEST_SCORES, /* and what is not among the columns of scores: */
    BEST_RANK,
};

/* In the order of their columns. */
struct best_score {
    const char *key, *title; /* title NULL: the key */
    bool only_data;          /* not for people */
    /* For people it is left out where it repeats this one; itself: never. */
    enum best_score_id shadow;
};
extern const struct best_score best_scores[N_BEST_SCORES];

/* NaN: there is none. */
double best_score(const struct leaderboard_row *row, enum best_score_id id);

/* Last part of a key: "train.optimizer.lr" -> "lr". */
const char *best_short_key(const char *key);

#endif
