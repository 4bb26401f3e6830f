/* A DBN source: open, read to the end, close. */
#include "dbn/dbn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/civil.h"
#include "common/memory.h"

/* A symbol whose instrument id changes after a longer pause than this is taken
 * for another contract of the same name (ESH9 of 2019 and of 2029). */
#define REUSE_GAP_NS (90 * NS_PER_DAY)

/* With more files than this, their bars are not counted one by one. */
enum { MAX_FILE_COUNTS = 40 };

static const struct count_kind count_kinds[N_COUNTS] = {
    [COUNT_BARS] = {"bars read", 0},
    [COUNT_OTHER_INSTRUMENTS] = {"bars of other instruments skipped", 0},
    [COUNT_OTHER_PUBLISHERS] = {"bars of other publishers skipped", 0},
    [COUNT_NOT_FRONT] = {"bars of contracts that were not the front skipped",
                         0},
    [COUNT_NO_PRICE] = {"bars with an undefined price, read as missing", 1},
    [COUNT_HIGH_BELOW_LOW] = {"bars with high below low", 1},
    [COUNT_NO_VOLUME] = {"bars with volume 0", 1},
    [COUNT_NO_NAME] = {"bars of an instrument id without a symbol", 0},
    [COUNT_FRONT_ABSENT] = {"days without a bar of the front contract", 1},
    [COUNT_TRUNCATED] = {"files that end early, accepted", 1},
    [COUNT_MAPPINGS_LEFT_OUT] = {"symbol mappings without an id or a name", 0},
    [COUNT_MAPPING_CONFLICTS] = {"instrument ids with two symbols on one day",
                                 1},
};

static void write_place(const struct dbn_file *file, uint64_t offset, char *out,
                        size_t size)
{
    snprintf(out, size, "%s: byte %" PRIu64 "%s", file->source.path, offset,
             file->zstd ? " of the decompressed stream" : "");
}

const char *source_place(const void *context, struct row_place place,
                         char out[ROW_PLACE_TEXT])
{
    const struct dbn_source *source = context;

    write_place(&source->files[place.file], place.at, out, ROW_PLACE_TEXT);
    return out;
}

const char *source_cut_note(const struct dbn_source *source)
{
    for (size_t i = 0; i < source->n_files; i++)
        if (source->files[i].truncated)
            return " before the point where a file is truncated";
    return "";
}

/* ---- open and close --------------------------------------------------- */

static int prepare_rows(struct dbn_source *source, struct m2_error *err)
{
    bool by_symbol = !source->settings.front && !source->with_ids;
    const struct rows_setup setup = {
        .series = source->series,
        .n_series = source->n_series,
        .n_columns = N_COLUMNS,
        .duplicates = source->settings.duplicates,
        .sort = source->settings.sort,
        .with_ids = source->with_ids,
        .break_gap_ns = by_symbol ? REUSE_GAP_NS : 0,
        .counts = &source->counts,
        .place_text = source_place,
        .place_context = source,
    };

    source->id_names =
        memory_zeroed(source->n_series, sizeof *source->id_names, err);
    if (source->id_names == NULL)
        return M2_E_MEMORY;
    return rows_init(&source->rows, &setup, err);
}

static int open_source(struct dbn_source *source, struct m2_error *err)
{
    int status = counts_init(&source->counts, count_kinds, N_COUNTS, err);

    if (status == M2_OK)
        status = survey_files(source, err);
    if (status == M2_OK)
        status = interval_choose(source, err);
    if (status == M2_OK)
        status = select_series(source, err);
    if (status == M2_OK)
        status = prepare_rows(source, err);
    source_reader(source, &source->reader, 0, source->interval);
    source->settings.instruments = NULL; /* what was borrowed ends here */
    source->settings.front_root = source->settings.schema = NULL;
    return status;
}

static int copy_inputs(struct dbn_source *source,
                       const struct input_source *inputs, size_t n,
                       struct m2_error *err)
{
    source->files = memory_zeroed(n, sizeof *source->files, err);
    if (source->files == NULL)
        return M2_E_MEMORY;
    source->n_files = n;
    for (size_t i = 0; i < n; i++) {
        struct dbn_file *file = &source->files[i];
        file->path = memory_string(inputs[i].path, strlen(inputs[i].path), err);
        if (file->path == NULL)
            return M2_E_MEMORY;
        file->source = inputs[i];
        file->source.path = file->path;
    }
    return M2_OK;
}

