/* Writes tiny DBN files, for tests. */
#ifndef M2_TESTS_DBN_WRITER_H
#define M2_TESTS_DBN_WRITER_H

#include <stddef.h>
#include <stdint.h>

#define DBN_MINUTE INT64_C(60000000000)
#define DBN_DAY    INT64_C(86400000000000)
#define DBN_JAN_2  INT64_C(1704153600000000000) /* 2024-01-02T00:00:00Z */

/* A growing string of bytes; {0} is empty. */
struct bytes {
    uint8_t *data;
    size_t n, capacity;
};

void bytes_add(struct bytes *bytes, const void *data, size_t n);
void bytes_add_number(struct bytes *bytes, uint64_t value, size_t size);
void bytes_save(const struct bytes *bytes, const char *path);
void bytes_free(struct bytes *bytes);

/* From date `first` to the day before `end` (YYYYMMDD), id is called name. */
struct dbn_name {
    const char *name;
    uint32_t first, end;
    const char *id; /* a number as text */
};

/* The head of a stream.  0 in version and schema mean 3 and ohlcv-1m;
 * no_schema is the code "none". */
struct dbn_head {
    unsigned version, schema, stype_in, stype_out, ts_out;
    uint64_t start;
    const struct dbn_name *names;
    size_t n_names;
};
void dbn_add_head(struct bytes *bytes, const struct dbn_head *head);

/* A bar; prices in units of 1e-9. */
struct dbn_bar {
    int64_t time;
    uint32_t id;
    int64_t prices[4];
    uint64_t volume;
    unsigned rtype;     /* 0: 0x21 */
    unsigned publisher; /* 0: 1 */
};
void dbn_add_bar(struct bytes *bytes, const struct dbn_bar *bar);

/* A bar whose prices are all close * 1e-9. */
void dbn_add_simple(struct bytes *bytes, int64_t time, uint32_t id,
                    int64_t close, uint64_t volume);

/* A record of another type, filled with bytes 0xee, `size` bytes long. */
void dbn_add_other(struct bytes *bytes, unsigned rtype, size_t size);

/* A zstd frame with checksum, and without content size. */
void zstd_add_frame(struct bytes *bytes, const void *data, size_t n);
void zstd_add_skippable(struct bytes *bytes, const void *data, size_t n);

#endif
