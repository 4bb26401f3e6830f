/* The metadata at the head of a DBN stream, versions 1, 2 and 3. */
#ifndef M2_DBN_METADATA_H
#define M2_DBN_METADATA_H

#include <stdbool.h>

#include "dbn/stream.h"

/* Codes of the format that are used here. */
enum {
    SCHEMA_NONE = 0xffff,
    STYPE_INSTRUMENT_ID = 0,
    STYPE_CONTINUOUS = 3,
};

#define DBN_NO_TIME UINT64_MAX

/* All of it that a reader of bars needs.  A fragment has no metadata: version
 * is 0 then, schema SCHEMA_NONE, and there are no mappings. */
struct metadata {
    unsigned version;
    char dataset[17];
    unsigned schema;
    uint64_t start;
    unsigned stype_in, stype_out;
    bool ts_out;             /* every record has 8 more bytes */
    size_t symbol_size;      /* bytes of a symbol, NUL included */
    const uint8_t *mappings; /* in the stream's buffer */
    size_t mappings_size;
    uint32_t n_mappings;
    size_t size; /* bytes from the head of the stream to the first record */
};

/* One interval of one mapping: from day first to the day before end (days
 * since 1970, UTC), instrument id is called symbol. */
struct mapping {
    uint32_t id;
    int64_t first, end;
    const char *symbol; /* NUL-terminated, valid during the visit */
};

typedef int mapping_visitor(void *context, const struct mapping *mapping,
                            struct m2_error *err);

/* Reads the metadata from a stream that is at its head and leaves it there:
 * mappings point into its buffer until the caller skips `size` bytes.  A
 * stream without metadata is an error, or, when fragments are allowed, a
 * fragment.  Every count is checked against the length before it is used. */
int metadata_read(struct stream *stream, bool allow_fragment,
                  struct metadata *out, struct m2_error *err);

/* Can the text be a symbol: printable ASCII?  What else a damaged file holds
 * has no place in messages, records and checkpoints. */
bool metadata_is_symbol(const char *text);

/* Visits the intervals whose instrument id is known; those whose symbol is
 * none, or without a number, are left out and counted in *n_left_out. */
int metadata_mappings(const struct metadata *metadata, mapping_visitor *visitor,
                      void *context, uint64_t *n_left_out,
                      struct m2_error *err);

/* "ohlcv-1m"; NULL for a code that is not known. */
const char *metadata_schema_name(unsigned schema);

#endif
