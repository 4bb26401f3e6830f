/* Missing values, missing bars and gaps: from rows as read to pieces. */
#include "data/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/timefmt.h"

/* The first row of a kind, for the log. */
struct first_place {
    uint64_t n;
    struct text where;
};

static void note(struct first_place *place, const struct store_series *series,
                 int64_t time)
{
    char text[TIME_TEXT_SIZE];

    if (place->n++ == 0)
        text_addf(&place->where, "%s %s", series->name, time_print(time, text));
}

static int report(struct first_place *place, struct fact_list *facts,
                  const char *what, struct m2_error *err)
{
    int rc = text_check(&place->where, err);

    if (rc == M2_OK && place->n > 0)
        rc = fact_add(
            facts,
            (struct fact){place->n, text_string(&place->where), false, err},
            "%s", what);
    text_free(&place->where);
    return rc;
}

struct repair {
    struct store *store;
    const struct config_data *config;
    const struct fact_list *facts; /* told by the source */
    struct first_place dropped, repeated, filled, gaps, breaks;
    struct m2_error *err;
};

/* The place in the files that the source tells (m2_data.h), or "". */
static const char *missing_place(const struct repair *repair)
{
    for (size_t i = 0; i < repair->facts->count; i++) {
        const struct dataset_fact *fact = &repair->facts->items[i];
        if (fact->where != NULL && strstr(fact->what, "missing") != NULL)
            return fact->where;
    }
    return "";
}

/* Index of a column that is missing in a row, or n_columns. */
static size_t missing_column(const struct store_series *series, size_t n,
                             size_t row)
{
    size_t c = 0;

    while (c < n && isfinite(series->values[c][row]))
        c++;
    return c;
}

static int fail_missing(struct repair *repair,
                        const struct store_series *series, size_t row)
{
    const struct store *store = repair->store;
    size_t n = store->columns.count, column = missing_column(series, n, row);
    uint64_t rows = 0, cells = 0;
    char time[TIME_TEXT_SIZE];
    const char *place = missing_place(repair);

    for (size_t t = row; t < series->n; t++) {
        uint64_t here = 0;
        for (size_t c = 0; c < n; c++)
            here += !isfinite(series->values[c][t]);
        rows += here > 0;
        cells += here;
    }
    return m2_fail(repair->err, M2_E_DATA,
                   "series '%s': %" PRIu64 " missing values in %" PRIu64
                   " rows, the first in column %s at %s%s%s; data.missing: "
                   "drop leaves such rows out, ffill repeats the value before",
                   series->name, cells, rows, store->columns.items[column],
                   time_print(series->times[row], time),
                   place[0] != '\0' ? "; the first in the files at " : "",
                   place);
}

/* Completes a row from an earlier, already repaired one. */
static void complete(const struct store_series *series, size_t n, size_t row,
                     size_t last)
{
    for (size_t c = 0; c < n; c++)
        if (!isfinite(series->values[c][row]))
            series->values[c][row] = series->values[c][last];
}

/* Compacts the series to the rows that stay.  A break on a row that is left
 * out moves to the next row that stays. */
static int repair_missing(struct repair *repair, struct store_series *series)
{
    size_t n = repair->store->columns.count, kept = 0;
    enum missing_policy policy = repair->config->missing;
    bool broken = false;

    for (size_t row = 0; row < series->n; row++) {
        broken = broken || series->starts[row] != 0;
        if (missing_column(series, n, row) < n) {
            if (policy == MISSING_ERROR)
                return fail_missing(repair, series, row);
            if (policy == MISSING_DROP || kept == 0 || broken) {
                note(&repair->dropped, series, series->times[row]);
                continue;
            }
            complete(series, n, row, kept - 1);
            note(&repair->repeated, series, series->times[row]);
        }
        series->times[kept] = series->times[row];
        series->starts[kept] = broken;
        for (size_t c = 0; c < n; c++)
            series->values[c][kept] = series->values[c][row];
        broken = false;
        kept++;
    }
    series->n = kept;
    return M2_OK;
}

