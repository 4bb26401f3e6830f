/* From bars to rows: which series a bar belongs to, and its numbers. */
#include "dbn/dbn.h"

#include <inttypes.h>
#include <math.h>

#include "common/civil.h"

static void hit(struct dbn_source *source, enum dbn_count count,
                const struct bar *bar)
{
    char place[ROW_PLACE_TEXT];
    const struct row_place at = {bar->offset, (uint32_t)source->reader.file};

    if (counts_hit(&source->counts, count))
        counts_place(&source->counts, count, "%s",
                     source_place(source, at, place));
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
                   source_place(source, at, place),
                   civil_text(bar->time, time));
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

int bars_add(struct dbn_source *source, const struct bar *bar,
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
