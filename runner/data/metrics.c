/* Errors, hit rate and correlations of forecasts. */
#include "data/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "data/target.h"
#include "util/memory.h"

double metrics_pearson(const double *a, const double *b, int64_t n)
{
    double mean_a = 0.0, mean_b = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;

    for (int64_t i = 0; i < n; i++) {
        mean_a += a[i];
        mean_b += b[i];
    }
    mean_a /= (double)n;
    mean_b /= (double)n;
    bool a_varies = false, b_varies = false;
    for (int64_t i = 0; i < n; i++) {
        double x = a[i] - mean_a, y = b[i] - mean_b;
        aa += x * x;
        bb += y * y;
        ab += x * y;
        /* The mean of equal values may differ from them by rounding. */
        a_varies = a_varies || a[i] != a[0];
        b_varies = b_varies || b[i] != b[0];
    }
    double size = sqrt(aa) * sqrt(bb);
    return a_varies && b_varies && size > 0.0 ? ab / size : 0.0;
}

struct ranked {
    double value;
    int64_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

/* Ranks from 1 on; equal values get the mean of the ranks they take up. */
static void rank(const double *values, int64_t n, struct ranked *scratch,
                 double *out)
{
    for (int64_t i = 0; i < n; i++)
        scratch[i] = (struct ranked){values[i], i};
    qsort(scratch, (size_t)n, sizeof *scratch, compare_ranked);
    for (int64_t first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && scratch[end].value == scratch[first].value)
            end++;
        for (int64_t i = first; i < end; i++)
            out[scratch[i].index] = 0.5 * (double)(first + 1 + end);
    }
}

int metrics_spearman(const double *a, const double *b, int64_t n, double *out,
                     struct m2_error *err)
{
    struct ranked *scratch = memory_zeroed((size_t)n, sizeof *scratch, err);
    double *ranks_a = memory_zeroed((size_t)n, sizeof(double), err);
    double *ranks_b = memory_zeroed((size_t)n, sizeof(double), err);
    int rc = M2_E_MEMORY;

    if (scratch != NULL && ranks_a != NULL && ranks_b != NULL) {
        rank(a, n, scratch, ranks_a);
        rank(b, n, scratch, ranks_b);
        *out = metrics_pearson(ranks_a, ranks_b, n);
        rc = M2_OK;
    }
    free(scratch);
    free(ranks_a);
    free(ranks_b);
    return rc;
}

/* Values of return targets, collected in window order. */
struct returns {
    double *pred, *truth;
    int64_t n, n_signed, n_hits;
    bool finite;
};

static void add_return(struct returns *returns, double pred, double truth)
{
    returns->pred[returns->n] = pred;
    returns->truth[returns->n++] = truth;
    returns->finite = returns->finite && isfinite(pred) && isfinite(truth);
    if (truth == 0.0)
        return;
    returns->n_signed++;
    returns->n_hits += truth > 0.0 ? pred > 0.0 : pred < 0.0;
}

static void add_window(const struct metrics_input *input, int64_t index,
                       double *truth, struct metrics *sums,
                       struct returns *returns)
{
    const struct dataset *d = input->dataset;
    const struct config_data *config = input->config;
    int64_t start = d->parts[input->part].starts[index];
    int64_t width = target_width(d, config);
    const double *pred = input->pred + index * width;

    target_true(d, config, start, truth);
    for (int64_t j = 0; j < width; j++) {
        double error = pred[j] - truth[j];
        sums->mse += error * error;
        sums->mae += fabs(error);
    }
    target_true_raw(d, config, start, truth);
    for (int64_t j = 0; j < width; j++) {
        double raw = target_unscale(d, config, start, j, pred[j]);
        sums->rmse_raw += (raw - truth[j]) * (raw - truth[j]);
        if (d->target_is_return[target_index(d, start, j)])
            add_return(returns, raw, truth[j]);
    }
}

static int finish_returns(const struct returns *returns, struct metrics *out,
                          struct m2_error *err)
{
    out->n_returns = returns->n;
    out->n_signed = returns->n_signed;
    out->has_returns = returns->n > 0;
    out->hit_rate = out->ic = out->rank_ic = NAN;
    if (!out->has_returns || !returns->finite)
        return M2_OK;
    if (returns->n_signed > 0)
        out->hit_rate = (double)returns->n_hits / (double)returns->n_signed;
    out->ic = metrics_pearson(returns->pred, returns->truth, returns->n);
    return metrics_spearman(returns->pred, returns->truth, returns->n,
                            &out->rank_ic, err);
}

static void finish_errors(double best_naive_mse, struct metrics *out)
{
    double n = (double)out->n_values;

    out->mse /= n;
    out->mae /= n;
    out->rmse_raw = sqrt(out->rmse_raw / n);
    out->skill = best_naive_mse > 0.0 ? 1.0 - out->mse / best_naive_mse : 0.0;
}

int metrics_evaluate(const struct metrics_input *input, struct metrics *out,
                     struct m2_error *err)
{
    int64_t n = input->dataset->parts[input->part].n;
    int64_t width = target_width(input->dataset, input->config);
    struct metrics sums = {.n_windows = n, .n_values = n * width};
    struct returns returns = {.finite = true};
    size_t values;
    int rc = M2_E_MEMORY;

    if (!size_multiply((size_t)n, (size_t)width, &values))
        return m2_fail(err, M2_E_MEMORY, "too many windows");
    double *truth = memory_zeroed((size_t)width, sizeof *truth, err);
    returns.pred = memory_zeroed(values, sizeof(double), err);
    returns.truth = memory_zeroed(values, sizeof(double), err);
    if (truth != NULL && returns.pred != NULL && returns.truth != NULL) {
        for (int64_t i = 0; i < n; i++)
            add_window(input, i, truth, &sums, &returns);
        finish_errors(input->best_naive_mse, &sums);
        rc = finish_returns(&returns, &sums, err);
    }
    free(truth);
    free(returns.pred);
    free(returns.truth);
    if (rc == M2_OK)
        *out = sums;
    return rc;
}
