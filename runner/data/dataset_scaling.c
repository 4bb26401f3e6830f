/* Scaling a dataset: fitting on the training part, or a given table. */
#include "data/assemble.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* Column q of a stacked series: its features, then its targets. */
struct column {
    const char *text;
    const double *values; /* of row 0 of the stack */
    int64_t step;
};

static struct column column_of(const struct dataset *d,
                               const struct dataset_series *series, int64_t q)
{
    if (q < d->F)
        return (struct column){d->feature_names[series->channel + q],
                               d->features + q, d->F};
    q -= d->F;
    return (struct column){d->target_names[series->channel + q],
                           d->targets_raw + q, d->O};
}

/* Whether an earlier column of the series has the same text. */
static bool is_repeated(const struct dataset *d,
                        const struct dataset_series *series, int64_t q)
{
    const char *text = column_of(d, series, q).text;

    for (int64_t i = 0; i < q; i++)
        if (strcmp(column_of(d, series, i).text, text) == 0)
            return true;
    return false;
}

/* Adds the training rows of a series to a fit. */
static void add_rows(const struct assembly *assembly,
                     const struct dataset_series *series, int64_t q,
                     struct scaling_fit *fit)
{
    const struct dataset *d = &assembly->dataset;
    const struct split_part *train = &assembly->parts[PART_TRAIN];
    struct column column = column_of(d, series, q);
    int64_t first = series->first, end = first + series->n;

    /* The training part is the first one: its rows begin the series. */
    while (end > first &&
           (train->n_rows == 0 || d->times[end - 1] > train->last_ns))
        end--;
    scaling_fit_add(fit, column.values + first * column.step, end - first,
                    column.step);
}

/* Fits column q over the series [first, end) that have this text there. */
static void fit(const struct assembly *assembly, int64_t first, int64_t end,
                int64_t q, struct scaling_fit *out)
{
    const struct dataset *d = &assembly->dataset;
    const char *text = column_of(d, &d->series[first], q).text;

    scaling_fit_start(out, assembly->config->scale);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = first; i < end; i++)
            if (strcmp(column_of(d, &d->series[i], q).text, text) == 0)
                add_rows(assembly, &d->series[i], q, out);
        scaling_fit_turn(out);
    }
}

/* What is worth a warning about one column. */
struct oddities {
    uint64_t constant, without_rows;
    const char *constant_where, *without_where;
};

static int fit_column(struct assembly *assembly, int64_t i, int64_t q,
                      struct dataset_scaling_table *table, struct oddities *odd)
{
    const struct dataset *d = &assembly->dataset;
    const struct dataset_series *series = &d->series[i];
    struct scaling_fit result;
    double shift, spread;

    if (is_repeated(d, series, q))
        return M2_OK;
    fit(assembly, i, i + 1, q, &result);
    if (result.n == 0) {
        if (odd->without_rows++ == 0)
            odd->without_where = series->name;
        return M2_OK;
    }
    scaling_fit_result(&result, &shift, &spread);
    if (spread == 0.0 && odd->constant++ == 0)
        odd->constant_where = series->name;
    return scaling_table_add(table, series->instrument,
                             column_of(d, series, q).text, shift, spread,
                             assembly->err);
}

static int warn(struct assembly *assembly, const char *column,
                const struct oddities *odd)
{
    struct fact constant = {odd->constant, odd->constant_where, true,
                            assembly->err};
    struct fact without = {odd->without_rows, odd->without_where, true,
                           assembly->err};
    int rc = M2_OK;

    if (odd->constant > 0)
        rc = fact_add(&assembly->facts, constant,
                      "series in which %s does not vary in the training part: "
                      "it is scaled to 0",
                      column);
    if (rc == M2_OK && odd->without_rows > 0)
        rc = fact_add(&assembly->facts, without,
                      "series without %s in the training part: scaled like "
                      "all series together",
                      column);
    return rc;
}

/* All series of one text: with mixed channels every one, with independent
 * channels every n_channels-th, from `first` on. */
static int fit_text(struct assembly *assembly, int64_t first, int64_t step,
                    int64_t q, struct dataset_scaling_table *table)
{
    const struct dataset *d = &assembly->dataset;
    const char *text = column_of(d, &d->series[first], q).text;
    struct oddities odd = {0};
    struct scaling_fit result;
    double shift, spread;
    int rc = M2_OK;

    if (is_repeated(d, &d->series[first], q))
        return M2_OK;
    for (int64_t i = first; i < d->n_series && rc == M2_OK; i += step)
        rc = fit_column(assembly, i, q, table, &odd);
    if (rc != M2_OK)
        return rc;
    fit(assembly, first, d->n_series, q, &result);
    scaling_fit_result(&result, &shift, &spread);
    rc = scaling_table_add(table, SCALING_ALL_SERIES, text, shift, spread,
                           assembly->err);
    return rc == M2_OK ? warn(assembly, text, &odd) : rc;
}

