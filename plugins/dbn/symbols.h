/* Instruments: names, and which instrument id bears which name when.
 *
 * An id is a key within one UTC day only, so a bar's name is found by
 * (time, id) in the intervals of its file's metadata.  An id without a name is
 * called by its number. */
#ifndef M2_DBN_SYMBOLS_H
#define M2_DBN_SYMBOLS_H

#include "dbn/metadata.h"

enum { NO_SERIES = UINT32_MAX, NO_ROOT = UINT32_MAX };

struct symbol {
    char *name;
    bool is_number;        /* the name is an id that has none */
    uint32_t series;       /* where its bars go, or NO_SERIES */
    uint32_t root;         /* of front.h, or NO_ROOT */
    uint64_t bars, volume; /* as far as they were counted (scan.h) */
    uint16_t publisher;    /* of its first bar, once there was one */
    bool has_publisher;
    int64_t day; /* front.h: the last day with a bar, and its volume */
    uint64_t day_volume;
    bool leads; /* on that day */
};

/* Every name once, in order of first appearance. */
struct symbols {
    struct symbol *items;
    size_t n, capacity;
    uint32_t *slots; /* hash table: index + 1, or 0 */
    size_t n_slots;
};

void symbols_free(struct symbols *symbols);

/* Index of the name, added if it is new. */
int symbols_intern(struct symbols *symbols, const char *name, uint32_t *out,
                   struct m2_error *err);

/* Index of a name, or UINT32_MAX. */
uint32_t symbols_find(const struct symbols *symbols, const char *name);

/* From `from` to just before `to` (ns), id is called symbols[symbol]. */
struct id_span {
    uint32_t id, symbol;
    int64_t from, to;
};

enum { ID_CACHE_BITS = 10, ID_CACHE_SIZE = 1 << ID_CACHE_BITS };

/* Spans of one file: by id, then by time, disjoint. */
struct id_map {
    struct symbols *symbols; /* borrowed */
    struct id_span *spans;
    size_t n, capacity;
    struct id_span cache[ID_CACHE_SIZE]; /* answers given before */
};

/* Fills the map from metadata.  *n_left_out counts intervals without a number
 * or a name, *n_conflicts those that give an id a second name for a day: the
 * first one in the file holds. */
int id_map_init(struct id_map *map, struct symbols *symbols,
                const struct metadata *metadata, uint64_t *n_left_out,
                uint64_t *n_conflicts, struct m2_error *err);
void id_map_free(struct id_map *map); /* a zeroed one is allowed */

/* From now on, id is called so at all times (a live stream's mapping). */
int id_map_rename(struct id_map *map, uint32_t id, const char *name,
                  struct m2_error *err);

/* The long way; adds the answer to the cache. */
int id_map_search(struct id_map *map, uint32_t id, int64_t time,
                  uint32_t *symbol, struct m2_error *err);

static inline struct id_span *id_map_cached(struct id_map *map, uint32_t id)
{
    /* Knuth's multiplicative hash; the upper bits are the good ones */
    return &map->cache[(id * UINT32_C(2654435769)) >> (32 - ID_CACHE_BITS)];
}

/* The name of id at that time. */
static inline int id_map_find(struct id_map *map, uint32_t id, int64_t time,
                              uint32_t *symbol, struct m2_error *err)
{
    const struct id_span *span = id_map_cached(map, id);

    if (span->id != id || time < span->from || time >= span->to)
        return id_map_search(map, id, time, symbol, err);
    *symbol = span->symbol;
    return M2_OK;
}

#endif
