/* Collecting what `m2run data` shows. */
#include "data/report.h"

#include <math.h>
#include <stdlib.h>

#include "util/file.h"
#include "util/memory.h"

const double report_gap_bounds[REPORT_GAPS] = {1, 2, 5, 10, 60, 1440, INFINITY};

static struct report_column describe_column(const double *values, size_t n)
{
    struct report_column c = {.low = INFINITY, .high = -INFINITY};
    double sum = 0.0, squares = 0.0;

    for (size_t t = 0; t < n; t++) {
        if (!isfinite(values[t])) {
            c.missing++;
            continue;
        }
        c.n++;
        sum += values[t];
        c.low = fmin(c.low, values[t]);
        c.high = fmax(c.high, values[t]);
    }
    if (c.n == 0)
        return (struct report_column){0, c.missing, NAN, NAN, NAN, NAN};
    c.mean = sum / (double)c.n;
    for (size_t t = 0; t < n; t++)
        if (isfinite(values[t]))
            squares += (values[t] - c.mean) * (values[t] - c.mean);
    c.deviation = c.low == c.high ? 0.0 : sqrt(squares / (double)c.n);
    return c;
}

static void count_gaps(const struct store_series *series, int64_t step,
                       struct report_series *out)
{
    for (size_t t = 1; t < series->n && step > 0; t++) {
        double distance =
            (double)(series->times[t] - series->times[t - 1]) / (double)step;
        int k = 0;
        while (distance > report_gap_bounds[k])
            k++;
        out->gaps[k]++;
    }
}

static int describe_series(const struct report *report, size_t index,
                           struct report_series *out, struct m2_error *err)
{
    const struct store_series *series = &report->store.series[index];
    size_t n_columns = report->store.columns.count;

    out->columns = memory_zeroed(n_columns, sizeof *out->columns, err);
    if (out->columns == NULL)
        return M2_E_MEMORY;
    for (size_t c = 0; c < n_columns; c++)
        out->columns[c] = describe_column(series->values[c], series->n);
    int rc = store_median_step(series, &out->median_step_ns, err);
    if (rc == M2_OK)
        count_gaps(series,
                   series->step_ns > 0 ? series->step_ns : out->median_step_ns,
                   out);
    return rc;
}

static int list_files(struct report *report, const struct string_list *files,
                      struct m2_error *err)
{
    report->files = memory_zeroed(files->count, sizeof *report->files, err);
    if (report->files == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < files->count; i++) {
        struct file_facts facts;
        int rc = file_get_facts(files->items[i], M2_E_DATA, &facts, err);
        if (rc != M2_OK)
            return rc;
        report->files[i].bytes = facts.size;
        report->files[i].path = memory_string(files->items[i], err);
        if (report->files[i].path == NULL)
            return M2_E_MEMORY;
        report->n_files++;
    }
    return M2_OK;
}

static int read_source(struct report *report, const struct plugin *plugin,
                       struct m2_error *err)
{
    struct string_list files = {0};
    struct data_source source = {0};

    int rc = source_files(&report->config->data, &files, &report->facts, err);
    if (rc == M2_OK)
        rc = list_files(report, &files, err);
    if (rc == M2_OK)
        rc = source_open(plugin, report->config, &files, &source, err);
    if (rc == M2_OK)
        rc = store_read(&source, NULL, &report->store, err);
    if (rc == M2_OK)
        rc = source_counts(&source, &report->facts, err);
    if (source.plugin != NULL)
        source_close(&source);
    string_list_free(&files);
    return rc;
}

static int describe(struct report *report, struct m2_error *err)
{
    size_t n = report->store.n_series;
    int rc = M2_OK;

    report->series = memory_zeroed(n, sizeof *report->series, err);
    if (report->series == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < n && rc == M2_OK; i++)
        rc = describe_series(report, i, &report->series[i], err);
    return rc;
}

int report_make_with(const struct plugin *plugin, const struct config *config,
                     struct report *out, struct m2_error *err)
{
    struct report report = {.config = config};
    struct dataset_request request = {.config = config};

    int rc = read_source(&report, plugin, err);
    if (rc == M2_OK)
        rc = describe(&report, err);
    if (rc != M2_OK) {
        report_free(&report);
        return rc;
    }
    report.problem_code =
        dataset_load_with(plugin, &request, &report.dataset, &report.problem);
    *out = report;
    return M2_OK;
}

int report_make(const struct config *config, struct report *out,
                struct m2_error *err)
{
    const struct plugin *plugin;

    int rc = plugin_load(config->data.source, M2_PLUGIN_DATA, &plugin, err);
    return rc == M2_OK ? report_make_with(plugin, config, out, err) : rc;
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->n_files; i++)
        free(report->files[i].path);
    for (size_t i = 0; report->series != NULL && i < report->store.n_series;
         i++)
        free(report->series[i].columns);
    free(report->files);
    free(report->series);
    store_free(&report->store);
    fact_list_free(&report->facts);
    dataset_free(&report->dataset);
    *report = (struct report){0};
}
