/* Bounds of train, val and test in time. */
#include "data/split.h"

#include <inttypes.h>
#include <math.h>

#include "util/timefmt.h"

const char *const part_names[N_PARTS] = {"train", "val", "test"};

/* Rounded down, but 0.29 of 100 rows are 29. */
static int64_t share(double fraction, int64_t n)
{
    return (int64_t)floor(fraction * (double)n + 1e-9);
}

/* First index whose time is at or after `time`. */
static int64_t first_at(const int64_t *times, int64_t n, int64_t time)
{
    int64_t low = 0, high = n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Number of rows of each part when all are fractions that add up to 1; false
 * when they are not. */
static bool whole_shares(const struct split_bound *const bounds[N_PARTS],
                         int64_t n, int64_t rows[N_PARTS])
{
    double sum = 0.0;
    int64_t left = n;

    for (int p = 0; p < N_PARTS; p++) {
        if (bounds[p]->kind != BOUND_FRACTION)
            return false;
        sum += bounds[p]->fraction;
        rows[p] = share(bounds[p]->fraction, n);
        left -= rows[p];
    }
    if (fabs(sum - 1.0) > 1e-9)
        return false;
    if (bounds[PART_VAL]->fraction > 0.0)
        rows[PART_VAL] += left;
    else if (bounds[PART_TEST]->fraction > 0.0)
        rows[PART_TEST] += left;
    else
        rows[PART_TRAIN] += left;
    return true;
}

static int64_t end_of(const struct split_bound *bound, const int64_t *times,
                      int64_t n, int64_t start)
{
    int64_t end = n;

    switch (bound->kind) {
    case BOUND_FRACTION:
        end = start + share(bound->fraction, n);
        break;
    case BOUND_ROWS:
        if (__builtin_add_overflow(start, bound->rows, &end))
            end = INT64_MAX;
        break;
    case BOUND_DATE:
        end = first_at(times, n, bound->time_ns);
        break;
    }
    return end < start ? start : end;
}

/* A date past the data cuts nothing off, which is most likely a mistake. */
static int check_bound(const struct split_bound *bound, enum part part,
                       const int64_t *times, int64_t n, int64_t end,
                       struct m2_error *err)
{
    char time[TIME_TEXT_SIZE], last[TIME_TEXT_SIZE];

    if (end > n)
        return m2_fail(err, M2_E_DATA,
                       "data.split: the parts up to %s need %" PRId64
                       " rows, the data has %" PRId64,
                       part_names[part], end, n);
    if (bound->kind == BOUND_DATE && part == PART_TRAIN && n > 0 &&
        (end == 0 || end == n))
        return m2_fail(err, M2_E_DATA,
                       "data.split.train ends %s, which is %s the data (%s)",
                       time_print(bound->time_ns, time),
                       end == 0 ? "before" : "after",
                       time_print(end == 0 ? times[0] : times[n - 1], last));
    return M2_OK;
}

int split_make(const struct config_data *config, const int64_t *times,
               int64_t n, bool lenient, struct split_part parts[N_PARTS],
               struct m2_error *err)
{
    const struct split_bound *const bounds[N_PARTS] = {
        &config->split.train, &config->split.val, &config->split.test};
    int64_t rows[N_PARTS] = {0};
    bool whole = whole_shares(bounds, n, rows);
    int64_t end = 0;

    for (int p = 0; p < N_PARTS; p++) {
        int64_t first = end;
        end = whole ? end + rows[p] : end_of(bounds[p], times, n, end);
        int rc =
            lenient ? M2_OK : check_bound(bounds[p], p, times, n, end, err);
        if (rc != M2_OK)
            return rc;
        if (end > n)
            end = n;
        if (p != PART_TRAIN)
            first += config->split.embargo;
        parts[p] = (struct split_part){0};
        if (first >= end)
            continue;
        parts[p].first_ns = times[first];
        parts[p].last_ns = times[end - 1];
        parts[p].n_rows = end - first;
    }
    return M2_OK;
}
