/* Cutting windows. */
#include "data/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

struct list {
    int32_t *starts;
    size_t n, capacity;
};

struct cutter {
    const struct windows_input *in;
    int64_t L, H;
    int32_t *feature_run; /* (S) rows of one piece that end here and have all
                             features */
    int32_t *target_run;
    struct m2_error *err;
};

static bool all_defined(const double *row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(row[i]))
            return false;
    return true;
}

static void count_runs(struct cutter *cutter)
{
    const struct windows_input *in = cutter->in;
    const struct dataset *d = in->dataset;
    int32_t features = 0, targets = 0;

    for (int64_t t = 0; t < d->S; t++) {
        if (in->starts[t])
            features = targets = 0;
        features = all_defined(d->features + t * d->F, d->F) ? features + 1 : 0;
        targets = all_defined(d->targets + t * d->O, d->O) ? targets + 1 : 0;
        cutter->feature_run[t] = features;
        cutter->target_run[t] = targets;
    }
}

static bool is_whole(const struct cutter *cutter, int64_t s)
{
    int64_t last = s + cutter->L + cutter->H - 1;

    return cutter->feature_run[s + cutter->L - 1] >= cutter->L &&
           cutter->target_run[last] >= cutter->L + cutter->H;
}

static int add(struct cutter *cutter, struct list *list, int64_t start)
{
    if (array_reserve(&list->starts, &list->capacity, list->n + 1,
                      sizeof *list->starts, cutter->err) != 0)
        return M2_E_MEMORY;
    list->starts[list->n++] = (int32_t)start;
    return M2_OK;
}

/* Adds the whole starts from `first` on whose last row is before `end`. */
static int add_range(struct cutter *cutter, struct list *list, int64_t first,
                     int64_t end, int64_t stride)
{
    int64_t run = 0;

    for (int64_t s = first; s + cutter->L + cutter->H <= end; s++) {
        if (!is_whole(cutter, s)) {
            run = 0;
            continue;
        }
        if (run++ % stride == 0 && add(cutter, list, s) != M2_OK)
            return M2_E_MEMORY;
    }
    return M2_OK;
}

