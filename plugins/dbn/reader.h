/* Bars, one after the other, out of a list of files.
 *
 * Every record is stepped over by its own length, which is checked; bars are
 * told by their rtype, never by their size (an MBO record has 56 bytes, too).
 * A record that is cut off is an error, unless truncation is allowed. */
#ifndef M2_DBN_READER_H
#define M2_DBN_READER_H

#include "common/bytes.h"
#include "dbn/symbols.h"

/* rtype of a record: what it is. */
enum {
    RTYPE_OHLCV_OLD = 0x11, /* before 2023: the interval is in the metadata */
    RTYPE_SYMBOL_MAPPING = 0x16,
    N_RTYPES = 256,
};

/* Lengths of bars that can be read. */
struct interval {
    const char *name; /* of the schema */
    unsigned schema;
    uint8_t rtype;
    int64_t step_ns;
};
extern const struct interval intervals[];
enum { N_INTERVALS = 5 };

/* The interval of a schema code or of an rtype; NULL when it is none. */
const struct interval *interval_of_schema(unsigned schema);
const struct interval *interval_of_rtype(uint8_t rtype);

/* "system", "ohlcv-1s", ...; for an unknown one "type 0x5e", written to out. */
enum { RTYPE_TEXT = 24 };
const char *rtype_text(uint8_t rtype, char out[RTYPE_TEXT]);

/* A file of the source, as found by a first look at it. */
struct dbn_file {
    struct input_source source;
    char *path; /* owned; source.path points to it */
    bool zstd;
    struct metadata metadata; /* without the mappings */
    int64_t start;            /* ns; orders the files */
    uint64_t bars;            /* bars delivered */
    bool truncated;           /* and accepted */
};

/* What a reader reads and what it met. */
struct reader {
    struct dbn_file *files; /* borrowed */
    size_t n_files;
    size_t file;                   /* the current one */
    const struct interval *wanted; /* NULL: bars of every interval */
    bool allow_truncated, allow_fragment;
    bool is_open;
    struct stream stream;
    struct metadata metadata;
    struct id_map map;
    size_t bar_size;
    bool is_bar[N_RTYPES];      /* in the current file */
    uint64_t records[N_RTYPES]; /* that were no such bars */
    struct {
        size_t file;
        uint64_t offset;
    } first[N_RTYPES]; /* of those */
    uint64_t mappings_left_out, mapping_conflicts;
};

/* A bar where it lies in the stream, valid until the next call. */
struct bar {
    const uint8_t *bytes;
    uint64_t offset; /* of the record in the plain stream */
    int64_t time;
    uint32_t id, symbol;
    uint16_t publisher;
    uint8_t rtype;
};

/* Open, high, low, close (i is 0 to 3), in units of 1e-9. */
static inline int64_t bar_price(const struct bar *bar, int i)
{
    return bytes_i64(bar->bytes + 16 + 8 * i);
}

static inline uint64_t bar_volume(const struct bar *bar)
{
    return bytes_u64(bar->bytes + 48);
}

#define DBN_NO_PRICE INT64_MAX

/* Starts at the first bar of files[first]; names go to symbols. */
void reader_init(struct reader *reader, struct dbn_file *files, size_t n_files,
                 size_t first, struct symbols *symbols);
void reader_free(struct reader *reader); /* a zeroed one is allowed */

/* 1 and a bar, 0 at the end of the last file, or an error. */
int reader_next(struct reader *reader, struct bar *out, struct m2_error *err);

#endif
