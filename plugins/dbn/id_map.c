/* Which instrument id bears which name when. */
#include "dbn/symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/civil.h"
#include "common/memory.h"

static int append_span(struct id_map *map, const struct id_span *span,
                       struct m2_error *err)
{
    struct id_span *spans =
        memory_grow(map->spans, &map->capacity, map->n + 1, sizeof *spans, err);

    if (spans == NULL)
        return M2_E_MEMORY;
    map->spans = spans;
    map->spans[map->n++] = *span;
    return M2_OK;
}

static int add_mapping(void *context, const struct mapping *mapping,
                       struct m2_error *err)
{
    struct id_map *map = context;
    struct id_span span = {.id = mapping->id,
                           .from = mapping->first * NS_PER_DAY,
                           .to = mapping->end * NS_PER_DAY};
    int status =
        symbols_intern(map->symbols, mapping->symbol, &span.symbol, err);

    return status == M2_OK ? append_span(map, &span, err) : status;
}

static int compare_spans(const void *a, const void *b)
{
    const struct id_span *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

/* Cuts spans of one id that overlap, so that a search finds one answer. */
static void make_disjoint(struct id_map *map, uint64_t *n_conflicts)
{
    size_t kept = 0;

    for (size_t i = 0; i < map->n; i++) {
        struct id_span span = map->spans[i];
        const struct id_span *before = kept > 0 ? &map->spans[kept - 1] : NULL;
        if (before != NULL && before->id == span.id && before->to > span.from) {
            *n_conflicts += before->symbol != span.symbol;
            span.from = before->to;
        }
        if (span.from < span.to)
            map->spans[kept++] = span;
    }
    map->n = kept;
}

/* No time lies in an empty span: it answers nothing. */
static void clear_cache(struct id_map *map)
{
    memset(map->cache, 0, sizeof map->cache);
}

int id_map_init(struct id_map *map, struct symbols *symbols,
                const struct metadata *metadata, uint64_t *n_left_out,
                uint64_t *n_conflicts, struct m2_error *err)
{
    map->symbols = symbols;
    map->n = 0;
    clear_cache(map);
    int status = metadata_mappings(metadata, add_mapping, map, n_left_out, err);
    if (status != M2_OK)
        return status;
    if (map->n > 1)
        qsort(map->spans, map->n, sizeof *map->spans, compare_spans);
    make_disjoint(map, n_conflicts);
    return M2_OK;
}

void id_map_free(struct id_map *map)
{
    free(map->spans);
    map->spans = NULL;
    map->n = map->capacity = 0;
}

/* Number of spans before (id, time): those of smaller ids, and those of this
 * id that begin at or before the time. */
static size_t spans_before(const struct id_map *map, uint32_t id, int64_t time)
{
    size_t low = 0, high = map->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct id_span *span = &map->spans[middle];
        if (span->id < id || (span->id == id && span->from <= time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int id_map_rename(struct id_map *map, uint32_t id, const char *name,
                  struct m2_error *err)
{
    struct id_span span = {.id = id, .from = INT64_MIN, .to = INT64_MAX};
    int status = symbols_intern(map->symbols, name, &span.symbol, err);

    if (status != M2_OK)
        return status;
    size_t end = spans_before(map, id, INT64_MAX), begin = end;
    while (begin > 0 && map->spans[begin - 1].id == id)
        begin--;
    if (begin == end) {
        status = append_span(map, &span, err);
        if (status != M2_OK)
            return status;
        end = begin + 1;
        memmove(map->spans + end, map->spans + begin,
                (map->n - end) * sizeof span);
    } else {
        memmove(map->spans + begin + 1, map->spans + end,
                (map->n - end) * sizeof span);
        map->n -= end - begin - 1;
    }
    map->spans[begin] = span;
    *id_map_cached(map, id) = span;
    return M2_OK;
}

/* The name of an id without one: its number, between the spans around. */
static int name_by_number(struct id_map *map, size_t after, int64_t time,
                          struct id_span *span, struct m2_error *err)
{
    char number[16];

    if (after > 0 && map->spans[after - 1].id == span->id &&
        map->spans[after - 1].to <= time)
        span->from = map->spans[after - 1].to;
    if (after < map->n && map->spans[after].id == span->id)
        span->to = map->spans[after].from;
    snprintf(number, sizeof number, "%" PRIu32, span->id);
    int status = symbols_intern(map->symbols, number, &span->symbol, err);
    if (status == M2_OK)
        map->symbols->items[span->symbol].is_number = true;
    return status;
}

int id_map_search(struct id_map *map, uint32_t id, int64_t time,
                  uint32_t *symbol, struct m2_error *err)
{
    struct id_span span = {.id = id, .from = INT64_MIN, .to = INT64_MAX};
    size_t after = spans_before(map, id, time);
    const struct id_span *before = after > 0 ? &map->spans[after - 1] : NULL;
    int status = M2_OK;

    if (before != NULL && before->id == id && time < before->to)
        span = *before;
    else
        status = name_by_number(map, after, time, &span, err);
    if (status != M2_OK)
        return status;
    *id_map_cached(map, id) = span;
    *symbol = span.symbol;
    return M2_OK;
}
