/* Data plugin csv: the handshake and the slots. */
#include "csv/csv.h"

#include <stdlib.h>

#include "common/memory.h"

static int slot_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_data_open *open = args;
    struct settings settings;
    struct csv_source *source = NULL;
    int status = settings_read(open->options, open->n_options, &settings, err);
    struct input_source *inputs = NULL;

    (void)handle;
    if (status == M2_OK) {
        inputs = memory_zeroed(open->n_paths, sizeof *inputs, err);
        status = inputs == NULL ? M2_E_MEMORY : M2_OK;
    }
    for (size_t i = 0; i < open->n_paths && status == M2_OK; i++)
        inputs[i].path = open->paths[i];
    if (status == M2_OK)
        status = csv_open(inputs, open->n_paths, &settings, &source, err);
    free(inputs);
    settings_free(&settings);
    if (status == M2_OK)
        open->handle_out = source;
    return status;
}

static int slot_info(void *handle, void *args, struct m2_error *err)
{
    const struct csv_source *source = handle;
    struct m2_data_info *info = args;

    (void)err;
    info->series_out = source->series;
    info->n_series_out = source->n_series;
    info->columns_out = source->columns;
    info->n_columns_out = source->n_columns;
    return M2_OK;
}

static int slot_next(void *handle, void *args, struct m2_error *err)
{
    return csv_next(handle, args, err);
}

static int slot_counts(void *handle, void *args, struct m2_error *err)
{
    struct csv_source *source = handle;

    return counts_show(&source->counts, args, err);
}

static int slot_close(void *handle, void *args, struct m2_error *err)
{
    (void)args;
    (void)err;
    csv_close(handle);
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
    .name = "csv",
    .build = "csv 1, compiler " __VERSION__,
    .numerics = 1,
    .n_slots = M2_DATA_N_SLOTS,
    .slots = slots,
    .options = csv_options,
    .help = "Text files with one row a line. Delimiter, header, encoding and "
            "the way times are written are found from the file; what could be "
            "read in two ways is refused with the option that decides.",
};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return &plugin;
}
