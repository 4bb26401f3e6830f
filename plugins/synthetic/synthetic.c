/* Data plugin synthetic: the handshake and the slots. */
#include "synthetic.h"

#include <stdlib.h>

enum { BLOCK_ROWS = 4096, MAX_COLUMNS = 5, NAME_SIZE = 24 };

struct source {
    struct settings settings;
    struct m2_series_info *series; /* (instruments) */
    char (*names)[NAME_SIZE];
    struct generator *generator; /* of the current instrument, or NULL */
    int64_t instrument, row;
    struct m2_data_count count;
    int64_t times[BLOCK_ROWS];
    double values[BLOCK_ROWS * MAX_COLUMNS];
    uint8_t marks[BLOCK_ROWS]; /* always 0 */
};

static int source_close(void *handle, void *args, struct m2_error *err)
{
    struct source *source = handle;

    (void)args;
    (void)err;
    generator_free(source->generator);
    free(source->series);
    free(source->names);
    free(source);
    return M2_OK;
}

static int describe_series(struct source *source, struct m2_error *err)
{
    size_t n = (size_t)source->settings.instruments;

    source->series = calloc(n, sizeof *source->series);
    source->names = calloc(n, sizeof *source->names);
    if (source->series == NULL || source->names == NULL)
        return m2_fail(err, M2_E_MEMORY, "synthetic: out of memory");
    for (size_t i = 0; i < n; i++) {
        snprintf(source->names[i], NAME_SIZE, "S%zu", i + 1);
        source->series[i] = (struct m2_series_info){
            .name = source->names[i],
            .step_ns = source->settings.step_ns,
            .stamp = M2_STAMP_OPEN,
        };
    }
    return M2_OK;
}

static int source_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_data_open *open = args;
    struct source *source = calloc(1, sizeof *source);

    (void)handle;
    if (source == NULL)
        return m2_fail(err, M2_E_MEMORY, "synthetic: out of memory");
    int rc = M2_OK;
    if (open->n_paths > 0)
        rc = m2_fail(err, M2_E_CONFIG,
                     "data.path: the synthetic source reads no files, but "
                     "'%s' was given",
                     open->paths[0]);
    if (rc == M2_OK)
        rc = settings_read(open, &source->settings, err);
    if (rc == M2_OK)
        rc = describe_series(source, err);
    if (rc != M2_OK) {
        source_close(source, NULL, NULL);
        return rc;
    }
    source->count.what = "rows generated";
    open->handle_out = source;
    return M2_OK;
}

static int source_info(void *handle, void *args, struct m2_error *err)
{
    struct source *source = handle;
    struct m2_data_info *info = args;

    (void)err;
    info->series_out = source->series;
    info->n_series_out = (size_t)source->settings.instruments;
    info->columns_out =
        generator_columns(source->settings.kind, &info->n_columns_out);
    return M2_OK;
}

static int source_next(void *handle, void *args, struct m2_error *err)
{
    struct source *source = handle;
    struct m2_data_next *next = args;
    const struct settings *s = &source->settings;

    if (source->row == s->rows) {
        generator_free(source->generator);
        source->generator = NULL;
        source->row = 0;
        source->instrument++;
    }
    next->n_rows_out = 0;
    if (source->instrument >= s->instruments)
        return M2_OK;
    int64_t n = s->rows - source->row;
    if (n > BLOCK_ROWS)
        n = BLOCK_ROWS;
    int rc = M2_OK;
    if (source->generator == NULL)
        rc = generator_new(s, source->instrument, &source->generator, err);
    if (rc == M2_OK)
        rc = generator_next(source->generator, n, source->values, err);
    if (rc != M2_OK)
        return rc;
    for (int64_t i = 0; i < n; i++)
        source->times[i] = s->start_ns + (source->row + i) * s->step_ns;
    source->row += n;
    source->count.n += (uint64_t)n;
    next->series_out = (size_t)source->instrument;
    next->n_rows_out = (size_t)n;
    next->times_out = source->times;
    next->values_out = source->values;
    next->marks_out = source->marks;
    next->ids_out = NULL;
    return M2_OK;
}

static int source_counts(void *handle, void *args, struct m2_error *err)
{
    struct source *source = handle;
    struct m2_data_counts *counts = args;

    (void)err;
    counts->counts_out = &source->count;
    counts->n_counts_out = 1;
    return M2_OK;
}

static const struct m2_slot slots[M2_DATA_N_SLOTS] = {
    [M2_DATA_OPEN] = {source_open, sizeof(struct m2_data_open)},
    [M2_DATA_INFO] = {source_info, sizeof(struct m2_data_info)},
    [M2_DATA_NEXT] = {source_next, sizeof(struct m2_data_next)},
    [M2_DATA_COUNTS] = {source_counts, sizeof(struct m2_data_counts)},
    [M2_DATA_CLOSE] = {source_close, 0},
};

static const struct m2_plugin plugin = {
    .size = sizeof plugin,
    .abi = M2_PLUGIN_ABI,
    .kind = M2_PLUGIN_DATA,
    .name = "synthetic",
    .build = "synthetic 1, Philox4x32-10, compiler " __VERSION__,
    .numerics = 1,
    .n_slots = M2_DATA_N_SLOTS,
    .slots = slots,
    .options = synthetic_options,
    .help = "Seeded generators with known answers, for demonstrations and "
            "tests: no files are read, and data.path must be absent. The "
            "series are a pure function of the experiment's seed and these "
            "options.",
};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return &plugin;
}
