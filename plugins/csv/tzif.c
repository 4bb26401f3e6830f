/* Zone files: TZif, versions 1 to 4 (RFC 9636, section 3). */
#include "csv/zone.h"

#include <string.h>

#include "common/memory.h"

enum { HEADER_SIZE = 44, TYPE_SIZE = 6, MAX_RULE = 128 };

/* A header's counts, and where the block behind it lies. */
struct block {
    uint32_t utc_marks, standard_marks, leaps, times, types, characters;
    int time_size; /* 4 in the first block, 8 in the second */
    const uint8_t *bytes;
    size_t size;
};

static uint32_t big_u32(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
           (uint32_t)b[3];
}

static int64_t big_i64(const uint8_t *b)
{
    return (int64_t)((uint64_t)big_u32(b) << 32 | big_u32(b + 4));
}

static int fail_damaged(const struct zone *zone, const char *what,
                        struct m2_error *err)
{
    return m2_fail(err, M2_E_CONFIG,
                   "data.options.timezone: the file of zone '%s' %s",
                   zone->name, what);
}

/* The block at the beginning of n bytes; false when it does not fit. */
static bool read_block(const uint8_t *bytes, size_t n, int time_size,
                       struct block *out)
{
    if (n < HEADER_SIZE || memcmp(bytes, "TZif", 4) != 0)
        return false;
    *out = (struct block){
        .utc_marks = big_u32(bytes + 20),
        .standard_marks = big_u32(bytes + 24),
        .leaps = big_u32(bytes + 28),
        .times = big_u32(bytes + 32),
        .types = big_u32(bytes + 36),
        .characters = big_u32(bytes + 40),
        .time_size = time_size,
        .bytes = bytes + HEADER_SIZE,
    };
    uint64_t size = (uint64_t)out->times * (uint64_t)(time_size + 1) +
                    (uint64_t)out->types * TYPE_SIZE + out->characters +
                    (uint64_t)out->leaps * (uint64_t)(time_size + 4) +
                    out->standard_marks + out->utc_marks;
    if (size > n - HEADER_SIZE)
        return false;
    out->size = (size_t)size;
    return true;
}

static int64_t time_at(const struct block *block, uint32_t i)
{
    const uint8_t *bytes = block->bytes + (size_t)i * (size_t)block->time_size;

    return block->time_size == 8 ? big_i64(bytes) : (int32_t)big_u32(bytes);
}

static int32_t offset_of(const struct block *block, uint32_t type)
{
    size_t types = (size_t)block->times * (size_t)(block->time_size + 1);

    return (int32_t)big_u32(block->bytes + types + (size_t)type * TYPE_SIZE);
}

/* Local time is of type 0 before the first change. */
static int add_spans(struct zone *zone, const struct block *block,
                     struct m2_error *err)
{
    const uint8_t *types =
        block->bytes + (size_t)block->times * (size_t)block->time_size;
    int status = zone_add_span(zone, INT64_MIN, offset_of(block, 0), err);

    for (uint32_t i = 0; i < block->times && status == M2_OK; i++) {
        int64_t from = time_at(block, i);
        int32_t offset;
        if (types[i] >= block->types)
            return fail_damaged(zone, "names a type that it lacks", err);
        offset = offset_of(block, types[i]);
        if (offset < -26 * 3600 || offset > 26 * 3600)
            return fail_damaged(zone, "has an impossible offset", err);
        if (i > 0 && from <= zone->spans[zone->n - 1].from)
            return fail_damaged(zone, "is not in order of time", err);
        if (from > INT64_MIN)
            status = zone_add_span(zone, from, offset, err);
    }
    return status;
}

/* The footer: a line with the rule for all times after the last change. */
static int add_rule(struct zone *zone, const uint8_t *bytes, size_t n,
                    struct m2_error *err)
{
    char rule[MAX_RULE];
    const uint8_t *end;

    if (n < 2 || bytes[0] != '\n')
        return fail_damaged(zone, "is cut off", err);
    end = memchr(bytes + 1, '\n', n - 1);
    if (end == NULL || (size_t)(end - bytes) > sizeof rule)
        return fail_damaged(zone, "is cut off", err);
    memcpy(rule, bytes + 1, (size_t)(end - bytes) - 1);
    rule[end - bytes - 1] = '\0';
    return rule[0] == '\0' ? M2_OK : zone_extend(zone, rule, err);
}

int zone_parse(struct zone *zone, const uint8_t *bytes, size_t n,
               struct m2_error *err)
{
    struct block block;
    size_t second;

    if (!read_block(bytes, n, 4, &block))
        return fail_damaged(zone, "is no zone file, or is cut off", err);
    if (bytes[4] >= '2') {
        second = HEADER_SIZE + block.size;
        if (!read_block(bytes + second, n - second, 8, &block))
            return fail_damaged(zone, "is cut off", err);
    }
    if (block.types == 0)
        return fail_damaged(zone, "has no type of local time", err);
    if (block.leaps > 0)
        return fail_damaged(zone, "counts leap seconds, as data do not", err);
    int status = add_spans(zone, &block, err);
    if (status != M2_OK || bytes[4] < '2')
        return status;
    const uint8_t *footer = block.bytes + block.size;
    return add_rule(zone, footer, n - (size_t)(footer - bytes), err);
}
