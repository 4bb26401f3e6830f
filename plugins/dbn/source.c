/* A DBN source: bars to rows. */
#include "dbn/dbn.h"

#include <inttypes.h>
#include <math.h>
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

static const char *place_text(const void *context, struct row_place place,
                              char out[ROW_PLACE_TEXT])
{
    const struct dbn_source *source = context;

    write_place(&source->files[place.file], place.at, out, ROW_PLACE_TEXT);
    return out;
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
        .place_text = place_text,
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

/* ---- bars to rows ----------------------------------------------------- */

static void hit(struct dbn_source *source, enum dbn_count count,
                const struct bar *bar)
{
    char place[ROW_PLACE_TEXT];
    const struct row_place at = {bar->offset, (uint32_t)source->reader.file};

    if (counts_hit(&source->counts, count))
        counts_place(&source->counts, count, "%s",
                     place_text(source, at, place));
}

/* 1 when the bar's contract leads on its day; the long way. */
static int ask_front(struct dbn_source *source, const struct bar *bar,
                     int64_t day, struct m2_error *err)
{
    uint32_t root = source->symbols.items[bar->symbol].root;
    enum front_answer answer;
    char time[CIVIL_TEXT], place[ROW_PLACE_TEXT];
    int status = front_ask(&source->front, &source->symbols, bar->symbol, day,
                           &answer, err);

    if (status == M2_OK && answer == FRONT_UNKNOWN) {
        status = scan_first_day(source, root, day, source->reader.file, err);
        if (status == M2_OK)
            status = front_ask(&source->front, &source->symbols, bar->symbol,
                               day, &answer, err);
    }
    if (status != M2_OK)
        return status;
    if (answer != FRONT_PAST)
        return answer == FRONT_YES;
    const struct row_place at = {bar->offset, (uint32_t)source->reader.file};
    return m2_fail(err, M2_E_DATA,
                   "%s: out of order: a bar of %s after later days; "
                   "`instrument: front` needs the days in order",
                   place_text(source, at, place), civil_text(bar->time, time));
}

/* 1 when the bar is the front's of its day.  The answer is kept with the
 * contract until its next day. */
static int is_front(struct dbn_source *source, const struct bar *bar,
                    struct m2_error *err)
{
    int64_t day = civil_day_of(bar->time);
    int leads = source->symbols.items[bar->symbol].leads;

    if (source->symbols.items[bar->symbol].day != day) {
        leads = ask_front(source, bar, day, err);
        if (leads < 0)
            return leads;
        if (source->symbols.items[bar->symbol].day < day)
            source->symbols.items[bar->symbol].leads = leads == 1;
    }
    front_add_volume(&source->symbols, bar->symbol, day, bar_volume(bar));
    if (leads == 0)
        hit(source, COUNT_NOT_FRONT, bar);
    return leads;
}

/* 1 when the bar belongs to one of the series. */
static int is_selected(struct dbn_source *source, const struct bar *bar,
                       struct m2_error *err)
{
    struct symbol *symbol = &source->symbols.items[bar->symbol];
    int64_t publisher = source->settings.publisher;

    if (symbol->series == NO_SERIES) {
        if (source->only_series)
            return scan_fail_listing(source, err,
                                     "%s: several instruments: choose with "
                                     "`instrument`",
                                     source->reader.stream.path);
        hit(source, COUNT_OTHER_INSTRUMENTS, bar);
        return 0;
    }
    if (publisher >= 0 && bar->publisher != publisher) {
        hit(source, COUNT_OTHER_PUBLISHERS, bar);
        return 0;
    }
    if (!symbol->has_publisher) {
        symbol->has_publisher = true;
        symbol->publisher = bar->publisher;
    } else if (symbol->publisher != bar->publisher) {
        return scan_fail_publishers(source, bar->symbol, err);
    }
    return source->settings.front ? is_front(source, bar, err) : 1;
}

/* Prices are whole units of 1e-9; below 9.0e6 the double is the nearest. */
static double price_value(int64_t price)
{
    return price == DBN_NO_PRICE ? NAN : (double)price / 1e9;
}

static void convert(struct dbn_source *source, const struct bar *bar,
                    double values[N_COLUMNS])
{
    int64_t open = bar_price(bar, 0), high = bar_price(bar, 1);
    int64_t low = bar_price(bar, 2), close = bar_price(bar, 3);
    uint64_t volume = bar_volume(bar);

    values[0] = price_value(open);
    values[1] = price_value(high);
    values[2] = price_value(low);
    values[3] = price_value(close);
    values[4] = (double)volume;
    if (open == DBN_NO_PRICE || high == DBN_NO_PRICE || low == DBN_NO_PRICE ||
        close == DBN_NO_PRICE)
        hit(source, COUNT_NO_PRICE, bar);
    else if (high < low)
        hit(source, COUNT_HIGH_BELOW_LOW, bar);
    if (volume == 0)
        hit(source, COUNT_NO_VOLUME, bar);
}

/* What tells the contract of a row: the symbol of a front, the instrument id
 * of a continuous symbol. */
static int name_contract(struct dbn_source *source, const struct bar *bar,
                         struct row *row, struct m2_error *err)
{
    const struct symbol *symbol = &source->symbols.items[bar->symbol];
    struct id_name *latest = &source->id_names[symbol->series];
    char number[16];
    uint32_t index;

    if (source->settings.front) {
        row->key = bar->symbol;
        row->id = symbol->name;
        return M2_OK;
    }
    if (latest->name == NULL || latest->id != bar->id) {
        snprintf(number, sizeof number, "%" PRIu32, bar->id);
        int status = symbols_intern(&source->symbols, number, &index, err);
        if (status != M2_OK)
            return status;
        latest->id = bar->id;
        latest->name = source->symbols.items[index].name;
    }
    row->id = latest->name;
    return M2_OK;
}

/* As rows_add: 1 when a block is full. */
static int add_bar(struct dbn_source *source, const struct bar *bar,
                   struct m2_error *err)
{
    double values[N_COLUMNS];
    struct row row = {
        .time = bar->time,
        .values = values,
        .key = bar->id,
        .place = {bar->offset, (uint32_t)source->reader.file},
    };
    int status = is_selected(source, bar, err);

    if (status != 1)
        return status;
    convert(source, bar, values);
    if (source->with_ids) {
        status = name_contract(source, bar, &row, err);
        if (status != M2_OK)
            return status;
    }
    const struct symbol *symbol = &source->symbols.items[bar->symbol];
    if (symbol->is_number)
        hit(source, COUNT_NO_NAME, bar);
    source->counts.items[COUNT_BARS].n++;
    source->files[source->reader.file].bars++;
    return rows_add(&source->rows, symbol->series, &row, err);
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
    bool truncated = source->counts.items[COUNT_TRUNCATED].n > 0;

    for (size_t i = 0; i < source->n_series; i++)
        if (rows_added(&source->rows, i) == 0 &&
            (source->n_series == 1 || !source->settings.front))
            return scan_fail_listing(
                source, err, "%s%s: no %s bars of %s%s",
                source->files[0].source.path,
                source->n_files > 1 ? " and others" : "",
                source->interval->name, source->series[i].name,
                truncated ? " before the point where a file is truncated" : "");
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
            status = add_bar(source, &bar, err);
        if (status < 0)
            return status;
        if (status == 1) {
            rows_fetch(&source->rows, out);
            return M2_OK;
        }
    }
    return rows_drain(&source->rows, out, err);
}
