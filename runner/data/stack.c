/* From repaired rows to the stack: features, targets, levels of all series. */
#include "data/assemble.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "util/memory.h"
#include "util/timefmt.h"

/* The stack is addressed with 32 bits on the device. */
static int count_rows(struct assembly *assembly, int64_t channels)
{
    struct dataset *d = &assembly->dataset;
    int64_t total;

    for (size_t i = 0; i < assembly->store.n_series; i++) {
        size_t n = assembly->store.series[i].n;
        if (n == 0)
            continue;
        d->n_series += channels;
        if (n > INT32_MAX ||
            __builtin_mul_overflow((int64_t)n, channels, &total) ||
            (d->S += total) > INT32_MAX - 1)
            return m2_fail(assembly->err, M2_E_DATA,
                           "data: more than %" PRId32 " rows (rows of all "
                           "series%s)",
                           INT32_MAX, channels > 1 ? " times channels" : "");
    }
    return M2_OK;
}

static int allocate(struct assembly *assembly)
{
    struct dataset *d = &assembly->dataset;
    struct m2_error *err = assembly->err;
    size_t S = (size_t)d->S, features, targets;

    if (!size_multiply(S, (size_t)d->F, &features) ||
        !size_multiply(S, (size_t)d->O, &targets))
        return m2_fail(err, M2_E_MEMORY, "data: too many values");
    d->features = memory_zeroed(features, sizeof(double), err);
    d->targets = memory_zeroed(targets, sizeof(double), err);
    d->targets_raw = memory_zeroed(targets, sizeof(double), err);
    d->levels = memory_zeroed(targets, sizeof(double), err);
    d->times = memory_zeroed(S, sizeof(int64_t), err);
    d->starts = memory_zeroed(S, 1, err);
    d->series = memory_zeroed((size_t)d->n_series, sizeof *d->series, err);
    if (d->features == NULL || d->targets == NULL || d->targets_raw == NULL ||
        d->levels == NULL || d->times == NULL || d->starts == NULL ||
        d->series == NULL)
        return M2_E_MEMORY;
    return M2_OK;
}

static char *name_of(const struct expression *expression, struct m2_error *err)
{
    struct text text = {0};

    expression_print(expression, &text);
    return text_steal(&text, err);
}

/* Names, transforms and kinds of all features and targets. */
static int describe(struct assembly *assembly)
{
    struct dataset *d = &assembly->dataset;
    const struct columns *columns = &assembly->columns;
    struct m2_error *err = assembly->err;
    size_t column;

    d->feature_names = memory_zeroed(columns->n_features, sizeof(char *), err);
    d->target_names = memory_zeroed(columns->n_targets, sizeof(char *), err);
    d->transforms =
        memory_zeroed(columns->n_targets, sizeof *d->transforms, err);
    d->target_is_return = memory_zeroed(columns->n_targets, sizeof(bool), err);
    if (d->feature_names == NULL || d->target_names == NULL ||
        d->transforms == NULL || d->target_is_return == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < columns->n_features; i++) {
        d->feature_names[i] = name_of(columns->features[i], err);
        if (d->feature_names[i] == NULL)
            return M2_E_MEMORY;
        d->n_feature_names++;
    }
    for (size_t i = 0; i < columns->n_targets; i++) {
        d->target_names[i] = name_of(columns->targets[i], err);
        if (d->target_names[i] == NULL)
            return M2_E_MEMORY;
        d->n_target_names++;
        d->transforms[i] = expression_transform(columns->targets[i], &column);
        d->target_is_return[i] = expression_is_return(columns->targets[i]);
    }
    return M2_OK;
}

/* A refused value is the user's decision: see dataset_load. */
static int judge_refused(struct assembly *assembly, const char *key,
                         const struct store_series *series,
                         const struct expression_refused *refused)
{
    char time[TIME_TEXT_SIZE];
    struct text where = {0};

    if (refused->n == 0)
        return M2_OK;
    time_print(series->times[refused->row], time);
    if (assembly->config->missing != MISSING_DROP)
        return m2_fail(assembly->err, M2_E_DATA,
                       "%s: no value for %" PRIu64 " rows of series '%s', "
                       "first at %s: %s; logarithms, returns and ratios need "
                       "positive values: diff(c) and spread(a, b) do not, and "
                       "data.missing: drop leaves such rows out",
                       key, refused->n, series->name, time, refused->text);
    text_addf(&where, "%s %s: %s", series->name, time, refused->text);
    int rc = text_check(&where, assembly->err);
    if (rc == M2_OK)
        rc = fact_add(
            &assembly->facts,
            (struct fact){refused->n, text_string(&where), true, assembly->err},
            "rows without a value of %s", key);
    text_free(&where);
    return rc;
}

/* Where the values of one expression go in the stack. */
struct slot {
    const char *key;
    double *to; /* of the first row */
    int64_t step;
};

