/* Predicting rows as they arrive. */
#include "predict/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/target.h"
#include "predict/stream_series.h"
#include "util/memory.h"

struct stream {
    struct stream_setup setup;
    const struct stream_instruments *instruments;
    struct stream_series **series; /* by name */
    size_t n_series, capacity;
    struct stream_series *latest; /* whose row came last */
    struct forecast *forecasts;   /* (C) */
    double *levels;               /* (C, Y) */
    int64_t *target_times;        /* (steps) */
    int64_t n_steps;
};

/* ---- opening ------------------------------------------------------------- */

static char *canonical(const struct expression *e, struct m2_error *err)
{
    struct text text = {0};

    expression_print(e, &text);
    return text_steal(&text, err);
}

/* Names and transforms, as the dataset of the run has them. */
static int describe(struct stream_setup *setup, struct m2_error *err)
{
    const struct columns *parsed = &setup->parsed;
    struct dataset *shape = &setup->shape;
    size_t F = parsed->n_features, O = parsed->n_targets;
    bool independent = setup->config->data.channels == CHANNELS_INDEPENDENT;

    shape->F = independent ? 1 : (int64_t)F;
    shape->O = independent ? 1 : (int64_t)O;
    shape->feature_names = memory_zeroed(F, sizeof(char *), err);
    shape->target_names = memory_zeroed(O, sizeof(char *), err);
    shape->transforms = memory_zeroed(O, sizeof *shape->transforms, err);
    setup->level_columns = memory_zeroed(O, sizeof(size_t), err);
    if (shape->feature_names == NULL || shape->target_names == NULL ||
        shape->transforms == NULL || setup->level_columns == NULL)
        return M2_E_MEMORY;
    for (; shape->n_feature_names < (int64_t)F; shape->n_feature_names++) {
        int64_t i = shape->n_feature_names;

        shape->feature_names[i] = canonical(parsed->features[i], err);
        if (shape->feature_names[i] == NULL)
            return M2_E_MEMORY;
    }
    for (; shape->n_target_names < (int64_t)O; shape->n_target_names++) {
        int64_t i = shape->n_target_names;

        shape->target_names[i] = canonical(parsed->targets[i], err);
        if (shape->target_names[i] == NULL)
            return M2_E_MEMORY;
        shape->transforms[i] =
            expression_transform(parsed->targets[i], &setup->level_columns[i]);
    }
    return 0;
}

static int check_unbounded(const struct config *config, struct m2_error *err)
{
    if (config->data.window_norm != M2_NORM_NONE)
        return m2_fail(err, M2_E_CONFIG,
                       "predict: --unbounded has no windows, but "
                       "data.window_norm normalises each one");
    if (config->model.readout == READOUT_MEAN)
        return m2_fail(err, M2_E_CONFIG,
                       "predict: --unbounded reads the model after each row, "
                       "but model.readout: mean averages over a window");
    return 0;
}

static int set_up(const struct stream_request *request,
                  struct stream_setup *setup, struct m2_error *err)
{
    const struct config_data *data = &request->config->data;
    int code;

    setup->config = request->config;
    setup->columns = request->columns;
    setup->n_columns = request->n_columns;
    setup->scaling = &request->checkpoint->scaling;
    setup->unbounded = request->unbounded;
    code = request->unbounded ? check_unbounded(request->config, err) : 0;
    if (code == 0)
        code = columns_parse(data, request->columns, request->n_columns,
                             &setup->parsed, err);
    if (code != 0)
        return code;
    setup->wanted = memory_zeroed(request->n_columns, sizeof(bool), err);
    if (setup->wanted == NULL)
        return M2_E_MEMORY;
    columns_wanted(&setup->parsed, data, request->columns, request->n_columns,
                   setup->wanted);
    return describe(setup, err);
}

static int open_model(const struct stream_request *request,
                      struct stream *stream, struct m2_error *err)
{
    struct stream_setup *setup = &stream->setup;
    const struct stream_model_request model = {
        .config = request->config,
        .checkpoint = request->checkpoint,
        .shape = &setup->shape,
        .channels = request->config->data.channels == CHANNELS_INDEPENDENT
                        ? (int64_t)setup->parsed.n_features
                        : 1,
        .threads = request->threads,
    };
    size_t C = (size_t)model.channels, Y;
    int code = stream_model_open(&model, &setup->model, err);

    if (code != 0)
        return code;
    Y = (size_t)setup->model.Y;
    stream->n_steps = setup->model.Y / setup->model.O;
    stream->forecasts = memory_zeroed(C, sizeof *stream->forecasts, err);
    stream->levels = memory_zeroed(C * Y, sizeof(double), err);
    stream->target_times =
        memory_zeroed((size_t)stream->n_steps, sizeof(int64_t), err);
    return stream->forecasts == NULL || stream->levels == NULL ||
                   stream->target_times == NULL
               ? M2_E_MEMORY
               : 0;
}

int stream_open(const struct stream_request *request, struct stream **out,
                struct m2_error *err)
{
    struct stream *stream = memory_zeroed(1, sizeof *stream, err);
    int code;

