/* Which instruments make which series. */
#include "dbn/dbn.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

static int add_series(struct dbn_source *source, const char *name,
                      struct m2_error *err)
{
    struct m2_series_info *series =
        memory_grow(source->series, &source->series_capacity,
                    source->n_series + 1, sizeof *series, err);

    if (series == NULL)
        return M2_E_MEMORY;
    source->series = series;
    series[source->n_series++] =
        (struct m2_series_info){.name = name,
                                .step_ns = source->interval->step_ns,
                                .stamp = M2_STAMP_OPEN};
    return M2_OK;
}

/* The symbol becomes a series, unless it is one. */
static int add_symbol(struct dbn_source *source, uint32_t index,
                      struct m2_error *err)
{
    struct symbol *symbol = &source->symbols.items[index];

    if (symbol->series != NO_SERIES)
        return M2_OK;
    symbol->series = (uint32_t)source->n_series;
    return add_series(source, symbol->name, err);
}

static int compare_names(const void *a, const void *b, void *context)
{
    const struct symbol *items = context;

    return strcmp(items[*(const uint32_t *)a].name,
                  items[*(const uint32_t *)b].name);
}

/* Every instrument with bars that the pattern matches, by name. */
static int add_matches(struct dbn_source *source, const char *pattern,
                       struct m2_error *err)
{
    const struct symbols *symbols = &source->symbols;
    uint32_t *matches = memory_zeroed(symbols->n, sizeof *matches, err);
    size_t n = 0;
    int status = M2_OK;

    if (matches == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < symbols->n; i++)
        if (symbols->items[i].bars > 0 &&
            fnmatch(pattern, symbols->items[i].name, FNM_NOESCAPE) == 0)
            matches[n++] = (uint32_t)i;
    qsort_r(matches, n, sizeof *matches, compare_names, symbols->items);
    for (size_t i = 0; i < n && status == M2_OK; i++)
        status = add_symbol(source, matches[i], err);
    free(matches);
    if (n == 0)
        return scan_fail_listing(source, err,
                                 "%s: `instrument: %s` matches no instrument",
                                 source->files[0].source.path, pattern);
    return status;
}

static int add_name(struct dbn_source *source, const char *name,
                    struct m2_error *err)
{
    uint32_t index = symbols_find(&source->symbols, name);
    int status = M2_OK;

    if (index == UINT32_MAX || index >= source->n_mapped) {
        status = scan_bars(source, err); /* ids without a name, live names */
        index = symbols_find(&source->symbols, name);
    }
    if (status != M2_OK)
        return status;
    if (index == UINT32_MAX ||
        (source->scanned && source->symbols.items[index].bars == 0))
        return scan_fail_listing(
            source, err,
            "%s: the instrument %s is not in the file%s; `instrument` is one "
            "that is, a pattern with * and ?, a list, or front",
            source->files[0].source.path, name, source->n_files > 1 ? "s" : "");
    return add_symbol(source, index, err);
}

static int select_named(struct dbn_source *source, struct m2_error *err)
{
    int status = M2_OK;

    for (size_t i = 0; i < source->settings.n_instruments; i++)
        if (is_pattern(source->settings.instruments[i]))
            status = scan_bars(source, err);
    for (size_t i = 0; i < source->settings.n_instruments && status == M2_OK;
         i++) {
        const char *text = source->settings.instruments[i];
        status = is_pattern(text) ? add_matches(source, text, err)
                                  : add_name(source, text, err);
    }
    return status;
}

static int select_front(struct dbn_source *source, struct m2_error *err)
{
    struct symbols *symbols = &source->symbols;
    const char *only = source->settings.front_root;
    int status = source->all_mapped ? M2_OK : scan_bars(source, err);

    if (status == M2_OK)
        status = front_add_symbols(&source->front, symbols, only,
                                   source->scanned, err);
    if (status == M2_OK && source->front.n == 0)
        return scan_fail_listing(
            source, err, "%s: `instrument: front` finds no outright future%s%s",
            source->files[0].source.path, only != NULL ? " of root " : "",
            only != NULL ? only : "");
    for (size_t i = 0; i < source->front.n && status == M2_OK; i++)
        status = add_series(source, source->front.roots[i].name, err);
    for (size_t i = 0; i < symbols->n; i++)
        if (symbols->items[i].root != NO_ROOT)
            symbols->items[i].series = symbols->items[i].root;
    return status;
}

/* Nothing was chosen: that is enough when there is one instrument only. */
static int select_only(struct dbn_source *source, struct m2_error *err)
{
    const struct symbols *symbols = &source->symbols;
    uint32_t found = 0;
    size_t n = 0;

    source->only_series = true;
    if (source->all_mapped && source->n_mapped == 1)
        return add_symbol(source, 0, err);
    int status = scan_bars(source, err);
    if (status != M2_OK)
        return status;
    for (size_t i = 0; i < symbols->n; i++) {
        if (symbols->items[i].bars == 0)
            continue;
        found = (uint32_t)i;
        n++;
    }
    if (n == 0)
        return m2_fail(err, M2_E_DATA, "%s%s: no bars (%s)%s",
                       source->files[0].source.path,
                       source->n_files > 1 ? " and others" : "",
                       source->interval->name, source_cut_note(source));
    if (n > 1)
        return scan_fail_listing(
            source, err,
            "%s%s: %zu instruments: choose with `instrument`: a symbol, a "
            "pattern with * and ?, a list, or front",
            source->files[0].source.path,
            source->n_files > 1 ? " and others" : "", n);
    return add_symbol(source, found, err);
}

int select_series(struct dbn_source *source, struct m2_error *err)
{
    int status;

    if (source->settings.front)
        status = select_front(source, err);
    else if (source->settings.n_instruments > 0)
        status = select_named(source, err);
    else
        status = select_only(source, err);
    source->with_ids = source->settings.front;
    for (size_t i = 0; i < source->n_files; i++)
        if (source->files[i].metadata.stype_in == STYPE_CONTINUOUS)
            source->with_ids = true;
    return status;
}
