/* DBN metadata: prelude, fixed part, symbol lists, mappings. */
#include "dbn/metadata.h"

#include <inttypes.h>
#include <string.h>

#include "common/bytes.h"
#include "common/civil.h"

enum {
    PRELUDE = 8,         /* "DBN", version, u32 length */
    FIXED = 100,         /* bytes of the fixed part, in every version */
    V1_SYMBOL_SIZE = 22, /* later versions say it themselves */
    NEWEST_VERSION = 3,
    MAX_SYMBOL_SIZE = 4096,
};

/* Far above any real file: a million symbols of 71 bytes with mappings. */
static const uint32_t max_length = UINT32_C(256) << 20;

static const char *const schema_names[] = {
    "mbo",        "mbp-1",    "mbp-10",    "tbbo",      "trades",
    "ohlcv-1s",   "ohlcv-1m", "ohlcv-1h",  "ohlcv-1d",  "definition",
    "statistics", "status",   "imbalance", "ohlcv-eod", "cmbp-1",
    "cbbo-1s",    "cbbo-1m",  "tcbbo",     "bbo-1s",    "bbo-1m"};

const char *metadata_schema_name(unsigned schema)
{
    size_t n = sizeof schema_names / sizeof schema_names[0];

    return schema < n ? schema_names[schema] : NULL;
}

/* The rest of the metadata, walked from front to end. */
struct cursor {
    const struct stream *stream; /* for messages */
    const uint8_t *bytes;        /* the whole metadata */
    size_t at, end;
    size_t symbol_size;
};

static int fail_short(const struct cursor *cursor, const char *what,
                      uint64_t need, struct m2_error *err)
{
    char place[STREAM_PLACE];

    return m2_fail(err, M2_E_DATA,
                   "%s: damaged metadata at %s: the %s needs %" PRIu64
                   " bytes, but the metadata ends after %zu",
                   cursor->stream->path,
                   stream_place(cursor->stream, cursor->at, place), what, need,
                   cursor->end - cursor->at);
}

static int take_u32(struct cursor *cursor, const char *what, uint32_t *out,
                    struct m2_error *err)
{
    if (cursor->end - cursor->at < 4)
        return fail_short(cursor, what, 4, err);
    *out = bytes_u32(cursor->bytes + cursor->at);
    cursor->at += 4;
    return M2_OK;
}

/* Goes past n elements of `size` bytes; n and size come from the file. */
static int skip_array(struct cursor *cursor, const char *what, uint32_t n,
                      size_t size, struct m2_error *err)
{
    uint64_t need = (uint64_t)n * size;

    if (need > cursor->end - cursor->at)
        return fail_short(cursor, what, need, err);
    cursor->at += (size_t)need;
    return M2_OK;
}

static int skip_lists(struct cursor *cursor, struct m2_error *err)
{
    static const char *const names[] = {"list of symbols",
                                        "list of partly resolved symbols",
                                        "list of unresolved symbols"};
    int status = M2_OK;

    for (int i = 0; i < 3 && status == M2_OK; i++) {
        uint32_t n;
        status = take_u32(cursor, names[i], &n, err);
        if (status == M2_OK)
            status = skip_array(cursor, names[i], n, cursor->symbol_size, err);
    }
    return status;
}

static int skip_mappings(struct cursor *cursor, uint32_t n,
                         struct m2_error *err)
{
    size_t interval = 8 + cursor->symbol_size;
    int status = M2_OK;

    /* Every mapping has at least a symbol and a count: a hostile n ends here
     * and not after four billion steps. */
    if ((uint64_t)n * (cursor->symbol_size + 4) > cursor->end - cursor->at)
        return fail_short(cursor, "list of mappings",
                          (uint64_t)n * (cursor->symbol_size + 4), err);
    for (uint32_t i = 0; i < n && status == M2_OK; i++) {
        uint32_t n_intervals;
        status = skip_array(cursor, "mapping", 1, cursor->symbol_size, err);
        if (status == M2_OK)
            status = take_u32(cursor, "mapping", &n_intervals, err);
        if (status == M2_OK)
            status = skip_array(cursor, "intervals of a mapping", n_intervals,
                                interval, err);
    }
    return status;
}