    if (stream == NULL)
        return M2_E_MEMORY;
    stream->instruments = request->instruments;
    code = set_up(request, &stream->setup, err);
    if (code == 0)
        code = open_model(request, stream, err);
    if (code != 0) {
        stream_close(stream);
        return code;
    }
    *out = stream;
    return 0;
}

void stream_close(struct stream *stream)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->n_series; i++)
        stream_series_free(stream->series[i]);
    free(stream->series);
    free(stream->forecasts);
    free(stream->levels);
    free(stream->target_times);
    stream_model_close(&stream->setup.model);
    dataset_free(&stream->setup.shape);
    columns_free(&stream->setup.parsed);
    free(stream->setup.level_columns);
    free(stream->setup.wanted);
    free(stream);
}

const bool *stream_wanted(const struct stream *stream)
{
    return stream->setup.wanted;
}

struct lines_format stream_format(const struct stream *stream, bool json)
{
    return (struct lines_format){.json = json,
                                 .targets = stream->setup.shape.target_names,
                                 .n_targets = stream->setup.shape.O};
}

/* ---- rows -------------------------------------------------------------- */

/* Where a series of this name is, or belongs. */
static size_t place_of(const struct stream *stream, const char *name)
{
    size_t low = 0, high = stream->n_series;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(stream->series[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int add_series(struct stream *stream, const char *name, size_t at,
                      struct m2_error *err)
{
    const struct stream_instrument *known = stream->instruments->items;
    struct stream_series_facts facts = {name, known->step_ns, known->stamp};
    struct stream_series *series;
    int code;

    for (size_t i = 0; i < stream->instruments->n; i++)
        if (strcmp(known[i].name, name) == 0)
            facts = (struct stream_series_facts){name, known[i].step_ns,
                                                 known[i].stamp};
    if (array_reserve(&stream->series, &stream->capacity, stream->n_series + 1,
                      sizeof(struct stream_series *), err) != 0)
        return M2_E_MEMORY;
    code = stream_series_create(&stream->setup, &facts, &series, err);
    if (code != 0)
        return code;
    memmove(stream->series + at + 1, stream->series + at,
            (stream->n_series - at) * sizeof(struct stream_series *));
    stream->series[at] = series;
    stream->n_series++;
    return 0;
}

/* Makes the series of a row the latest one. */
static int find_series(struct stream *stream, const char *name,
                       struct m2_error *err)
{
    size_t at;
    int code = 0;

    if (name == NULL)
        name = stream->instruments->items[0].name;
    if (stream->latest != NULL && strcmp(stream->latest->name, name) == 0)
        return 0;
    at = place_of(stream, name);
    if (at == stream->n_series || strcmp(stream->series[at]->name, name) != 0)
        code = add_series(stream, name, at, err);
    if (code == 0)
        stream->latest = stream->series[at];
    return code;
}

/* Undoes scaling and transform of channel c, or says that there is nothing. */
static void finish_channel(struct stream *stream, int64_t c, bool ready)
{
    const struct config_data *data = &stream->setup.config->data;
    const struct dataset *view = &stream->latest->channels[c].view;
    int64_t Y = stream->setup.model.Y;
    double *pred = stream->latest->pred + c * Y;
    double *levels = stream->levels + c * Y;
    /* The window that ends in row 0 of the view, the newest one. */
    int64_t start = 1 - data->window;

    for (int64_t j = 0; j < Y; j++)
        pred[j] = ready ? target_unscale(view, data, start, j, pred[j]) : NAN;
    target_levels(view, data, start, pred, levels);
    stream->forecasts[c].pred = pred;
    stream->forecasts[c].pred_level = levels;
}

static void describe_answer(struct stream *stream, const struct stream_row *row)
{
    const struct stream_series *series = stream->latest;
    int64_t first =
        stream->n_steps > 1 ? 1 : stream->setup.config->data.horizon;

    for (int64_t k = 0; k < stream->n_steps; k++)
        stream->target_times[k] = row->time + (first + k) * series->step_ns;
    for (int64_t c = 0; c < stream->setup.model.C; c++) {
        struct forecast *forecast = &stream->forecasts[c];

        forecast->series = series->channels[c].series.name;
        forecast->time = row->time;
        forecast->known_at =
            row->time + (series->stamp == M2_STAMP_CLOSE ? 0 : series->step_ns);
        forecast->n_steps = stream->n_steps;
        forecast->first_step = first;
        forecast->target_times = stream->target_times;
    }
}

int stream_push(struct stream *stream, const struct stream_row *row,
                struct stream_answer *out, struct m2_error *err)
{
    struct stream_series *series;
    bool kept = false, ready = false;
    int64_t C = stream->setup.model.C;
    int code = find_series(stream, row->instrument, err);

    if (code != 0)
        return code;
    series = stream->latest;
    code = stream_series_push(series, row, &kept, err);
    for (int64_t c = 0; code == 0 && kept && c < C; c++)
        ready = ready || stream_series_ready(series, c);
    if (code == 0 && ready)
        code = stream_series_predict(series, err);
    if (code != 0)
        return code;
    for (int64_t c = 0; c < C; c++)
        finish_channel(stream, c, kept && stream_series_ready(series, c));
    describe_answer(stream, row);
    *out = (struct stream_answer){stream->forecasts, (size_t)C, ready};
    return 0;
}
