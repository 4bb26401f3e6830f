/* History of one instrument of a stream. */
#include "predict/stream_series.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/store.h"
#include "util/memory.h"
#include "util/timefmt.h"

/* ---- making ------------------------------------------------------------- */

static int look_up(const struct stream_setup *setup, const char *instrument,
                   const char *column, double *shift, double *spread,
                   struct m2_error *err)
{
    const struct scaling_entry *entry =
        scaling_table_find(setup->scaling, instrument, column);

    if (entry == NULL)
        return m2_fail(err, M2_E_DATA,
                       "the checkpoint's scaling knows no column %s", column);
    *shift = entry->shift;
    *spread = entry->spread;
    return 0;
}

static int allocate_channel(const struct stream_setup *setup,
                            struct stream_channel *channel,
                            struct m2_error *err)
{
    struct dataset *d = &channel->view;
    struct dataset_scaling *s = &d->scaling;
    size_t F = (size_t)d->F, O = (size_t)d->O;
    size_t rows = 2 * (size_t)setup->config->data.window;

    channel->features = memory_zeroed(rows, F * setup->model.real, err);
    channel->targets = memory_zeroed(rows, O * setup->model.real, err);
    d->levels = memory_zeroed(O, sizeof(double), err);
    s->feature_shift = memory_zeroed(F, sizeof(double), err);
    s->feature_spread = memory_zeroed(F, sizeof(double), err);
    s->target_shift = memory_zeroed(O, sizeof(double), err);
    s->target_spread = memory_zeroed(O, sizeof(double), err);
    return channel->features == NULL || channel->targets == NULL ||
                   d->levels == NULL || s->feature_shift == NULL ||
                   s->feature_spread == NULL || s->target_shift == NULL ||
                   s->target_spread == NULL
               ? M2_E_MEMORY
               : 0;
}

/* As the dataset names a stacked series. */
static char *channel_name(const struct stream_series *series, int64_t c,
                          struct m2_error *err)
{
    const struct stream_setup *setup = series->setup;
    struct text name = {0};

    text_add(&name, series->name);
    if (setup->config->data.channels == CHANNELS_INDEPENDENT)
        text_addf(&name, "/%s", setup->shape.feature_names[c]);
    return text_steal(&name, err);
}

static int make_channel(struct stream_series *series, int64_t c,
                        struct m2_error *err)
{
    const struct stream_setup *setup = series->setup;
    struct stream_channel *channel = &series->channels[c];
    struct dataset *d = &channel->view;
    int code;

    channel->series =
        (struct dataset_series){.name = channel_name(series, c, err),
                                .instrument = series->name,
                                .channel = c,
                                .n = 1,
                                .step_ns = series->step_ns,
                                .stamp = series->stamp};
    *d = setup->shape;
    d->series = &channel->series;
    d->n_series = 1;
    code = channel->series.name == NULL ? M2_E_MEMORY
                                        : allocate_channel(setup, channel, err);
    for (int64_t f = 0; code == 0 && f < d->F; f++)
        code = look_up(setup, series->name, d->feature_names[c + f],
                       &d->scaling.feature_shift[f],
                       &d->scaling.feature_spread[f], err);
    for (int64_t o = 0; code == 0 && o < d->O; o++)
        code = look_up(setup, series->name, d->target_names[c + o],
                       &d->scaling.target_shift[o],
                       &d->scaling.target_spread[o], err);
    return code;
}