static int compare_int64(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The step that more than half of the rows have, which is the median then, or
 * 0: the usual case, found without sorting (majority vote). */
static int64_t majority_step(const struct store_series *series)
{
    int64_t candidate = 0;
    size_t votes = 0, count = 0;

    for (size_t i = 1; i < series->n; i++) {
        int64_t step = series->times[i] - series->times[i - 1];
        if (votes == 0)
            candidate = step;
        votes = step == candidate ? votes + 1 : votes - 1;
    }
    for (size_t i = 1; i < series->n; i++)
        count += series->times[i] - series->times[i - 1] == candidate;
    return count > (series->n - 1) / 2 ? candidate : 0;
}

int store_median_step(const struct store_series *series, int64_t *out,
                      struct m2_error *err)
{
    if (series->n < 2) {
        *out = 0;
        return M2_OK;
    }
    *out = majority_step(series);
    if (*out != 0)
        return M2_OK;
    size_t n = series->n - 1;
    int64_t *steps = memory_zeroed(n, sizeof *steps, err);
    if (steps == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        steps[i] = series->times[i + 1] - series->times[i];
    qsort(steps, n, sizeof *steps, compare_int64);
    *out = steps[n / 2];
    free(steps);
    return M2_OK;
}

void store_empty_bar(const char *const *columns, size_t n, const double *last,
                     double *out)
{
    size_t close = 0;

    while (close < n && strcmp(columns[close], "close") != 0)
        close++;
    for (size_t c = 0; c < n; c++) {
        out[c] = last[c];
        if (strcmp(columns[c], "volume") == 0)
            out[c] = 0.0;
        else if (close < n && (strcmp(columns[c], "open") == 0 ||
                               strcmp(columns[c], "high") == 0 ||
                               strcmp(columns[c], "low") == 0))
            out[c] = last[close];
    }
}

/* Bars missing before row `row`, or 0 when the gap is not to be filled. */
static int64_t bars_to_fill(const struct repair *repair,
                            const struct store_series *series, size_t row)
{
    if (row == 0 || series->starts[row] || series->step_ns <= 0)
        return 0;
    int64_t distance = series->times[row] - series->times[row - 1];
    int64_t missing = (distance - 1) / series->step_ns;
    return missing <= repair->config->fill ? missing : 0;
}

static int fill_series(struct repair *repair, struct store_series *series,
                       struct store_series *filled, double *values)
{
    const struct store *store = repair->store;
    size_t n = store->columns.count;

    for (size_t row = 0; row < series->n; row++) {
        int rc = M2_OK;
        int64_t missing = bars_to_fill(repair, series, row);
        if (missing > INT32_MAX - (int64_t)filled->n)
            return m2_fail(repair->err, M2_E_DATA,
                           "series '%s': data.fill would make more than "
                           "%" PRId32 " rows of %zu",
                           series->name, INT32_MAX, series->n);
        if (missing > 0) /* values are still those of row - 1 */
            store_empty_bar((const char *const *)store->columns.items, n,
                            values, values);
        for (int64_t k = 1; k <= missing && rc == M2_OK; k++) {
            int64_t time = series->times[row - 1] + k * series->step_ns;
            note(&repair->filled, series, time);
            rc = store_append(filled, n, time, false, values, repair->err);
        }
        for (size_t c = 0; c < n; c++)
            values[c] = series->values[c][row];
        if (rc == M2_OK)
            rc = store_append(filled, n, series->times[row],
                              series->starts[row] != 0, values, repair->err);
        if (rc != M2_OK)
            return rc;
    }
    return M2_OK;
}

/* Rewrites the series with its short gaps filled. */
static int repair_fill(struct repair *repair, struct store_series *series)
{
    size_t n = repair->store->columns.count;
    struct store_series filled = {0};
    double *values = memory_zeroed(n, sizeof *values, repair->err);
    int rc = M2_E_MEMORY;

    filled.values = memory_zeroed(n, sizeof(double *), repair->err);
    if (values != NULL && filled.values != NULL)
        rc = fill_series(repair, series, &filled, values);
    free(values);
    /* The old arrays go; on failure both are freed with the store or here. */
    struct store_series old = *series;
    if (rc == M2_OK) {
        series->n = filled.n;
        series->capacity = filled.capacity;
        series->times = filled.times;
        series->starts = filled.starts;
        series->values = filled.values;
        filled = old;
    }
    for (size_t c = 0; c < n && filled.values != NULL; c++)
        free(filled.values[c]);
    free(filled.values);
    free(filled.times);
    free(filled.starts);
    return rc;
}

static void mark_pieces(struct repair *repair, struct store_series *series)
{
    double longest = repair->config->max_gap * (double)series->step_ns;

    for (size_t row = 0; row < series->n; row++) {
        if (row == 0) {
            series->starts[row] = 1;
            continue;
        }
        int64_t distance = series->times[row] - series->times[row - 1];
        if (series->starts[row]) {
            note(&repair->breaks, series, series->times[row]);
        } else if (longest > 0.0 && (double)distance > longest) {
            note(&repair->gaps, series, series->times[row]);
            series->starts[row] = 1;
        }
    }
}

/* A source that calls hourly rows minutes would have every row a gap. */
static int check_step(struct repair *repair, struct store_series *series,
                      struct fact_list *facts)
{
    int64_t median;
    char where[256];

    int rc = store_median_step(series, &median, repair->err);
    if (rc != M2_OK || median == 0)
        return rc;
    if (series->step_ns <= 0) {
        series->step_ns = median;
        return M2_OK;
    }
    if (median >= series->step_ns / 2 && median / 2 <= series->step_ns)
        return M2_OK;
    snprintf(where, sizeof where, "%.200s", series->name);
    return fact_add(facts, (struct fact){1, where, true, repair->err},
                    "series whose median step of %.9g s contradicts its "
                    "nominal step of %.9g s",
                    (double)median * 1e-9, (double)series->step_ns * 1e-9);
}

int store_repair(struct store *store, const struct config_data *config,
                 struct fact_list *facts, struct m2_error *err)
{
    struct repair repair = {
        .store = store, .config = config, .facts = facts, .err = err};
    struct {
        struct first_place *place;
        const char *what;
    } kinds[] = {
        {&repair.dropped, "rows with a missing value left out"},
        {&repair.repeated, "rows completed with the value before"},
        {&repair.filled, "missing bars filled in"},
        {&repair.gaps, "gaps beyond data.max_gap"},
        {&repair.breaks, "breaks (changes of contract)"},
    };
    int rc = M2_OK;

    for (size_t i = 0; i < store->n_series && rc == M2_OK; i++) {
        struct store_series *series = &store->series[i];
        rc = repair_missing(&repair, series);
        if (rc == M2_OK)
            rc = check_step(&repair, series, facts);
        if (rc == M2_OK && config->fill > 0)
            rc = repair_fill(&repair, series);
        if (rc == M2_OK)
            mark_pieces(&repair, series);
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int failed = rc == M2_OK
                         ? report(kinds[k].place, facts, kinds[k].what, err)
                         : M2_OK;
        if (failed != M2_OK)
            rc = failed;
        text_free(&kinds[k].place->where);
    }
    return rc;
}
