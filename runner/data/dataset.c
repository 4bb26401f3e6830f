/* Loading a dataset: the order of the steps, and what must come out. */
#include "data/dataset.h"

#include <inttypes.h>
#include <stdlib.h>

#include "data/assemble.h"
#include "data/windows.h"

static bool was_asked_for(const struct assembly *assembly, enum part part)
{
    const struct split_bound *const bounds[N_PARTS] = {
        &assembly->config->split.train, &assembly->config->split.val,
        &assembly->config->split.test};

    switch (bounds[part]->kind) {
    case BOUND_FRACTION:
        return bounds[part]->fraction > 0.0;
    case BOUND_ROWS:
        return bounds[part]->rows > 0;
    default:
        return assembly->parts[part].n_rows > 0;
    }
}

static int check_windows(const struct assembly *assembly,
                         const int64_t longest[N_PARTS])
{
    const struct config_data *config = assembly->config;

    for (int p = 0; p < N_PARTS; p++) {
        bool needed = p == PART_TRAIN || was_asked_for(assembly, p);
        if (!needed || assembly->dataset.parts[p].n > 0)
            continue;
        if (assembly->dataset.part_rows[p] == 0 && config->split.embargo > 0)
            return m2_fail(assembly->err, M2_E_DATA,
                           "data: the %s part has no rows: data.split leaves "
                           "it none (embargo %" PRId64 ")",
                           part_names[p], config->split.embargo);
        return m2_fail(assembly->err, M2_E_DATA,
                       "data: no window in the %s part: data.window %" PRId64
                       " and data.horizon %" PRId64 " need %" PRId64
                       " rows without a gap, the longest stretch there has "
                       "%" PRId64,
                       part_names[p], config->window, config->horizon,
                       config->window + config->horizon, longest[p]);
    }
    return M2_OK;
}

static int split(struct assembly *assembly)
{
    struct dataset *d = &assembly->dataset;
    int64_t *times = NULL, n = 0;

    int rc = assemble_times(assembly, &times, &n);
    if (rc == M2_OK)
        rc = split_make(assembly->config, times, n,
                        assembly->request->all_windows, assembly->parts,
                        assembly->err);
    free(times);
    for (int p = 0; p < N_PARTS && rc == M2_OK; p++) {
        d->part_first_ns[p] = assembly->parts[p].first_ns;
        d->part_last_ns[p] = assembly->parts[p].last_ns;
        d->part_rows[p] = assembly->parts[p].n_rows;
    }
    return rc;
}

static int assemble(struct assembly *assembly, const struct plugin *plugin)
{
    int64_t longest[N_PARTS];

    int rc = assemble_rows(assembly, plugin);
    if (rc == M2_OK)
        rc = split(assembly);
    if (rc == M2_OK)
        rc = assemble_stack(assembly);
    store_free(&assembly->store);
    columns_free(&assembly->columns);
    if (rc == M2_OK)
        rc = assemble_scaling(assembly);
    if (rc != M2_OK)
        return rc;
    struct windows_input input = {
        .dataset = &assembly->dataset,
        .starts = assembly->dataset.starts,
        .parts = assembly->parts,
        .config = assembly->config,
        .all_windows = assembly->request->all_windows,
    };
    rc = windows_make(&input, &assembly->dataset, longest, assembly->err);
    if (rc == M2_OK && !assembly->request->all_windows)
        rc = check_windows(assembly, longest);
    return rc;
}

int dataset_load_with(const struct plugin *plugin,
                      const struct dataset_request *request,
                      struct dataset *out, struct m2_error *err)
{
    struct assembly assembly = {
        .request = request, .config = &request->config->data, .err = err};

    int rc = assemble(&assembly, plugin);
    assembly.dataset.facts = assembly.facts.items;
    assembly.dataset.n_facts = assembly.facts.count;
    if (rc != M2_OK) {
        dataset_free(&assembly.dataset);
        return rc;
    }
    *out = assembly.dataset;
    return M2_OK;
}

int dataset_load(const struct dataset_request *request, struct dataset *out,
                 struct m2_error *err)
{
    const struct plugin *plugin;

    int rc =
        plugin_load(request->config->data.source, M2_PLUGIN_DATA, &plugin, err);
    return rc == M2_OK ? dataset_load_with(plugin, request, out, err) : rc;
}

static void free_names(char **names, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

void dataset_free(struct dataset *d)
{
    struct fact_list facts = {d->facts, d->n_facts, d->n_facts};

    fact_list_free(&facts);
    free_names(d->feature_names, d->n_feature_names);
    free_names(d->target_names, d->n_target_names);
    for (int64_t i = 0; i < d->n_series && d->series != NULL; i++) {
        free(d->series[i].name);
        free(d->series[i].instrument);
    }
    for (int p = 0; p < N_PARTS; p++)
        free(d->parts[p].starts);
    free(d->live.starts);
    free(d->all.starts);
    free(d->series);
    free(d->transforms);
    free(d->target_is_return);
    free(d->features);
    free(d->targets);
    free(d->targets_raw);
    free(d->levels);
    free(d->times);
    free(d->starts);
    free(d->scaling.feature_shift);
    free(d->scaling.feature_spread);
    free(d->scaling.target_shift);
    free(d->scaling.target_spread);
    scaling_table_free(d->scaling_table);
    free(d->scaling_table);
    *d = (struct dataset){0};
}

int64_t dataset_series_of(const struct dataset *dataset, int64_t row)
{
    int64_t low = 0, high = dataset->n_series;

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (dataset->series[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t dataset_known_at(const struct dataset *dataset, int64_t row)
{
    const struct dataset_series *series =
        &dataset->series[dataset_series_of(dataset, row)];

    if (series->stamp == M2_STAMP_CLOSE)
        return dataset->times[row];
    return dataset->times[row] + series->step_ns;
}