static int evaluate_into(struct assembly *assembly,
                         const struct expression *expression,
                         const struct store_series *series, struct slot slot,
                         double *scratch)
{
    struct expression_refused refused;
    struct expression_rows rows = {
        .n = series->n,
        .times = series->times,
        .starts = series->starts,
        .values = (const double *const *)series->values,
    };

    int rc = expression_evaluate(expression, &rows, scratch, &refused,
                                 assembly->err);
    if (rc == M2_OK)
        rc = judge_refused(assembly, slot.key, series, &refused);
    for (size_t t = 0; t < series->n && rc == M2_OK; t++)
        slot.to[(int64_t)t * slot.step] = scratch[t];
    return rc;
}

static void copy_levels(const struct assembly *assembly,
                        const struct expression *target,
                        const struct store_series *from, double *to)
{
    int64_t step = assembly->dataset.O;
    size_t column;

    expression_transform(target, &column);
    for (size_t t = 0; t < from->n; t++)
        to[(int64_t)t * step] =
            column == SIZE_MAX ? NAN : from->values[column][t];
}

static int fill_values(struct assembly *assembly,
                       const struct store_series *from,
                       const struct dataset_series *series, double *scratch)
{
    struct dataset *d = &assembly->dataset;
    const struct columns *columns = &assembly->columns;
    int rc = M2_OK;

    for (int64_t f = 0; f < d->F && rc == M2_OK; f++)
        rc = evaluate_into(
            assembly, columns->features[series->channel + f], from,
            (struct slot){"data.features",
                          d->features + series->first * d->F + f, d->F},
            scratch);
    for (int64_t o = 0; o < d->O && rc == M2_OK; o++) {
        const struct expression *target = columns->targets[series->channel + o];
        int64_t at = series->first * d->O + o;
        rc = evaluate_into(
            assembly, target, from,
            (struct slot){"data.target", d->targets_raw + at, d->O}, scratch);
        copy_levels(assembly, target, from, d->levels + at);
    }
    return rc;
}

static int name_series(const struct assembly *assembly,
                       const struct store_series *from,
                       struct dataset_series *series)
{
    struct text name = {0};

    series->instrument = memory_string(from->name, assembly->err);
    if (series->instrument == NULL)
        return M2_E_MEMORY;
    text_add(&name, from->name);
    if (assembly->config->channels == CHANNELS_INDEPENDENT)
        text_addf(&name, "/%s",
                  assembly->dataset.feature_names[series->channel]);
    series->name = text_steal(&name, assembly->err);
    return series->name == NULL ? M2_E_MEMORY : M2_OK;
}

static int add_series(struct assembly *assembly,
                      const struct store_series *from, int64_t channel,
                      struct dataset_series *series, double *scratch)
{
    struct dataset *d = &assembly->dataset;

    series->channel = channel;
    series->n = (int64_t)from->n;
    series->step_ns = from->step_ns;
    series->stamp = from->stamp;
    for (size_t t = 0; t < from->n; t++) {
        d->times[series->first + (int64_t)t] = from->times[t];
        d->starts[series->first + (int64_t)t] = from->starts[t];
    }
    int rc = name_series(assembly, from, series);
    return rc == M2_OK ? fill_values(assembly, from, series, scratch) : rc;
}

static int add_all(struct assembly *assembly, int64_t channels)
{
    struct dataset *d = &assembly->dataset;
    int64_t next = 0, row = 0;
    int rc = M2_OK;

    for (size_t i = 0; i < assembly->store.n_series && rc == M2_OK; i++) {
        const struct store_series *from = &assembly->store.series[i];
        if (from->n == 0)
            continue;
        double *scratch =
            memory_zeroed(from->n, sizeof *scratch, assembly->err);
        rc = scratch == NULL ? M2_E_MEMORY : M2_OK;
        for (int64_t c = 0; c < channels && rc == M2_OK; c++) {
            struct dataset_series *series = &d->series[next++];
            series->first = row;
            row += (int64_t)from->n;
            rc = add_series(assembly, from, c, series, scratch);
        }
        free(scratch);
    }
    return rc;
}

int assemble_stack(struct assembly *assembly)
{
    struct dataset *d = &assembly->dataset;
    bool independent = assembly->config->channels == CHANNELS_INDEPENDENT;
    int64_t channels = independent ? (int64_t)assembly->columns.n_features : 1;

    d->F = independent ? 1 : (int64_t)assembly->columns.n_features;
    d->O = independent ? 1 : (int64_t)assembly->columns.n_targets;
    int rc = count_rows(assembly, channels);
    if (rc == M2_OK)
        rc = allocate(assembly);
    if (rc == M2_OK)
        rc = describe(assembly);
    if (rc == M2_OK)
        rc = add_all(assembly, channels);
    return rc;
}