static int parse_fixed(struct cursor *cursor, struct metadata *m,
                       struct m2_error *err)
{
    const uint8_t *bytes = cursor->bytes;
    size_t at = m->version == 1 ? 58 : 50; /* v1 has a record count before */
    char place[STREAM_PLACE];

    memcpy(m->dataset, bytes + 8, 16);
    m->schema = bytes_u16(bytes + 24);
    m->start = bytes_u64(bytes + 26);
    m->stype_in = bytes[at];
    m->stype_out = bytes[at + 1];
    m->ts_out = bytes[at + 2] != 0;
    m->symbol_size =
        m->version == 1 ? V1_SYMBOL_SIZE : bytes_u16(bytes + at + 3);
    if (m->symbol_size < 2 || m->symbol_size > MAX_SYMBOL_SIZE)
        return m2_fail(
            err, M2_E_DATA, "%s: damaged metadata at %s: symbols of %zu bytes",
            cursor->stream->path, stream_place(cursor->stream, at + 3, place),
            m->symbol_size);
    cursor->symbol_size = m->symbol_size;
    cursor->at = PRELUDE + FIXED;
    return M2_OK;
}

static int parse_variable(struct cursor *cursor, struct metadata *m,
                          struct m2_error *err)
{
    char place[STREAM_PLACE];
    uint32_t definition;
    int status =
        take_u32(cursor, "length of a schema definition", &definition, err);

    if (status == M2_OK && definition != 0)
        return m2_fail(err, M2_E_DATA,
                       "%s: damaged metadata at %s: a schema definition of "
                       "%" PRIu32 " bytes, which DBN 1 to %d do not have",
                       cursor->stream->path,
                       stream_place(cursor->stream, PRELUDE + FIXED, place),
                       definition, NEWEST_VERSION);
    if (status == M2_OK)
        status = skip_lists(cursor, err);
    if (status == M2_OK)
        status = take_u32(cursor, "list of mappings", &m->n_mappings, err);
    size_t first = cursor->at;
    if (status == M2_OK)
        status = skip_mappings(cursor, m->n_mappings, err);
    m->mappings = cursor->bytes + first;
    m->mappings_size = cursor->at - first;
    return status;
}

static int no_metadata(const struct stream *stream, bool allow_fragment,
                       struct metadata *out, struct m2_error *err)
{
    char look[STREAM_LOOK];
    size_t n = stream_available(stream);

    *out = (struct metadata){.schema = SCHEMA_NONE};
    if (allow_fragment)
        return M2_OK;
    if (n == 0)
        return m2_fail(err, M2_E_DATA, "%s: empty: 0 bytes after decompressing",
                       stream->path);
    return m2_fail(err, M2_E_DATA,
                   "%s: not DBN: starts with %s, expected \"DBN\"; records "
                   "without metadata are read with `fragment: true`",
                   stream->path,
                   stream_look(stream->bytes + stream->begin, n, look));
}

static int fail_truncated(const struct stream *stream, struct m2_error *err)
{
    char place[STREAM_PLACE];

    return m2_fail(
        err, M2_E_DATA, "%s: truncated: ends at %s, inside the metadata",
        stream->path, stream_place(stream, stream_available(stream), place));
}

/* Checks the prelude; *size gets the bytes up to the first record. */
static int check_prelude(const struct stream *stream, size_t *size,
                         struct m2_error *err)
{
    const uint8_t *bytes = stream->bytes + stream->begin;

    char place[STREAM_PLACE];

    if (stream_available(stream) < PRELUDE)
        return fail_truncated(stream, err);
    if (bytes[3] < 1 || bytes[3] > NEWEST_VERSION)
        return m2_fail(err, M2_E_DATA, "%s: DBN version %u, expected 1 to %d",
                       stream->path, bytes[3], NEWEST_VERSION);
    uint32_t length = bytes_u32(bytes + 4);
    if (length < FIXED || length > max_length)
        return m2_fail(err, M2_E_DATA,
                       "%s: damaged metadata at %s: length %" PRIu32
                       ", expected %d to %" PRIu32,
                       stream->path, stream_place(stream, 4, place), length,
                       FIXED, max_length);
    *size = PRELUDE + (size_t)length;
    return M2_OK;
}