static int make_rolling(struct stream_series *series, struct m2_error *err)
{
    const struct columns *parsed = &series->setup->parsed;
    size_t n = parsed->n_features + parsed->n_targets;
    const struct expression **list = memory_zeroed(n, sizeof *list, err);
    int code;

    if (list == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        list[i] = i < parsed->n_features
                      ? parsed->features[i]
                      : parsed->targets[i - parsed->n_features];
    code = rolling_create(list, n, &series->rolling, err);
    free(list);
    return code;
}

static int allocate(struct stream_series *series, struct m2_error *err)
{
    const struct stream_setup *setup = series->setup;
    const struct stream_model *model = &setup->model;
    size_t n = setup->parsed.n_features + setup->parsed.n_targets;

    series->last = memory_zeroed(setup->n_columns, sizeof(double), err);
    series->filled = memory_zeroed(setup->n_columns, sizeof(double), err);
    series->values = memory_zeroed(n, sizeof(double), err);
    series->scaled =
        memory_zeroed((size_t)(model->C * model->F), sizeof(double), err);
    series->pred =
        memory_zeroed((size_t)(model->C * model->Y), sizeof(double), err);
    series->channels =
        memory_zeroed((size_t)model->C, sizeof *series->channels, err);
    if (series->last == NULL || series->filled == NULL ||
        series->values == NULL || series->scaled == NULL ||
        series->pred == NULL || series->channels == NULL)
        return M2_E_MEMORY;
    return make_rolling(series, err);
}

int stream_series_create(struct stream_setup *setup,
                         const struct stream_series_facts *facts,
                         struct stream_series **out, struct m2_error *err)
{
    struct stream_series *series = memory_zeroed(1, sizeof *series, err);
    int code;

    if (series == NULL)
        return M2_E_MEMORY;
    series->setup = setup;
    series->step_ns = facts->step_ns;
    series->stamp = facts->stamp;
    series->seen_time = INT64_MIN;
    series->name = memory_string(facts->name, err);
    code = series->name == NULL ? M2_E_MEMORY : allocate(series, err);
    for (int64_t c = 0; code == 0 && c < setup->model.C; c++)
        code = make_channel(series, c, err);
    if (code == 0 && setup->unbounded)
        code = model_stepper_create(setup->model.model, setup->model.C,
                                    &series->stepper, err);
    if (code != 0) {
        stream_series_free(series);
        return code;
    }
    *out = series;
    return 0;
}

static void free_channel(struct stream_channel *channel)
{
    free(channel->series.name);
    free(channel->features);
    free(channel->targets);
    free(channel->view.levels);
    free(channel->view.scaling.feature_shift);
    free(channel->view.scaling.feature_spread);
    free(channel->view.scaling.target_shift);
    free(channel->view.scaling.target_spread);
}

void stream_series_free(struct stream_series *series)
{
    if (series == NULL)
        return;
    for (int64_t c = 0; series->channels != NULL && c < series->setup->model.C;
         c++)
        free_channel(&series->channels[c]);
    model_stepper_free(series->stepper);
    rolling_free(series->rolling);
    free(series->channels);
    free(series->name);
    free(series->contract);
    free(series->last);
    free(series->filled);
    free(series->values);
    free(series->scaled);
    free(series->pred);
    free(series);
}

/* ---- one row, repaired ------------------------------------------------- */

/* Writes a scaled value of the newest row into both halves of a ring. */
static void put(const struct stream_series *series, void *ring, int64_t width,
                int64_t i, double value)
{
    const struct stream_model *model = &series->setup->model;

    stream_model_put(model, ring, series->at * width + i, value);
    stream_model_put(model, ring, (series->at + model->L) * width + i, value);
}

static void push_channel(struct stream_series *series, int64_t c,
                         const double *row)
{
    const struct stream_setup *setup = series->setup;
    struct stream_channel *channel = &series->channels[c];
    const struct dataset *d = &channel->view;
    const struct dataset_scaling *s = &d->scaling;
    const double *features = series->values + c;
    const double *targets = series->values + setup->parsed.n_features + c;
    bool has_features = true, has_targets = true;

    for (int64_t f = 0; f < d->F; f++) {
        double x = scaling_apply(features[f], s->feature_shift[f],
                                 s->feature_spread[f]);

        has_features = has_features && !isnan(features[f]);
        series->scaled[c * d->F + f] = x;
        put(series, channel->features, d->F, f, x);
    }
    for (int64_t o = 0; o < d->O; o++) {
        size_t column = setup->level_columns[c + o];

        has_targets = has_targets && !isnan(targets[o]);
        put(series, channel->targets, d->O, o,
            scaling_apply(targets[o], s->target_shift[o], s->target_spread[o]));
        d->levels[o] = column == SIZE_MAX ? NAN : row[column];
    }
    channel->feature_run = has_features ? channel->feature_run + 1 : 0;
    channel->target_run = has_targets ? channel->target_run + 1 : 0;
}

/* The shortest run over the channels: what the common state goes by. */
static int64_t common_run(const struct stream_series *series)
{
    int64_t run = INT64_MAX;

    for (int64_t c = 0; c < series->setup->model.C; c++)
        if (series->channels[c].feature_run < run)
            run = series->channels[c].feature_run;
    return run;
}

/* Recurrent state starts anew where a run of whole rows does. */
static int push_state(struct stream_series *series, struct m2_error *err)
{
    int64_t run = common_run(series);
    int code = run == 1 ? model_stepper_reset(series->stepper, err) : 0;

    if (run == 0 || code != 0)
        return code;
    return stream_model_step(&series->setup->model, series->stepper,
                             series->scaled, series->pred, err);
}

static int refuse(const struct stream_series *series,
                  const struct expression *e, int64_t time,
                  struct m2_error *err)
{
    char text[TIME_TEXT_SIZE];
    struct text name = {0};
    int code;

    expression_print(e, &name);
    code = m2_fail(err, M2_E_DATA,
                   "series '%s' at %s: %s is not defined for these values; "
                   "data.missing: drop leaves such rows out",
                   series->name, time_print(time, text), text_string(&name));
    text_free(&name);
    return code;
}

static int push_values(struct stream_series *series, bool start, int64_t time,
                       const double *row, struct m2_error *err)
{
    const struct stream_model *model = &series->setup->model;
    const struct expression *refused =
        rolling_push(series->rolling, start, time, row, series->values);

    if (refused != NULL && series->setup->config->data.missing != MISSING_DROP)
        return refuse(series, refused, time, err);
    series->at = series->at + 1 < model->L ? series->at + 1 : 0;
    for (int64_t c = 0; c < model->C; c++) {
        if (start)
            series->channels[c].feature_run = series->channels[c].target_run =
                0;
        push_channel(series, c, row);
    }
    return series->stepper != NULL ? push_state(series, err) : 0;
}

/* ---- policies ----------------------------------------------------------- */

static int check_time(struct stream_series *series, int64_t time,
                      struct m2_error *err)
{
    char now[TIME_TEXT_SIZE], before[TIME_TEXT_SIZE];

    if (series->seen_time != INT64_MIN && time <= series->seen_time)
        return m2_fail(err, M2_E_DATA, "series '%s': %s does not come after %s",
                       series->name, time_print(time, now),
                       time_print(series->seen_time, before));
    series->seen_time = time;
    return 0;
}

/* A change of contract is a break.  Keeps the new one. */
static int note_contract(struct stream_series *series, const char *contract,
                         struct m2_error *err)
{
    if (contract == NULL ||
        (series->contract != NULL && strcmp(series->contract, contract) == 0))
        return 0;
    series->broken = series->broken || series->contract != NULL;
    free(series->contract);
    series->contract = memory_string(contract, err);
    return series->contract == NULL ? M2_E_MEMORY : 0;
}

/* Makes series->filled the complete row; *kept false: it is left out. */
static int complete(struct stream_series *series, const double *values,
                    bool *kept, struct m2_error *err)
{
    const struct stream_setup *setup = series->setup;
    enum missing_policy policy = setup->config->data.missing;

    *kept = true;
    for (size_t c = 0; c < setup->n_columns; c++) {
        series->filled[c] = values[c];
        if (!setup->wanted[c] || isfinite(values[c]))
            continue;
        if (policy == MISSING_ERROR)
            return m2_fail(err, M2_E_DATA,
                           "series '%s': column %s has no value; "
                           "data.missing: drop leaves such rows out, ffill "
                           "repeats the value before",
                           series->name, setup->columns[c]);
        if (policy == MISSING_DROP || !series->any || series->broken)
            *kept = false;
        else
            series->filled[c] = series->last[c];
    }
    return 0;
}

/* Bars missing before `time`, or 0 when the gap is not to be filled. */
static int fill_gap(struct stream_series *series, int64_t time,
                    struct m2_error *err)
{
    const struct stream_setup *setup = series->setup;
    int64_t step = series->step_ns, from = series->last_time;
    int64_t missing = step > 0 ? (time - from - 1) / step : 0;
    int code = 0;

    if (missing > setup->config->data.fill)
        return 0;
    for (int64_t k = 1; code == 0 && k <= missing; k++) {
        store_empty_bar(setup->columns, setup->n_columns, series->last,
                        series->last);
        series->last_time = from + k * step;
        code = push_values(series, false, series->last_time, series->last, err);
    }
    return code;
}

static bool is_gap(const struct stream_series *series, int64_t time)
{
    double longest =
        series->setup->config->data.max_gap * (double)series->step_ns;

    return longest > 0.0 && (double)(time - series->last_time) > longest;
}

int stream_series_push(struct stream_series *series,
                       const struct stream_row *row, bool *kept,
                       struct m2_error *err)
{
    bool start;
    int code = check_time(series, row->time, err);

    if (code == 0)
        code = note_contract(series, row->contract, err);
    if (code == 0)
        code = complete(series, row->values, kept, err);
    if (code != 0 || !*kept)
        return code;
    start = !series->any || series->broken;
    if (!start)
        code = fill_gap(series, row->time, err);
    start = start || is_gap(series, row->time);
    if (code == 0)
        code = push_values(series, start, row->time, series->filled, err);
    series->any = true;
    series->broken = false;
    series->last_time = row->time;
    memcpy(series->last, series->filled,
           series->setup->n_columns * sizeof(double));
    return code;
}

/* ---- predicting --------------------------------------------------------- */

bool stream_series_ready(const struct stream_series *series, int64_t c)
{
    const struct stream_channel *channel = &series->channels[c];
    int64_t L = series->setup->model.L;

    if (series->stepper != NULL)
        return common_run(series) >= L;
    return channel->feature_run >= L && channel->target_run >= L;
}

int stream_series_predict(struct stream_series *series, struct m2_error *err)
{
    struct stream_model *model = &series->setup->model;
    size_t F = (size_t)model->F * model->real;
    size_t O = (size_t)model->O * model->real;

    if (series->stepper != NULL)
        return 0; /* pred came with the row */
    for (int64_t c = 0; c < model->C; c++) {
        const struct stream_channel *channel = &series->channels[c];
        size_t oldest = (size_t)series->at + 1;

        memcpy(stream_model_features(model, c),
               (const char *)channel->features + oldest * F,
               (size_t)model->L * F);
        if (model->norm != M2_NORM_NONE)
            memcpy(stream_model_targets(model, c),
                   (const char *)channel->targets + oldest * O,
                   (size_t)model->L * O);
    }
    return stream_model_window(model, series->pred, err);
}
