/* libFuzzer: any bytes as a DBN file, read to the end.  The first byte chooses
 * the options, the rest is the file. */
#include <stddef.h>
#include <stdint.h>

#include "dbn/dbn.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void choose(uint8_t choice, struct settings *out)
{
    static const char *const all = "*", *const front = "front";

    *out = (struct settings){
        .fragment = (choice & 1) != 0,
        .allow_truncated = (choice & 2) != 0,
        .sort = (choice & 4) != 0,
        .duplicates = (choice & 8) != 0 ? DUPLICATES_LAST : DUPLICATES_ERROR,
        .front = (choice & 16) != 0,
        .schema = (choice & 32) != 0 ? "ohlcv-1m" : NULL,
        .publisher = (choice & 64) != 0 ? 1 : -1,
    };
    if (out->front || (choice & 128) != 0) {
        out->instruments = out->front ? &front : &all;
        out->n_instruments = 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct m2_error err;
    struct settings settings;
    struct dbn_source *source;
    struct m2_data_next next;
    struct m2_data_counts counts;
    int status;

    if (size == 0)
        return 0;
    choose(bytes[0], &settings);
    const struct input_source input = {
        .path = "fuzz", .bytes = bytes + 1, .n_bytes = size - 1};
    if (dbn_open(&input, 1, &settings, &source, &err) != 0)
        return 0;
    do {
        status = dbn_next(source, &next, &err);
    } while (status == 0 && next.n_rows_out > 0);
    counts_show(&source->counts, &counts, &err);
    dbn_close(source);
    return 0;
}
