/* Plain bytes out of a plain or a zstd file. */
#include "dbn/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "common/bytes.h"
#include "common/memory.h"

enum {
    PLAIN_BYTES = 1 << 18,  /* the buffer of plain bytes at first */
    PACKED_BYTES = 1 << 17, /* the buffer of compressed bytes */
    MAGIC_BYTES = 4,
    DBZ_BYTES = 11, /* a skippable frame's header and "DBZ" */
};

char *stream_place(const struct stream *stream, uint64_t offset,
                   char out[STREAM_PLACE])
{
    snprintf(out, STREAM_PLACE, "byte %" PRIu64 "%s", offset,
             stream->zstd ? " of the decompressed stream" : "");
    return out;
}

char *stream_look(const uint8_t *bytes, size_t n, char out[STREAM_LOOK])
{
    size_t used = 0, shown = n < 8 ? n : 8;

    for (size_t i = 0; i < shown; i++)
        used +=
            (size_t)snprintf(out + used, STREAM_LOOK - used, "%02x ", bytes[i]);
    used += (size_t)snprintf(out + used, STREAM_LOOK - used, "(\"");
    for (size_t i = 0; i < shown; i++)
        out[used++] =
            (char)(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.');
    snprintf(out + used, STREAM_LOOK - used, "\")");
    return out;
}

static bool is_skippable(const uint8_t *bytes)
{
    return (bytes_u32(bytes) & UINT32_C(0xfffffff0)) ==
           ZSTD_MAGIC_SKIPPABLE_START;
}

static bool is_frame(const uint8_t *bytes)
{
    return bytes_u32(bytes) == ZSTD_MAGICNUMBER || is_skippable(bytes);
}

/* Reads until `need` packed bytes are there or the file ends. */
static int fill_packed(struct stream *s, size_t need, struct m2_error *err)
{
    if (s->packed_begin > 0 && s->packed_end > s->packed_begin)
        memmove(s->packed, s->packed + s->packed_begin,
                s->packed_end - s->packed_begin);
    s->packed_end -= s->packed_begin;
    s->packed_begin = 0;
    while (s->packed_end < need) {
        size_t got;
        int status = input_read(&s->input, s->packed + s->packed_end,
                                PACKED_BYTES - s->packed_end, &got, err);
        if (status != M2_OK)
            return status;
        if (got == 0)
            break;
        s->packed_end += got;
    }
    return M2_OK;
}

/* Offset in the file of the next packed byte. */
static uint64_t packed_offset(const struct stream *s)
{
    return s->input.offset - (s->packed_end - s->packed_begin);
}

static int refuse_container(const struct stream *s, struct m2_error *err)
{
    const uint8_t *bytes = s->packed;
    size_t n = s->packed_end;

    if (n == 0)
        return m2_fail(err, M2_E_DATA, "%s: empty file (0 bytes), expected DBN",
                       s->path);
    if (n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return m2_fail(err, M2_E_DATA,
                       "%s: gzip, not zstd; expected plain DBN or "
                       "zstd-compressed DBN",
                       s->path);
    if (n >= DBZ_BYTES && is_skippable(bytes) &&
        memcmp(bytes + 8, "DBZ", 3) == 0)
        return m2_fail(err, M2_E_DATA,
                       "%s: legacy DBZ file (2022), not DBN; download it "
                       "again or convert it",
                       s->path);
    return M2_OK;
}

static int open_zstd(struct stream *s, struct m2_error *err)
{
    s->zstd = true;
    s->zstd_context = ZSTD_createDCtx();
    if (s->zstd_context == NULL)
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", s->path);
    return M2_OK;
}

int stream_open(struct stream *stream, const struct input_source *source,
                bool allow_truncated, struct m2_error *err)
{
    *stream = (struct stream){
        .path = source->path,
        .allow_truncated = allow_truncated,
        .packed = malloc(PACKED_BYTES),
        .bytes = malloc(PLAIN_BYTES),
        .capacity = PLAIN_BYTES,
        .input = {.fd = -1},
    };
    if (stream->packed == NULL || stream->bytes == NULL)
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", source->path);
    int status = input_open(&stream->input, source, err);
    if (status == M2_OK)
        status = fill_packed(stream, DBZ_BYTES, err);
    if (status == M2_OK)
        status = refuse_container(stream, err);
    if (status == M2_OK && stream->packed_end >= MAGIC_BYTES &&
        is_frame(stream->packed))
        status = open_zstd(stream, err);
    return status;
}

void stream_close(struct stream *stream)
{
    ZSTD_freeDCtx(stream->zstd_context);
    free(stream->packed);
    free(stream->bytes);
    input_close(&stream->input);
    *stream = (struct stream){.input = {.fd = -1}};
}

static int frame_ends_early(struct stream *s, struct m2_error *err)
{
    s->ended = true;
    s->truncated = true;
    if (s->allow_truncated)
        return M2_OK;
    return m2_fail(err, M2_E_DATA,
                   "%s: truncated: the file ends at byte %" PRIu64
                   " inside a zstd frame, after %" PRIu64
                   " decompressed bytes; `allow_truncated: true` takes what "
                   "is there",
                   s->path, s->input.offset, s->offset + stream_available(s));
}

/* A frame must begin at the next packed byte, or the file ends here. */
static int begin_frame(struct stream *s, struct m2_error *err)
{
    char look[STREAM_LOOK];
    int status = fill_packed(s, MAGIC_BYTES, err);

    if (status != M2_OK)
        return status;
    if (s->packed_end == 0) {
        s->ended = true;
        return M2_OK;
    }
    if (s->packed_end < MAGIC_BYTES)
        return frame_ends_early(s, err);
    if (!is_frame(s->packed))
        return m2_fail(err, M2_E_DATA,
                       "%s: byte %" PRIu64 " of the file: what follows the "
                       "last zstd frame is none: %s",
                       s->path, packed_offset(s),
                       stream_look(s->packed, s->packed_end, look));
    s->in_frame = true;
    return M2_OK;
}

/* Decompresses once into the room behind bytes[end]. */
static int inflate(struct stream *s, struct m2_error *err)
{
    ZSTD_outBuffer out = {s->bytes + s->end, s->capacity - s->end, 0};
    ZSTD_inBuffer in = {s->packed + s->packed_begin,
                        s->packed_end - s->packed_begin, 0};
    size_t left = ZSTD_decompressStream(s->zstd_context, &out, &in);

    if (ZSTD_isError(left))
        return m2_fail(
            err, M2_E_DATA,
            "%s: damaged near byte %" PRIu64 " of the file: zstd: %s", s->path,
            packed_offset(s) + in.pos, ZSTD_getErrorName(left));
    s->packed_begin += in.pos;
    s->end += out.pos;
    s->in_frame = left != 0;
    if (left != 0 && in.size == 0 && out.pos == 0)
        return frame_ends_early(s, err);
    return M2_OK;
}

static int fill_from_zstd(struct stream *s, struct m2_error *err)
{
    int status = M2_OK;

    if (!s->in_frame)
        status = begin_frame(s, err);
    else if (s->packed_begin == s->packed_end)
        status = fill_packed(s, 1, err);
    if (status != M2_OK || s->ended)
        return status;
    return inflate(s, err);
}

static int fill_from_plain(struct stream *s, struct m2_error *err)
{
    size_t waiting = s->packed_end - s->packed_begin;
    size_t got;

    if (waiting > 0) { /* what was read to find the container */
        memcpy(s->bytes + s->end, s->packed + s->packed_begin, waiting);
        s->end += waiting;
        s->packed_begin = s->packed_end;
        return M2_OK;
    }
    int status = input_read(&s->input, s->bytes + s->end, s->capacity - s->end,
                            &got, err);
    if (status == M2_OK) {
        s->end += got;
        s->ended = got == 0;
    }
    return status;
}

int stream_fill(struct stream *stream, size_t need, struct m2_error *err)
{
    int status = M2_OK;

    while (status == M2_OK && !stream->ended &&
           stream_available(stream) < need) {
        size_t available = stream_available(stream);
        if (stream->begin > 0) {
            memmove(stream->bytes, stream->bytes + stream->begin, available);
            stream->begin = 0;
            stream->end = available;
        }
        if (stream->end == stream->capacity) {
            uint8_t *larger = memory_grow(stream->bytes, &stream->capacity,
                                          stream->capacity + 1, 1, err);
            if (larger == NULL)
                return M2_E_MEMORY;
            stream->bytes = larger;
        }
        status = stream->zstd ? fill_from_zstd(stream, err)
                              : fill_from_plain(stream, err);
    }
    return status;
}