static int fit_all(struct assembly *assembly,
                   struct dataset_scaling_table *table)
{
    const struct dataset *d = &assembly->dataset;
    int64_t channels = assembly->config->channels == CHANNELS_INDEPENDENT
                           ? d->n_feature_names
                           : 1;
    int rc = M2_OK;

    for (int64_t c = 0; c < channels && rc == M2_OK; c++)
        for (int64_t q = 0; q < d->F + d->O && rc == M2_OK; q++)
            rc = fit_text(assembly, c, channels, q, table);
    scaling_table_sort(table);
    return rc;
}

static int look_up(struct assembly *assembly, int64_t i, int64_t q,
                   double *shift, double *spread)
{
    const struct dataset *d = &assembly->dataset;
    const struct dataset_series *series = &d->series[i];
    const char *text = column_of(d, series, q).text;
    const struct scaling_entry *entry =
        scaling_table_find(d->scaling_table, series->instrument, text);

    if (entry == NULL)
        return m2_fail(assembly->err, M2_E_DATA,
                       "the checkpoint's scaling knows no column %s", text);
    *shift = entry->shift;
    *spread = entry->spread;
    return M2_OK;
}

static int look_up_all(struct assembly *assembly)
{
    struct dataset *d = &assembly->dataset;
    struct dataset_scaling *s = &d->scaling;
    size_t features = (size_t)(d->n_series * d->F);
    size_t targets = (size_t)(d->n_series * d->O);
    struct m2_error *err = assembly->err;
    int rc = M2_OK;

    s->feature_shift = memory_zeroed(features, sizeof(double), err);
    s->feature_spread = memory_zeroed(features, sizeof(double), err);
    s->target_shift = memory_zeroed(targets, sizeof(double), err);
    s->target_spread = memory_zeroed(targets, sizeof(double), err);
    if (s->feature_shift == NULL || s->feature_spread == NULL ||
        s->target_shift == NULL || s->target_spread == NULL)
        return M2_E_MEMORY;
    for (int64_t i = 0; i < d->n_series && rc == M2_OK; i++) {
        for (int64_t f = 0; f < d->F && rc == M2_OK; f++)
            rc = look_up(assembly, i, f, &s->feature_shift[i * d->F + f],
                         &s->feature_spread[i * d->F + f]);
        for (int64_t o = 0; o < d->O && rc == M2_OK; o++)
            rc = look_up(assembly, i, d->F + o, &s->target_shift[i * d->O + o],
                         &s->target_spread[i * d->O + o]);
    }
    return rc;
}

static void apply(struct dataset *d)
{
    const struct dataset_scaling *s = &d->scaling;

    for (int64_t i = 0; i < d->n_series; i++) {
        int64_t end = d->series[i].first + d->series[i].n;
        for (int64_t t = d->series[i].first; t < end; t++) {
            double *x = d->features + t * d->F, *y = d->targets + t * d->O;
            const double *raw = d->targets_raw + t * d->O;
            for (int64_t f = 0; f < d->F; f++)
                x[f] = scaling_apply(x[f], s->feature_shift[i * d->F + f],
                                     s->feature_spread[i * d->F + f]);
            for (int64_t o = 0; o < d->O; o++)
                y[o] = scaling_apply(raw[o], s->target_shift[i * d->O + o],
                                     s->target_spread[i * d->O + o]);
        }
    }
}

int assemble_scaling(struct assembly *assembly)
{
    const struct dataset_scaling_table *given = assembly->request->scaling;
    struct dataset *d = &assembly->dataset;

    d->scaling_table =
        memory_zeroed(1, sizeof *d->scaling_table, assembly->err);
    if (d->scaling_table == NULL)
        return M2_E_MEMORY;
    int rc = given != NULL
                 ? scaling_table_copy(given, d->scaling_table, assembly->err)
                 : fit_all(assembly, d->scaling_table);
    if (rc == M2_OK)
        rc = look_up_all(assembly);
    if (rc == M2_OK)
        apply(d);
    return rc;
}
