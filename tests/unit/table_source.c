/* A data plugin over a table in memory, and configs that read it. */
#include "table_source.h"

#include <stdlib.h>
#include <string.h>

/* What the plugin reads; tests run one after the other. */
static const struct table *current;

struct reader {
    size_t series, row;
    struct m2_series_info info[TABLE_MAX_SERIES];
    double block[256 * TABLE_MAX_COLUMNS];
};

static int reader_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_data_open *open = args;
    struct reader *reader = calloc(1, sizeof *reader);

    (void)handle;
    if (reader == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    for (size_t i = 0; i < current->n_series; i++) {
        reader->info[i].name = current->series[i].name;
        reader->info[i].step_ns = current->series[i].step_ns;
        reader->info[i].stamp = current->series[i].stamp;
    }
    open->handle_out = reader;
    return M2_OK;
}

static int reader_info(void *handle, void *args, struct m2_error *err)
{
    struct reader *reader = handle;
    struct m2_data_info *info = args;

    (void)err;
    info->series_out = reader->info;
    info->n_series_out = current->n_series;
    info->columns_out = current->columns;
    info->n_columns_out = current->n_columns;
    return M2_OK;
}

static int reader_next(void *handle, void *args, struct m2_error *err)
{
    struct reader *reader = handle;
    struct m2_data_next *next = args;
    size_t n, most = current->block_rows == 0 ? 7 : current->block_rows;

    (void)err;
    while (reader->series < current->n_series &&
           reader->row == current->series[reader->series].n) {
        reader->series++;
        reader->row = 0;
    }
    next->n_rows_out = 0;
    if (reader->series == current->n_series)
        return M2_OK;
    const struct table_series *series = &current->series[reader->series];
    n = series->n - reader->row < most ? series->n - reader->row : most;
    for (size_t i = 0; i < n; i++)
        memcpy(reader->block + i * current->n_columns,
               series->values[reader->row + i],
               current->n_columns * sizeof(double));
    next->series_out = reader->series;
    next->n_rows_out = n;
    next->times_out = series->times + reader->row;
    next->values_out = reader->block;
    next->marks_out = series->marks + reader->row;
    next->ids_out = series->ids[0] == NULL ? NULL : series->ids + reader->row;
    reader->row += n;
    return M2_OK;
}

static int reader_counts(void *handle, void *args, struct m2_error *err)
{
    static const struct m2_data_count counts[] = {
        {"blank lines skipped", 2, "t.csv:3", 0}, {"never seen", 0, NULL, 1}};
    struct m2_data_counts *out = args;

    (void)handle;
    (void)err;
    out->counts_out = counts;
    out->n_counts_out = 2;
    return M2_OK;
}

static int reader_close(void *handle, void *args, struct m2_error *err)
{
    (void)args;
    (void)err;
    free(handle);
    return M2_OK;
}

const struct plugin *table_source(const struct table *table)
{
    static const struct m2_slot slots[M2_DATA_N_SLOTS] = {
        [M2_DATA_OPEN] = {reader_open, sizeof(struct m2_data_open)},
        [M2_DATA_INFO] = {reader_info, sizeof(struct m2_data_info)},
        [M2_DATA_NEXT] = {reader_next, sizeof(struct m2_data_next)},
        [M2_DATA_COUNTS] = {reader_counts, sizeof(struct m2_data_counts)},
        [M2_DATA_CLOSE] = {reader_close, 0},
    };
    static const struct m2_plugin descriptor = {
        .size = sizeof descriptor,
        .abi = M2_PLUGIN_ABI,
        .kind = M2_PLUGIN_DATA,
        .name = "table",
        .build = "test",
        .n_slots = M2_DATA_N_SLOTS,
        .slots = slots,
    };
    static const struct plugin plugin = {.descriptor = &descriptor};

    current = table;
    return &plugin;
}

int64_t minutes(int64_t n)
{
    return n * INT64_C(60000000000);
}

void table_of_bars(struct table *table, size_t n)
{
    *table = (struct table){
        .n_series = 1, .n_columns = 2, .columns = {"close", "volume"}};
    table->series[0].name = "A";
    table->series[0].step_ns = minutes(1);
    table->series[0].n = n;
    for (size_t i = 0; i < n; i++) {
        table->series[0].times[i] = minutes((int64_t)i);
        table->series[0].values[i][0] = 100.0 + (double)(i * (i + 1) / 2);
        table->series[0].values[i][1] = (double)(i + 1);
    }
}

static char **copy_list(const char *const *list, size_t *n)
{
    char **copy = calloc(64, sizeof *copy);

    for (*n = 0; copy != NULL && list[*n] != NULL; ++*n)
        copy[*n] = strdup(list[*n]);
    return copy;
}

struct config test_config(const char *const *features,
                          const char *const *targets, int64_t L, int64_t H)
{
    static char source[] = "table";
    struct config config = {0};
    struct config_data *data = &config.data;

    data->source = source;
    data->features = copy_list(features, &data->n_features);
    data->targets = copy_list(targets, &data->n_targets);
    data->window = L;
    data->horizon = H;
    data->horizon_mode = M2_HORIZON_PATH;
    data->stride = 1;
    data->eval_stride = 1;
    data->max_gap = 10;
    data->split.train.fraction = 1.0;
    data->split.context = true;
    data->scale = SCALE_NONE;
    return config;
}

static void free_list(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

void test_config_free(struct config *config)
{
    free_list(config->data.features, config->data.n_features);
    free_list(config->data.targets, config->data.n_targets);
}