int dbn_open(const struct input_source *inputs, size_t n_inputs,
             const struct settings *settings, struct dbn_source **out,
             struct m2_error *err)
{
    if (n_inputs == 0)
        return m2_fail(err, M2_E_CONFIG,
                       "data.path: the dbn source needs a "
                       "file");
    struct dbn_source *source = memory_zeroed(1, sizeof *source, err);
    if (source == NULL)
        return M2_E_MEMORY;
    source->settings = *settings;
    int status = copy_inputs(source, inputs, n_inputs, err);
    if (status == M2_OK)
        status = open_source(source, err);
    if (status != M2_OK) {
        dbn_close(source);
        return status;
    }
    *out = source;
    return M2_OK;
}

void dbn_close(struct dbn_source *source)
{
    if (source == NULL)
        return;
    reader_free(&source->reader);
    rows_free(&source->rows);
    counts_free(&source->counts);
    front_free(&source->front);
    symbols_free(&source->symbols);
    free(source->series);
    free(source->id_names);
    for (size_t i = 0; i < source->n_files; i++)
        free(source->files[i].path);
    free(source->files);
    free(source);
}

/* ---- the end ---------------------------------------------------------- */

/* Records that were no bars of the interval: a counter per type. */
static int count_other_records(struct dbn_source *source, struct m2_error *err)
{
    const struct reader *reader = &source->reader;
    int status = M2_OK;

    for (unsigned i = 0; i < N_RTYPES && status == M2_OK; i++) {
        char name[RTYPE_TEXT], what[64], place[ROW_PLACE_TEXT];
        size_t index;
        if (reader->records[i] == 0 || i == RTYPE_SYMBOL_MAPPING)
            continue;
        snprintf(what, sizeof what, "%s records skipped",
                 rtype_text((uint8_t)i, name));
        status = counts_declare(&source->counts, what, 0, &index, err);
        if (status != M2_OK)
            break;
        source->counts.items[index].n = reader->records[i];
        write_place(&source->files[reader->first[i].file],
                    reader->first[i].offset, place, sizeof place);
        counts_place(&source->counts, index, "%s", place);
    }
    return status;
}

static int count_files(struct dbn_source *source, struct m2_error *err)
{
    int status = M2_OK;

    for (size_t i = 0; i < source->n_files && status == M2_OK; i++) {
        const struct dbn_file *file = &source->files[i];
        char what[300];
        size_t index;
        if (file->truncated && counts_hit(&source->counts, COUNT_TRUNCATED))
            counts_place(&source->counts, COUNT_TRUNCATED, "%s",
                         file->source.path);
        if (source->n_files == 1 || source->n_files > MAX_FILE_COUNTS)
            continue;
        snprintf(what, sizeof what, "bars from %.255s",
                 input_base_name(file->source.path));
        status = counts_declare(&source->counts, what, 0, &index, err);
        if (status == M2_OK)
            source->counts.items[index].n = file->bars;
    }
    return status;
}

/* An instrument or a root that was asked for by name must have bars. */
static int check_series(struct dbn_source *source, struct m2_error *err)
{
    for (size_t i = 0; i < source->n_series; i++)
        if (rows_added(&source->rows, i) == 0 &&
            (source->n_series == 1 || !source->settings.front))
            return scan_fail_listing(source, err, "%s%s: no bars of %s (%s)%s",
                                     source->files[0].source.path,
                                     source->n_files > 1 ? " and others" : "",
                                     source->series[i].name,
                                     source->interval->name,
                                     source_cut_note(source));
    return M2_OK;
}

static int finish(struct dbn_source *source, struct m2_error *err)
{
    struct m2_data_count *items = source->counts.items;

    source->ended = true;
    items[COUNT_MAPPINGS_LEFT_OUT].n = source->reader.mappings_left_out;
    items[COUNT_MAPPING_CONFLICTS].n = source->reader.mapping_conflicts;
    items[COUNT_FRONT_ABSENT].n = front_absent_days(&source->front);
    int status = count_files(source, err);
    if (status == M2_OK)
        status = count_other_records(source, err);
    return status == M2_OK ? check_series(source, err) : status;
}

int dbn_next(struct dbn_source *source, struct m2_data_next *out,
             struct m2_error *err)
{
    struct bar bar;
    int status = 0;

    while (!source->ended) {
        status = reader_next(&source->reader, &bar, err);
        if (status == 0)
            status = finish(source, err);
        else if (status == 1)
            status = bars_add(source, &bar, err);
        if (status < 0)
            return status;
        if (status == 1) {
            rows_fetch(&source->rows, out);
            return M2_OK;
        }
    }
    return rows_drain(&source->rows, out, err);
}