/* First row of [first, end) whose time is not before `time`. */
static int64_t row_at(const struct dataset *d, int64_t first, int64_t end,
                      int64_t time)
{
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (d->times[middle] < time)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static void part_rows(const struct cutter *cutter,
                      const struct dataset_series *series, enum part part,
                      int64_t *first, int64_t *end)
{
    const struct split_part *p = &cutter->in->parts[part];
    int64_t last = series->first + series->n;

    *first = *end = series->first;
    if (p->n_rows == 0)
        return;
    *first = row_at(cutter->in->dataset, series->first, last, p->first_ns);
    *end = p->last_ns == INT64_MAX
               ? last
               : row_at(cutter->in->dataset, *first, last, p->last_ns + 1);
}

static int cut_part(struct cutter *cutter, enum part part, struct list *list,
                    int64_t *longest)
{
    const struct windows_input *in = cutter->in;
    const struct dataset *d = in->dataset;
    int64_t stride = part == PART_TRAIN && !in->all_windows
                         ? in->config->stride
                         : in->config->eval_stride;

    *longest = 0;
    for (int64_t i = 0; i < d->n_series; i++) {
        const struct dataset_series *series = &d->series[i];
        int64_t first, end;
        part_rows(cutter, series, part, &first, &end);
        if (in->config->split.context && part != PART_TRAIN && first < end) {
            first -= cutter->L;
            if (first < series->first)
                first = series->first;
        }
        for (int64_t t = first; t < end; t++) {
            int64_t run = cutter->target_run[t];
            run = run < t - first + 1 ? run : t - first + 1;
            *longest = run > *longest ? run : *longest;
        }
        if (add_range(cutter, list, first, end, stride) != M2_OK)
            return M2_E_MEMORY;
    }
    return M2_OK;
}

static int cut_all(struct cutter *cutter, struct list *list)
{
    const struct dataset *d = cutter->in->dataset;

    for (int64_t i = 0; i < d->n_series; i++)
        if (add_range(cutter, list, d->series[i].first,
                      d->series[i].first + d->series[i].n,
                      cutter->in->config->eval_stride) != M2_OK)
            return M2_E_MEMORY;
    return M2_OK;
}

/* Windows at the end of each series whose targets lie, at least in part,
 * beyond it. */
static int cut_live(struct cutter *cutter, struct list *list)
{
    const struct windows_input *in = cutter->in;
    const struct dataset *d = in->dataset;
    int64_t L = cutter->L;

    for (int64_t i = 0; i < d->n_series; i++) {
        int64_t first = d->series[i].first, end = first + d->series[i].n;
        int64_t s = end;
        /* The last piece alone goes on past the end. */
        while (s > first && !in->starts[s - 1])
            s--;
        s = s > first ? s - 1 : first;
        if (s < end - L - cutter->H + 1)
            s = end - L - cutter->H + 1;
        for (; s + L <= end; s++)
            if (cutter->feature_run[s + L - 1] >= L &&
                cutter->target_run[s + L - 1] >= L &&
                add(cutter, list, s) != M2_OK)
                return M2_E_MEMORY;
    }
    return M2_OK;
}

struct key {
    int64_t time;
    int32_t start;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* Hands the list over in its order: series lie in the stack one after the
 * other, so equal times are decided by the start. */
static int finish(struct cutter *cutter, struct list *list,
                  struct dataset_windows *out)
{
    const struct dataset *d = cutter->in->dataset;

    if (d->n_series > 1 && list->n > 1) {
        struct key *keys = memory_zeroed(list->n, sizeof *keys, cutter->err);
        if (keys == NULL)
            return M2_E_MEMORY;
        for (size_t i = 0; i < list->n; i++)
            keys[i] = (struct key){d->times[list->starts[i] + cutter->L - 1],
                                   list->starts[i]};
        qsort(keys, list->n, sizeof *keys, compare_keys);
        for (size_t i = 0; i < list->n; i++)
            list->starts[i] = keys[i].start;
        free(keys);
    }
    out->starts = list->starts;
    out->n = (int64_t)list->n;
    *list = (struct list){0};
    return M2_OK;
}

static int cut(struct cutter *cutter, struct dataset *dataset,
               int64_t longest[N_PARTS])
{
    struct list list = {0};
    int rc = M2_OK;

    for (int p = 0; p < N_PARTS && rc == M2_OK; p++) {
        rc = cut_part(cutter, p, &list, &longest[p]);
        if (rc == M2_OK)
            rc = finish(cutter, &list, &dataset->parts[p]);
    }
    if (rc == M2_OK && cutter->in->all_windows) {
        rc = cut_all(cutter, &list);
        if (rc == M2_OK)
            rc = finish(cutter, &list, &dataset->all);
    }
    if (rc == M2_OK)
        rc = cut_live(cutter, &list);
    if (rc == M2_OK)
        rc = finish(cutter, &list, &dataset->live);
    free(list.starts);
    return rc;
}

int windows_make(const struct windows_input *input, struct dataset *dataset,
                 int64_t longest[N_PARTS], struct m2_error *err)
{
    struct cutter cutter = {.in = input,
                            .L = input->config->window,
                            .H = input->config->horizon,
                            .err = err};
    size_t S = (size_t)dataset->S;
    int rc = M2_E_MEMORY;

    cutter.feature_run = memory_zeroed(S, sizeof(int32_t), err);
    cutter.target_run = memory_zeroed(S, sizeof(int32_t), err);
    if (cutter.feature_run != NULL && cutter.target_run != NULL) {
        count_runs(&cutter);
        rc = cut(&cutter, dataset, longest);
    }
    free(cutter.feature_run);
    free(cutter.target_run);
    return rc;
}
