/* The numbers of a leaderboard's row. */
#include "cli/best_scores.h"

#include <math.h>
#include <string.h>

const struct best_score best_scores[N_BEST_SCORES] = {
    [BEST_N] = {"n", NULL, false, BEST_N},
    [BEST_N_EXPECTED] = {"n_expected", NULL, true, BEST_N_EXPECTED},
    [BEST_METRIC] = {"metric", NULL, false, BEST_METRIC},
    [BEST_STD] = {"std", "+/-", false, BEST_STD},
    [BEST_CI95] = {"ci95", "95 %", false, BEST_CI95},
    [BEST_VAL_MSE] = {"val_mse", "val/mse", false, BEST_METRIC},
    [BEST_NAIVE_MSE] = {"naive_mse", "naive mse", false, BEST_NAIVE_MSE},
    [BEST_SKILL] = {"skill", NULL, false, BEST_SKILL},
    [BEST_HIT_RATE] = {"hit_rate", "hit rate", false, BEST_HIT_RATE},
    [BEST_TEST] = {"test", NULL, false, BEST_TEST},
    [BEST_TEST_MSE] = {"test_mse", "test/mse", false, BEST_TEST},
    [BEST_DIVERGED] = {"diverged", NULL, true, BEST_DIVERGED},
    [BEST_NOT_DONE] = {"not_done", "not done", false, BEST_NOT_DONE},
};

double best_score(const struct leaderboard_row *row, enum best_score_id id)
{
    switch (id) {
    case BEST_N:
        return (double)row->metric.n;
    case BEST_N_EXPECTED:
        return (double)row->n_expected;
    case BEST_METRIC:
        return statistic_mean(&row->metric);
    case BEST_STD:
        return statistic_std(&row->metric);
    case BEST_CI95:
        return statistic_interval(&row->metric);
    case BEST_VAL_MSE:
        return statistic_mean(&row->val_mse);
    case BEST_NAIVE_MSE:
        return statistic_mean(&row->naive);
    case BEST_SKILL:
        return statistic_mean(&row->skill);
    case BEST_HIT_RATE:
        return statistic_mean(&row->hit_rate);
    case BEST_TEST:
        return statistic_mean(&row->test);
    case BEST_TEST_MSE:
        return statistic_mean(&row->test_mse);
    case BEST_DIVERGED:
        return (double)row->n_diverged;
    case BEST_NOT_DONE:
        return (double)row->n_other;
    case BEST_RANK:
        return row->rank > 0 ? (double)row->rank : NAN;
    case N_BEST_SCORES:
        break;
    }
    return NAN;
}

const char *best_short_key(const char *key)
{
    const char *dot = strrchr(key, '.');

    return dot != NULL ? dot + 1 : key;
}
