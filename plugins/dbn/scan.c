/* Passes over the files that only count: to choose, and to explain. */
#include "dbn/dbn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/civil.h"
#include "common/memory.h"

void source_reader(struct dbn_source *source, struct reader *reader,
                   size_t first, const struct interval *wanted)
{
    reader_init(reader, source->files, source->n_files, first,
                &source->symbols);
    reader->wanted = wanted;
    reader->allow_truncated = source->settings.allow_truncated;
    reader->allow_fragment = source->settings.fragment;
}

/* Readers are too large for the stack. */
static struct reader *new_reader(struct dbn_source *source, size_t first,
                                 const struct interval *wanted,
                                 struct m2_error *err)
{
    struct reader *reader = malloc(sizeof *reader);

    if (reader == NULL)
        m2_fail(err, M2_E_MEMORY, "out of memory");
    else
        source_reader(source, reader, first, wanted);
    return reader;
}

static void free_reader(struct reader *reader)
{
    reader_free(reader);
    free(reader);
}

int scan_types(struct dbn_source *source, uint64_t records[N_RTYPES],
               int64_t *smallest_step, struct m2_error *err)
{
    struct reader *reader = new_reader(source, 0, NULL, err);
    struct bar bar;
    int64_t last = INT64_MIN;
    int status;

    if (reader == NULL)
        return M2_E_MEMORY;
    *smallest_step = INT64_MAX;
    while ((status = reader_next(reader, &bar, err)) == 1) {
        records[bar.rtype]++;
        if (last != INT64_MIN && bar.time > last &&
            bar.time - last < *smallest_step)
            *smallest_step = bar.time - last;
        last = bar.time;
    }
    for (size_t i = 0; i < N_RTYPES; i++)
        records[i] += reader->records[i];
    free_reader(reader);
    return status;
}

int scan_bars(struct dbn_source *source, struct m2_error *err)
{
    struct bar bar;
    int status;

    if (source->scanned)
        return M2_OK;
    struct reader *reader = new_reader(source, 0, source->interval, err);
    if (reader == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < source->symbols.n; i++)
        source->symbols.items[i].bars = source->symbols.items[i].volume = 0;
    while ((status = reader_next(reader, &bar, err)) == 1) {
        struct symbol *symbol = &source->symbols.items[bar.symbol];
        symbol->bars++;
        symbol->volume += bar_volume(&bar);
    }
    free_reader(reader);
    source->scanned = status == M2_OK;
    return status;
}

int scan_first_day(struct dbn_source *source, uint32_t root, int64_t day,
                   size_t file, struct m2_error *err)
{
    struct reader *reader = new_reader(source, file, source->interval, err);
    struct bar bar;
    int status;

    if (reader == NULL)
        return M2_E_MEMORY;
    while ((status = reader_next(reader, &bar, err)) == 1) {
        int64_t bar_day = civil_day_of(bar.time);
        if (bar_day > day)
            break;
        if (bar_day == day && source->symbols.items[bar.symbol].root == root &&
            (source->settings.publisher < 0 ||
             source->settings.publisher == bar.publisher))
            front_add_volume(&source->symbols, bar.symbol, day,
                             bar_volume(&bar));
    }
    free_reader(reader);
    if (status < 0)
        return status;
    return front_begin(&source->front, &source->symbols, root, day, err);
}

static int compare_bars(const void *a, const void *b, void *context)
{
    const struct symbol *items = context;
    const struct symbol *x = &items[*(const uint32_t *)a];
    const struct symbol *y = &items[*(const uint32_t *)b];

    if (x->bars != y->bars)
        return x->bars > y->bars ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* "6EH4 5450 bars, volume 812345; ...", most bars first, as far as it fits. */
static void list_instruments(const struct symbols *symbols, uint32_t *order,
                             size_t n, char *out, size_t size)
{
    size_t used = 0, i;

    qsort_r(order, n, sizeof *order, compare_bars, symbols->items);
    for (i = 0; i < n && used + 160 < size; i++) {
        const struct symbol *s = &symbols->items[order[i]];
        used += (size_t)snprintf(out + used, size - used,
                                 "%s%.80s %" PRIu64 " bar%s, volume %" PRIu64,
                                 i > 0 ? "; " : "", s->name, s->bars,
                                 s->bars == 1 ? "" : "s", s->volume);
    }
    if (i < n)
        snprintf(out + used, size - used, "; and %zu more", n - i);
}

int scan_fail_listing(struct dbn_source *source, struct m2_error *err,
                      const char *format, ...)
{
    struct symbols *symbols = &source->symbols;
    char reason[512], list[1400] = "none";
    va_list arguments;
    size_t n = 0;

    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    int status = scan_bars(source, err);
    if (status != M2_OK)
        return status;
    uint32_t *order = memory_zeroed(symbols->n, sizeof *order, err);
    if (order == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < symbols->n; i++)
        if (symbols->items[i].bars > 0)
            order[n++] = (uint32_t)i;
    list_instruments(symbols, order, n, list, sizeof list);
    free(order);
    return m2_fail(err, M2_E_DATA, "%s (there are: %s)", reason, list);
}

int scan_fail_publishers(struct dbn_source *source, uint32_t symbol,
                         struct m2_error *err)
{
    uint64_t *bars = memory_zeroed(UINT16_MAX + 1, sizeof *bars, err);
    struct reader *reader = new_reader(source, 0, source->interval, err);
    struct bar bar;
    char list[1024] = "";
    size_t used = 0;
    int status = bars != NULL && reader != NULL ? 1 : M2_E_MEMORY;

    while (status == 1 && (status = reader_next(reader, &bar, err)) == 1)
        bars[bar.publisher] += bar.symbol == symbol;
    for (unsigned i = 0; status == 0 && i <= UINT16_MAX && used < 900; i++)
        if (bars[i] > 0)
            used += (size_t)snprintf(list + used, sizeof list - used,
                                     "%s%u (%" PRIu64 " bars)",
                                     used > 0 ? ", " : "", i, bars[i]);
    free(bars);
    if (reader != NULL)
        free_reader(reader);
    if (status < 0)
        return status;
    return m2_fail(err, M2_E_DATA,
                   "%s: the bars of %s come from several publishers: %s; "
                   "choose one with `publisher`",
                   source->files[0].source.path,
                   source->symbols.items[symbol].name, list);
}
