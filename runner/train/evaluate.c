/* Predictions of every window of a part, scored. */
#include "train/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/metrics.h"
#include "data/target.h"
#include "util/memory.h"

struct evaluator {
    struct session *session;
    int64_t width;
    double *predictions; /* (most windows of a scored part, width) */
    double *truth;       /* (width) */
    struct baseline_scores baselines[N_PARTS];
};

int evaluator_create(struct session *session, struct evaluator **out,
                     struct m2_error *err)
{
    struct evaluator *evaluator = memory_zeroed(1, sizeof *evaluator, err);
    const struct dataset *dataset = &session->dataset;
    const struct config_data *data = &session->config->data;
    int64_t most = 0;
    size_t n;
    int code = 0;

    if (evaluator == NULL)
        return M2_E_MEMORY;
    evaluator->session = session;
    evaluator->width = target_width(dataset, data);
    for (enum part part = PART_VAL; code == 0 && part < N_PARTS; part++) {
        if (dataset->parts[part].n == 0)
            continue;
        if (dataset->parts[part].n > most)
            most = dataset->parts[part].n;
        code = baseline_evaluate(dataset, data, part,
                                 &evaluator->baselines[part], err);
    }
    if (code == 0 && !size_multiply((size_t)most, (size_t)evaluator->width, &n))
        code = m2_fail(err, M2_E_MEMORY, "predictions: size overflow");
    if (code == 0) {
        evaluator->predictions = memory_zeroed(n, sizeof(double), err);
        evaluator->truth =
            memory_zeroed((size_t)evaluator->width, sizeof(double), err);
        code = evaluator->predictions == NULL || evaluator->truth == NULL
                   ? M2_E_MEMORY
                   : 0;
    }
    if (code != 0) {
        evaluator_free(evaluator);
        return code;
    }
    *out = evaluator;
    return 0;
}

void evaluator_free(struct evaluator *evaluator)
{
    if (evaluator == NULL)
        return;
    free(evaluator->predictions);
    free(evaluator->truth);
    free(evaluator);
}

const struct baseline_scores *
evaluator_baselines(const struct evaluator *evaluator, enum part part)
{
    return &evaluator->baselines[part];
}

bool score_find(const struct score *score, const char *name, double *out)
{
    for (size_t i = 0; i < score->n; i++)
        if (strcmp(score->items[i].name, name) == 0) {
            *out = score->items[i].value;
            return true;
        }
    return false;
}

static void add(struct score *score, const char *name, double value)
{
    score->items[score->n].name = name;
    score->items[score->n++].value = value;
}

static bool any_return(const struct dataset *dataset)
{
    for (int64_t i = 0; i < dataset->n_target_names; i++)
        if (dataset->target_is_return[i])
            return true;
    return false;
}

/* Mean Huber loss in scaled units, the formula of the huber op. */
static double huber_loss(const struct evaluator *evaluator, enum part part)
{
    const struct session *session = evaluator->session;
    const struct dataset_windows *windows = &session->dataset.parts[part];
    double delta = session->config->train.huber_delta, sum = 0;
    int64_t width = evaluator->width;

    for (int64_t i = 0; i < windows->n; i++) {
        target_true(&session->dataset, &session->config->data,
                    windows->starts[i], evaluator->truth);
        for (int64_t j = 0; j < width; j++) {
            double e = fabs(evaluator->predictions[i * width + j] -
                            evaluator->truth[j]);

            sum += e <= delta ? 0.5 * e * e : delta * (e - 0.5 * delta);
        }
    }
    return sum / (double)(windows->n * width);
}

/* The training loss on the windows of a part. */
static double loss_of(const struct evaluator *evaluator, enum part part,
                      const struct metrics *metrics)
{
    switch (evaluator->session->config->train.loss) {
    case LOSS_MSE:
        return metrics->mse;
    case LOSS_MAE:
        return metrics->mae;
    case LOSS_HUBER:
        return huber_loss(evaluator, part);
    case LOSS_CROSS_ENTROPY:
        break; /* no windows of values */
    }
    return NAN;
}

static void fill_score(const struct evaluator *evaluator,
                       const struct metrics *metrics, double loss,
                       struct score *out)
{
    *out = (struct score){0};
    add(out, "loss", loss);
    add(out, "mse", metrics->mse);
    add(out, "mae", metrics->mae);
    add(out, "rmse_raw", metrics->rmse_raw);
    add(out, "skill", metrics->skill);
    if (!any_return(&evaluator->session->dataset))
        return;
    add(out, "hit_rate", metrics->hit_rate);
    add(out, "hit_n", (double)metrics->n_signed);
    add(out, "ic", metrics->ic);
    add(out, "rank_ic", metrics->rank_ic);
}

void evaluator_names(const struct evaluator *evaluator, struct score *out)
{
    struct metrics none = {0};

    *out = (struct score){0};
    if (evaluator->session->dataset.parts[PART_VAL].n > 0)
        fill_score(evaluator, &none, NAN, out);
}

int evaluator_run(struct evaluator *evaluator, enum part part,
                  struct score *out, struct m2_error *err)
{
    struct session *session = evaluator->session;
    const struct dataset_windows *windows = &session->dataset.parts[part];
    const struct metrics_input input = {
        .dataset = &session->dataset,
        .config = &session->config->data,
        .part = part,
        .pred = evaluator->predictions,
        .best_naive_mse = evaluator->baselines[part].best_mse,
    };
    struct metrics metrics;
    int code;

    *out = (struct score){0};
    if (windows->n == 0)
        return 0;
    code = predict_windows(session->batcher, session->model, windows->starts,
                           windows->n, evaluator->predictions, err);
    if (code == 0)
        code = metrics_evaluate(&input, &metrics, err);
    if (code == 0)
        fill_score(evaluator, &metrics, loss_of(evaluator, part, &metrics),
                   out);
    return code;
}
