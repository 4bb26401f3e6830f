/* From a data plugin to repaired rows of the columns that are needed. */
#include "data/assemble.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

static int read_store(struct assembly *assembly, struct data_source *source)
{
    const struct m2_data_info *info = &source->info;
    struct m2_error *err = assembly->err;
    struct columns columns = {0};
    bool *wanted = memory_zeroed(info->n_columns_out, sizeof *wanted, err);

    if (wanted == NULL)
        return M2_E_MEMORY;
    int rc = columns_parse(assembly->config, info->columns_out,
                           info->n_columns_out, &columns, err);
    if (rc == M2_OK) {
        columns_wanted(&columns, assembly->config, info->columns_out,
                       info->n_columns_out, wanted);
        rc = store_read(source, wanted, &assembly->store, err);
    }
    if (rc == M2_OK)
        rc = source_counts(source, &assembly->facts, err);
    columns_free(&columns);
    free(wanted);
    return rc;
}

static int check_not_empty(const struct assembly *assembly,
                           const struct string_list *files)
{
    for (size_t i = 0; i < assembly->store.n_series; i++)
        if (assembly->store.series[i].n > 0)
            return M2_OK;
    if (files->count == 0)
        return m2_fail(assembly->err, M2_E_DATA,
                       "data: the source has no rows");
    return m2_fail(assembly->err, M2_E_DATA, "data.path: no rows in %s%s",
                   files->items[0],
                   files->count > 1 ? " and the other files" : "");
}

int assemble_rows(struct assembly *assembly, const struct plugin *plugin)
{
    struct string_list files = {0};
    struct data_source source = {0};
    struct m2_error *err = assembly->err;

    int rc = source_files(assembly->config, &files, &assembly->facts, err);
    if (rc == M2_OK)
        rc = source_open(plugin, assembly->request->config, &files, &source,
                         err);
    if (rc == M2_OK)
        rc = read_store(assembly, &source);
    if (source.plugin != NULL)
        source_close(&source);
    if (rc == M2_OK)
        rc = columns_parse(assembly->config,
                           (const char *const *)assembly->store.columns.items,
                           assembly->store.columns.count, &assembly->columns,
                           err);
    if (rc == M2_OK)
        rc = store_repair(&assembly->store, assembly->config, &assembly->facts,
                          err);
    if (rc == M2_OK)
        rc = check_not_empty(assembly, &files);
    string_list_free(&files);
    return rc;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int assemble_times(const struct assembly *assembly, int64_t **out, int64_t *n)
{
    const struct store *store = &assembly->store;
    size_t total = 0, used = 0;
    bool sorted = true;

    for (size_t i = 0; i < store->n_series; i++)
        total += store->series[i].n; /* each lies in memory: no overflow */
    int64_t *times = memory_zeroed(total, sizeof *times, assembly->err);
    if (times == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < store->n_series; i++) {
        const struct store_series *series = &store->series[i];
        if (series->n == 0)
            continue;
        sorted = sorted && (used == 0 || times[used - 1] < series->times[0]);
        memcpy(times + used, series->times, series->n * sizeof *times);
        used += series->n;
    }
    if (!sorted)
        qsort(times, used, sizeof *times, compare_times);
    size_t kept = 0;
    for (size_t i = 0; i < used; i++)
        if (kept == 0 || times[i] != times[kept - 1])
            times[kept++] = times[i];
    *out = times;
    *n = (int64_t)kept;
    return M2_OK;
}