int metadata_read(struct stream *stream, bool allow_fragment,
                  struct metadata *out, struct m2_error *err)
{
    struct metadata m = {0};
    int status = stream_fill(stream, PRELUDE, err);

    if (status != M2_OK)
        return status;
    if (stream_available(stream) < 3 ||
        memcmp(stream->bytes + stream->begin, "DBN", 3) != 0)
        return no_metadata(stream, allow_fragment, out, err);
    status = check_prelude(stream, &m.size, err);
    if (status == M2_OK)
        status = stream_fill(stream, m.size, err);
    if (status != M2_OK)
        return status;
    if (stream_available(stream) < m.size)
        return fail_truncated(stream, err);
    struct cursor cursor = {.stream = stream,
                            .bytes = stream->bytes + stream->begin,
                            .end = m.size};
    m.version = cursor.bytes[3];
    status = parse_fixed(&cursor, &m, err);
    if (status == M2_OK)
        status = parse_variable(&cursor, &m, err);
    if (status == M2_OK)
        *out = m;
    return status;
}

/* A decimal number that fills the whole string, as an instrument id. */
static bool parse_id(const char *text, uint32_t *out)
{
    uint64_t id = 0;

    if (text[0] == '\0' || strlen(text) > 10)
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        id = id * 10 + (uint64_t)(*text - '0');
    }
    *out = (uint32_t)id;
    return id <= UINT32_MAX;
}

/* YYYYMMDD to days since 1970; false when there is no such date.  A year that
 * no bar can have (9999, say) stands for "open". */
static bool parse_date(uint32_t date, int64_t *out)
{
    struct civil civil = {.year = (int)(date / 10000),
                          .month = (int)(date / 100 % 100),
                          .day = (int)(date % 100)};

    if (civil.year > CIVIL_LAST_YEAR)
        civil = (struct civil){CIVIL_LAST_YEAR, 12, 31, 0, 0, 0, 0};
    if (!civil_is_valid(&civil))
        return false;
    *out = civil_days(civil.year, civil.month, civil.day);
    return true;
}

static void copy_symbol(char *to, const uint8_t *bytes, size_t size)
{
    memcpy(to, bytes, size);
    to[size] = '\0';
}

bool metadata_is_symbol(const char *text)
{
    const char *c = text;

    while (*c >= ' ' && *c <= '~')
        c++;
    return c > text && *c == '\0';
}

/* The interval at `bytes` of a mapping called `name`; true when it says which
 * id is called what. */
static bool read_interval(const struct metadata *m, const char *name,
                          const uint8_t *bytes, char *symbol,
                          struct mapping *out)
{
    bool inverse = m->stype_in == STYPE_INSTRUMENT_ID &&
                   m->stype_out != STYPE_INSTRUMENT_ID;

    copy_symbol(symbol, bytes + 8, m->symbol_size);
    out->symbol = inverse ? symbol : name;
    return metadata_is_symbol(out->symbol) &&
           parse_id(inverse ? name : symbol, &out->id) &&
           parse_date(bytes_u32(bytes), &out->first) &&
           parse_date(bytes_u32(bytes + 4), &out->end) && out->first < out->end;
}

int metadata_mappings(const struct metadata *metadata, mapping_visitor *visitor,
                      void *context, uint64_t *n_left_out, struct m2_error *err)
{
    char name[MAX_SYMBOL_SIZE + 1], symbol[MAX_SYMBOL_SIZE + 1];
    const uint8_t *at = metadata->mappings;
    int status = M2_OK;

    for (uint32_t i = 0; i < metadata->n_mappings; i++) {
        copy_symbol(name, at, metadata->symbol_size);
        at += metadata->symbol_size;
        uint32_t n = bytes_u32(at);
        at += 4;
        for (uint32_t k = 0; k < n && status == M2_OK; k++) {
            struct mapping mapping = {0};
            if (read_interval(metadata, name, at, symbol, &mapping))
                status = visitor(context, &mapping, err);
            else
                ++*n_left_out;
            at += 8 + metadata->symbol_size;
        }
    }
    return status;
}
