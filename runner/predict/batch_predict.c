/* Predictions of a list of windows, as text. */
#include "predict/batch_predict.h"

#include <math.h>
#include <stdlib.h>

#include "data/target.h"
#include "util/memory.h"

/* Text is handed on from this many bytes on. */
enum { BLOCK_BYTES = 1 << 16 };

struct batch {
    const struct batch_predict_request *request;
    const struct dataset *dataset;
    const struct config_data *config;
    struct lines_format format;
    int64_t width, n_steps, size; /* size: windows of a batch */
    double *pred;                 /* (size, width) */
    double *values;               /* (3, width): true, its and pred's levels */
    int64_t *target_times;        /* (n_steps) */
    struct text text;
};

static int hand_on(struct batch *batch, struct m2_error *err)
{
    int code = text_check(&batch->text, err);

    if (code == 0)
        code =
            batch->request->write(batch->request->context, &batch->text, err);
    text_clear(&batch->text);
    return code;
}

/* Time of row `row`, which may lie beyond the end of the series. */
static int64_t time_of(const struct dataset *dataset,
                       const struct dataset_series *series, int64_t row)
{
    int64_t last = series->first + series->n - 1;

    if (row <= last)
        return dataset->times[row];
    return dataset->times[last] + (row - last) * series->step_ns;
}

static void add_window(struct batch *batch, int64_t start, double *pred)
{
    const struct dataset *d = batch->dataset;
    const struct dataset_series *series =
        &d->series[dataset_series_of(d, start)];
    int64_t last = start + batch->config->window - 1, width = batch->width;
    int64_t first = batch->n_steps > 1 ? 1 : batch->config->horizon;
    double *truth = batch->values, *truth_level = truth + width,
           *pred_level = truth_level + width;
    const struct forecast forecast = {
        .series = series->name,
        .time = d->times[last],
        .known_at = dataset_known_at(d, last),
        .n_steps = batch->n_steps,
        .first_step = first,
        .target_times = batch->target_times,
        .pred = pred,
        .pred_level = pred_level,
        .truth = truth,
        .truth_level = truth_level,
    };

    for (int64_t j = 0; j < width; j++) {
        pred[j] = target_unscale(d, batch->config, start, j, pred[j]);
        truth[j] = target_true_raw_at(d, batch->config, start, j);
    }
    target_levels(d, batch->config, start, pred, pred_level);
    target_true_levels(d, batch->config, start, truth, truth_level);
    for (int64_t k = 0; k < batch->n_steps; k++)
        batch->target_times[k] = time_of(d, series, last + first + k);
    lines_add(&batch->format, &forecast, &batch->text);
}

static int predict_list(struct batch *batch,
                        const struct dataset_windows *windows,
                        struct m2_error *err)
{
    struct session *session = batch->request->session;
    int code = 0;

    for (int64_t i = 0; code == 0 && i < windows->n; i += batch->size) {
        int64_t b = windows->n - i < batch->size ? windows->n - i : batch->size;

        code = predict_windows(session->batcher, session->model,
                               windows->starts + i, b, batch->pred, err);
        for (int64_t w = 0; code == 0 && w < b; w++)
            add_window(batch, windows->starts[i + w],
                       batch->pred + w * batch->width);
        if (code == 0 && batch->text.length >= BLOCK_BYTES)
            code = hand_on(batch, err);
    }
    return code;
}

static int predict_choice(struct batch *batch, struct m2_error *err)
{
    static const char *const names[] = {"in the train part", "in the val part",
                                        "in the test part", "in the data",
                                        "at the end of the data"};
    const struct dataset *d = batch->dataset;
    enum window_choice choice = batch->request->windows;
    const struct dataset_windows *lists[2] = {NULL, NULL};
    int64_t n = 0;
    int code;

    if (choice <= WINDOWS_TEST)
        lists[0] = &d->parts[choice];
    if (choice == WINDOWS_ALL)
        lists[0] = &d->all;
    if (choice >= WINDOWS_ALL)
        lists[1] = &d->live;
    for (int i = 0; i < 2; i++)
        n += lists[i] != NULL ? lists[i]->n : 0;
    if (n == 0)
        return m2_fail(
            err, M2_E_DATA,
            "predict: no window %s: one needs %lld rows without a "
            "gap",
            names[choice],
            (long long)(batch->config->window +
                        (choice < WINDOWS_ALL ? batch->config->horizon : 0)));
    lines_header(&batch->format, &batch->text);
    code = hand_on(batch, err);
    for (int i = 0; code == 0 && i < 2; i++)
        if (lists[i] != NULL)
            code = predict_list(batch, lists[i], err);
    return code != 0 ? code : hand_on(batch, err);
}

static int allocate(struct batch *batch, struct m2_error *err)
{
    size_t width = (size_t)batch->width;

    batch->pred =
        memory_zeroed((size_t)batch->size, width * sizeof(double), err);
    batch->values = memory_zeroed(3 * width, sizeof(double), err);
    batch->target_times =
        memory_zeroed((size_t)batch->n_steps, sizeof(int64_t), err);
    return batch->pred == NULL || batch->values == NULL ||
                   batch->target_times == NULL
               ? M2_E_MEMORY
               : 0;
}

int batch_predict(const struct batch_predict_request *request,
                  struct m2_error *err)
{
    const struct session *session = request->session;
    const struct dataset *d = &session->dataset;
    struct batch batch = {
        .request = request,
        .dataset = d,
        .config = &session->config->data,
        .format = {request->json, true, d->target_names, d->O},
        .width = target_width(d, &session->config->data),
        .size = session->config->train.batch_size,
    };
    int code;

    batch.n_steps = batch.width / d->O;
    code = allocate(&batch, err);
    if (code == 0)
        code = predict_choice(&batch, err);
    free(batch.pred);
    free(batch.values);
    free(batch.target_times);
    text_free(&batch.text);
    return code;
}

enum window_choice windows_default(const struct dataset *dataset)
{
    if (dataset->parts[PART_TEST].n > 0)
        return WINDOWS_TEST;
    return dataset->parts[PART_VAL].n > 0 ? WINDOWS_VAL : WINDOWS_TRAIN;
}
