/* The plain bytes of a DBN file, whatever container they lie in.
 *
 * The container is found by the first bytes, never by the name.  zstd: every
 * frame, skippable ones too, cut anywhere; a file that ends inside a frame is
 * truncated, and bytes that follow a frame and are none are an error
 * (RFC 8878).  Legacy DBZ and gzip are refused by name. */
#ifndef M2_DBN_STREAM_H
#define M2_DBN_STREAM_H

#include "common/input.h"

struct stream {
    struct input input;
    const char *path;
    bool zstd;
    bool allow_truncated;
    bool truncated;  /* the container ended early, and that is allowed */
    bool ended;      /* no more bytes will come */
    uint64_t offset; /* of bytes[begin] in the plain stream */
    uint8_t *bytes;  /* bytes[begin .. end-1] are there to be read */
    size_t begin, end, capacity;
    struct ZSTD_DCtx_s *zstd_context; /* and compressed bytes to be read */
    uint8_t *packed;
    size_t packed_begin, packed_end;
    bool in_frame;
};

/* Opens and finds the container; the stream keeps a copy of the source's
 * pointers.  Errors: M2_E_DATA for a file that is empty or is something else.
 * After an error, and after use, stream_close. */
int stream_open(struct stream *stream, const struct input_source *source,
                bool allow_truncated, struct m2_error *err);
void stream_close(struct stream *stream); /* a zeroed one is allowed */

/* Makes at least `need` bytes available at bytes[begin], fewer only when the
 * stream ends before.  Memory grows only as far as bytes really come. */
int stream_fill(struct stream *stream, size_t need, struct m2_error *err);

static inline size_t stream_available(const struct stream *stream)
{
    return stream->end - stream->begin;
}

/* Goes past bytes that are available. */
static inline void stream_skip(struct stream *stream, size_t n)
{
    stream->begin += n;
    stream->offset += n;
}

/* "byte 1376", with "of the decompressed stream" where there are two ways of
 * counting.  Returns out. */
enum { STREAM_PLACE = 64 };
char *stream_place(const struct stream *stream, uint64_t offset,
                   char out[STREAM_PLACE]);

/* The first bytes as text and hexadecimal, for a message.  Returns out. */
enum { STREAM_LOOK = 80 };
char *stream_look(const uint8_t *bytes, size_t n, char out[STREAM_LOOK]);

#endif
