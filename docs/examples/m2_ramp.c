/* A complete data plugin: one series that counts 0, 1, 2, ... A template.
 *
 *     cc -shared -fPIC -Wl,-z,defs $(pkg-config --cflags m2run-plugin) \
 *         -o m2_ramp.so m2_ramp.c
 *     m2run --plugin-dir . data experiment.yaml     # data: {source: ramp} */
#include <stdlib.h>
#include <string.h>

#include <m2_data.h>

enum { ROWS_PER_BLOCK = 1024 };

/* Everything of one open source; the plugin has no globals that change. */
struct ramp {
    int64_t rows, next_row, step_ns;
    int64_t times[ROWS_PER_BLOCK];
    double values[ROWS_PER_BLOCK];
    uint8_t marks[ROWS_PER_BLOCK];
    struct m2_series_info series;
};

static const char *const columns[] = {"value"};

static int ramp_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_data_open *open = args;
    struct ramp *ramp = calloc(1, sizeof *ramp);

    (void)handle;
    if (ramp == NULL)
        return m2_fail(err, M2_E_MEMORY, "ramp: out of memory");
    /* values come in the order of the option table, checked by the runner */
    ramp->rows = open->options[0].integer;
    ramp->step_ns = open->options[1].integer * INT64_C(1000000000);
    ramp->series = (struct m2_series_info){
        .name = "ramp", .step_ns = ramp->step_ns, .stamp = M2_STAMP_CLOSE};
    open->handle_out = ramp;
    return M2_OK;
}

static int ramp_info(void *handle, void *args, struct m2_error *err)
{
    const struct ramp *ramp = handle;
    struct m2_data_info *info = args;

    (void)err;
    info->series_out = &ramp->series;
    info->n_series_out = 1;
    info->columns_out = columns;
    info->n_columns_out = 1;
    return M2_OK;
}

static int ramp_next(void *handle, void *args, struct m2_error *err)
{
    struct ramp *ramp = handle;
    struct m2_data_next *next = args;
    size_t n = 0;

    (void)err;
    for (; n < ROWS_PER_BLOCK && ramp->next_row < ramp->rows; n++) {
        ramp->times[n] = ramp->next_row * ramp->step_ns;
        ramp->values[n] = (double)ramp->next_row++;
    }
    *next = (struct m2_data_next){
        .n_rows_out = n,
        .times_out = ramp->times,
        .values_out = ramp->values,
        .marks_out = ramp->marks,
    };
    return M2_OK;
}

static int ramp_counts(void *handle, void *args, struct m2_error *err)
{
    struct m2_data_counts *counts = args;

    (void)handle;
    (void)err;
    counts->counts_out = NULL; /* nothing is ever dropped or repaired */
    counts->n_counts_out = 0;
    return M2_OK;
}

static int ramp_close(void *handle, void *args, struct m2_error *err)
{
    (void)args;
    (void)err;
    free(handle);
    return M2_OK;
}

static const struct m2_option options[] = {
    {.name = "rows",
     .type = M2_OPTION_INT,
     .initial = "1000",
     .low = 1,
     .high = 1e9,
     .help = "Number of rows."},
    {.name = "step",
     .type = M2_OPTION_INT,
     .initial = "60",
     .low = 1,
     .high = 86400,
     .help = "Seconds between rows."},
    {.name = NULL},
};

static const struct m2_slot slots[M2_DATA_N_SLOTS] = {
    [M2_DATA_OPEN] = {ramp_open, sizeof(struct m2_data_open)},
    [M2_DATA_INFO] = {ramp_info, sizeof(struct m2_data_info)},
    [M2_DATA_NEXT] = {ramp_next, sizeof(struct m2_data_next)},
    [M2_DATA_COUNTS] = {ramp_counts, sizeof(struct m2_data_counts)},
    [M2_DATA_CLOSE] = {ramp_close, 0},
};

static const struct m2_plugin plugin = {
    .size = sizeof(struct m2_plugin),
    .abi = M2_PLUGIN_ABI,
    .kind = M2_PLUGIN_DATA,
    .name = "ramp",
    .build = "example 1",
    .numerics = 1,
    .n_slots = M2_DATA_N_SLOTS,
    .slots = slots,
    .options = options,
    .help = "Counts 0, 1, 2, ...: a template for data plugins.",
};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return &plugin;
}
