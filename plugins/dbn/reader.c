/* Steps through the records of a list of files. */
#include "dbn/reader.h"

#include <inttypes.h>
#include <string.h>

#include "common/bytes.h"
#include "common/civil.h"

enum {
    HEADER = 16, /* bytes that every record has */
    BAR = 56,
    TS_OUT = 8, /* more, when the metadata says so */
    V1_MAPPING = 80,
    MAPPING_REST = HEADER + 2 + 16, /* of later ones: besides two symbols */
};

const struct interval intervals[N_INTERVALS] = {
    {"ohlcv-1s", 5, 0x20, NS_PER_SECOND},
    {"ohlcv-1m", 6, 0x21, 60 * NS_PER_SECOND},
    {"ohlcv-1h", 7, 0x22, 3600 * NS_PER_SECOND},
    {"ohlcv-1d", 8, 0x23, NS_PER_DAY},
    {"ohlcv-eod", 13, 0x24, NS_PER_DAY},
};

const struct interval *interval_of_schema(unsigned schema)
{
    for (size_t i = 0; i < N_INTERVALS; i++)
        if (intervals[i].schema == schema)
            return &intervals[i];
    return NULL;
}

const struct interval *interval_of_rtype(uint8_t rtype)
{
    for (size_t i = 0; i < N_INTERVALS; i++)
        if (intervals[i].rtype == rtype)
            return &intervals[i];
    return NULL;
}

const char *rtype_text(uint8_t rtype, char out[RTYPE_TEXT])
{
    static const struct {
        uint8_t rtype;
        const char *name;
    } names[] = {
        {0x00, "trades"},      {0x01, "mbp-1"},      {0x0a, "mbp-10"},
        {0x11, "ohlcv (old)"}, {0x12, "status"},     {0x13, "definition"},
        {0x14, "imbalance"},   {0x15, "error"},      {0x16, "symbol-mapping"},
        {0x17, "system"},      {0x18, "statistics"}, {0x20, "ohlcv-1s"},
        {0x21, "ohlcv-1m"},    {0x22, "ohlcv-1h"},   {0x23, "ohlcv-1d"},
        {0x24, "ohlcv-eod"},   {0xa0, "mbo"},        {0xb1, "cmbp-1"},
        {0xc0, "cbbo-1s"},     {0xc1, "cbbo-1m"},    {0xc2, "tcbbo"},
        {0xc3, "bbo-1s"},      {0xc4, "bbo-1m"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].rtype == rtype)
            return names[i].name;
    snprintf(out, RTYPE_TEXT, "type 0x%02x", rtype);
    return out;
}

void reader_init(struct reader *reader, struct dbn_file *files, size_t n_files,
                 size_t first, struct symbols *symbols)
{
    *reader = (struct reader){.files = files,
                              .n_files = n_files,
                              .file = first,
                              .map = {.symbols = symbols}};
}

void reader_free(struct reader *reader)
{
    if (reader->is_open)
        stream_close(&reader->stream);
    reader->is_open = false;
    id_map_free(&reader->map);
}

/* Bars of the old type have the interval of the metadata, if it says one. */
static void choose_rtypes(struct reader *reader)
{
    const struct interval *old = interval_of_schema(reader->metadata.schema);

    for (size_t i = 0; i < N_INTERVALS; i++)
        reader->is_bar[intervals[i].rtype] =
            reader->wanted == NULL || reader->wanted == &intervals[i];
    reader->is_bar[RTYPE_OHLCV_OLD] =
        reader->wanted == NULL || old == NULL || old == reader->wanted;
    reader->bar_size = BAR + (reader->metadata.ts_out ? TS_OUT : 0);
}

static int open_file(struct reader *reader, struct m2_error *err)
{
    struct stream *stream = &reader->stream;

    reader->is_open = true;
    int status = stream_open(stream, &reader->files[reader->file].source,
                             reader->allow_truncated, err);
    if (status == M2_OK)
        status = metadata_read(stream, reader->allow_fragment,
                               &reader->metadata, err);
    if (status == M2_OK)
        status = id_map_init(&reader->map, reader->map.symbols,
                             &reader->metadata, &reader->mappings_left_out,
                             &reader->mapping_conflicts, err);
    if (status == M2_OK) {
        stream_skip(stream, reader->metadata.size);
        choose_rtypes(reader);
    }
    return status;
}

static void close_file(struct reader *reader)
{
    if (reader->stream.truncated)
        reader->files[reader->file].truncated = true;
    stream_close(&reader->stream);
    reader->is_open = false;
    reader->file++;
}

static int fail_record(const struct reader *reader, const char *problem,
                       struct m2_error *err)
{
    const struct stream *stream = &reader->stream;
    char place[STREAM_PLACE];

    return m2_fail(err, M2_E_DATA, "%s: damaged record at %s: %s", stream->path,
                   stream_place(stream, stream->offset, place), problem);
}

