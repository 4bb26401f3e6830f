/* Data plugin dbn: the handshake and the slots. */
#include "dbn/dbn.h"

#include <stdlib.h>

#include "common/memory.h"

static const char *const columns[N_COLUMNS] = {"open", "high", "low", "close",
                                               "volume"};

static int slot_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_data_open *open = args;
    struct settings settings;
    struct dbn_source *source = NULL;
    int status = settings_read(open, &settings, err);

    (void)handle;
    if (status != M2_OK)
        return status;
    struct input_source *inputs =
        memory_zeroed(open->n_paths, sizeof *inputs, err);
    if (inputs == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < open->n_paths; i++)
        inputs[i].path = open->paths[i];
    status = dbn_open(inputs, open->n_paths, &settings, &source, err);
    free(inputs);
    if (status == M2_OK)
        open->handle_out = source;
    return status;
}

static int slot_info(void *handle, void *args, struct m2_error *err)
{
    const struct dbn_source *source = handle;
    struct m2_data_info *info = args;

    (void)err;
    info->series_out = source->series;
    info->n_series_out = source->n_series;
    info->columns_out = columns;
    info->n_columns_out = N_COLUMNS;
    return M2_OK;
}

static int slot_next(void *handle, void *args, struct m2_error *err)
{
    return dbn_next(handle, args, err);
}

static int slot_counts(void *handle, void *args, struct m2_error *err)
{
    struct dbn_source *source = handle;

    return counts_show(&source->counts, args, err);
}

static int slot_close(void *handle, void *args, struct m2_error *err)
{
    (void)args;
    (void)err;
    dbn_close(handle);
    return M2_OK;
}

static const struct m2_slot slots[M2_DATA_N_SLOTS] = {
    [M2_DATA_OPEN] = {slot_open, sizeof(struct m2_data_open)},
    [M2_DATA_INFO] = {slot_info, sizeof(struct m2_data_info)},
    [M2_DATA_NEXT] = {slot_next, sizeof(struct m2_data_next)},
    [M2_DATA_COUNTS] = {slot_counts, sizeof(struct m2_data_counts)},
    [M2_DATA_CLOSE] = {slot_close, 0},
};

static const struct m2_plugin plugin = {
    .size = sizeof plugin,
    .abi = M2_PLUGIN_ABI,
    .kind = M2_PLUGIN_DATA,
    .name = "dbn",
    .build = "dbn 1, compiler " __VERSION__,
    .numerics = 1,
    .n_slots = M2_DATA_N_SLOTS,
    .slots = slots,
    .options = dbn_options,
    .help = "OHLCV bars in Databento Binary Encoding, versions 1 to 3, plain "
            "or zstd. Columns: open, high, low, close, volume; bars are "
            "stamped with their start. A file often holds several contracts "
            "and the spreads between them: `instrument` says which are read.",
};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return &plugin;
}