static int fail_cut_off(struct reader *reader, size_t length,
                        struct m2_error *err)
{
    struct stream *stream = &reader->stream;
    char place[STREAM_PLACE];

    stream->truncated = true;
    if (reader->allow_truncated)
        return 0;
    return m2_fail(err, M2_E_DATA,
                   "%s: truncated: the record at %s has %zu of %zu bytes; "
                   "`allow_truncated: true` takes what is there",
                   stream->path, stream_place(stream, stream->offset, place),
                   stream_available(stream), length);
}

/* Makes the next record available: 1 and its length; 0 at the end. */
static int next_record(struct reader *reader, size_t *length,
                       struct m2_error *err)
{
    struct stream *stream = &reader->stream;
    char problem[80];

    if (stream_available(stream) < HEADER) {
        int status = stream_fill(stream, HEADER, err);
        if (status != M2_OK)
            return status;
        if (stream_available(stream) == 0)
            return 0;
    }
    *length = (size_t)stream->bytes[stream->begin] * 4;
    if (*length < HEADER) {
        snprintf(problem, sizeof problem,
                 "length %zu is shorter than its header of %d bytes", *length,
                 HEADER);
        return fail_record(reader, problem, err);
    }
    if (stream_available(stream) < *length) {
        int status = stream_fill(stream, *length, err);
        if (status != M2_OK)
            return status;
        if (stream_available(stream) < *length)
            return fail_cut_off(reader, *length, err);
    }
    return 1;
}

static void copy_name(char *to, const uint8_t *bytes, size_t size)
{
    memcpy(to, bytes, size);
    to[size] = '\0';
}

/* A live stream says what an id is called: the resolved symbol, or, where that
 * is a number, the one that was asked for. */
static int take_symbol_mapping(struct reader *reader, const uint8_t *bytes,
                               size_t length, struct m2_error *err)
{
    char asked[N_RTYPES * 4], resolved[N_RTYPES * 4];
    size_t size = 22, in = HEADER, out = HEADER + 22;

    if (length < V1_MAPPING)
        return fail_record(reader, "a symbol mapping is longer", err);
    if (length != V1_MAPPING) {
        size = (length - MAPPING_REST) / 2;
        in = HEADER + 1;
        out = in + size + 1;
    }
    copy_name(asked, bytes + in, size);
    copy_name(resolved, bytes + out, size);
    const char *name = resolved;
    if (strspn(resolved, "0123456789") == strlen(resolved))
        name = asked;
    if (!metadata_is_symbol(name)) {
        reader->mappings_left_out++;
        return M2_OK;
    }
    return id_map_rename(&reader->map, bytes_u32(bytes + 4), name, err);
}

static int take_other(struct reader *reader, const uint8_t *bytes,
                      size_t length, struct m2_error *err)
{
    uint8_t rtype = bytes[1];

    if (reader->records[rtype]++ == 0) {
        reader->first[rtype].file = reader->file;
        reader->first[rtype].offset = reader->stream.offset;
    }
    if (rtype == RTYPE_SYMBOL_MAPPING)
        return take_symbol_mapping(reader, bytes, length, err);
    return M2_OK;
}

static int take_bar(struct reader *reader, const uint8_t *bytes, size_t length,
                    struct bar *out, struct m2_error *err)
{
    uint64_t time = bytes_u64(bytes + 8);
    char problem[80];

    if (length != reader->bar_size) {
        snprintf(problem, sizeof problem, "a bar of %zu bytes, expected %zu",
                 length, reader->bar_size);
        return fail_record(reader, problem, err);
    }
    if (time > INT64_MAX)
        return fail_record(reader, "a bar without a time", err);
    out->bytes = bytes;
    out->offset = reader->stream.offset;
    out->time = (int64_t)time;
    out->id = bytes_u32(bytes + 4);
    out->publisher = bytes_u16(bytes + 2);
    out->rtype = bytes[1];
    return id_map_find(&reader->map, out->id, out->time, &out->symbol, err);
}

/* 1 and the next bar of the current file, or 0 at its end. */
static int next_in_file(struct reader *reader, struct bar *out,
                        struct m2_error *err)
{
    struct stream *stream = &reader->stream;

    for (;;) {
        size_t length = 0;
        int status = next_record(reader, &length, err);
        if (status != 1)
            return status;
        const uint8_t *bytes = stream->bytes + stream->begin;
        bool is_bar = reader->is_bar[bytes[1]];
        status = is_bar ? take_bar(reader, bytes, length, out, err)
                        : take_other(reader, bytes, length, err);
        if (status != M2_OK)
            return status;
        stream_skip(stream, length);
        if (is_bar)
            return 1;
    }
}

int reader_next(struct reader *reader, struct bar *out, struct m2_error *err)
{
    while (reader->file < reader->n_files) {
        int status = M2_OK;
        if (!reader->is_open)
            status = open_file(reader, err);
        if (status == M2_OK)
            status = next_in_file(reader, out, err);
        if (status != 0)
            return status;
        close_file(reader);
    }
    return 0;
}
