/* How fast the dbn plugin reads a zstd file, beside decompressing it alone.
 *
 * usage: bench_dbn FILE.dbn.zst INSTRUMENT [ROUNDS]
 * Prints the fastest of each (default: five) and the most memory used. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <zstd.h>

#include "m2_data.h"

/* Processor time, so that other programs hardly matter. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bytes after decompressing; 0 when it does not work. */
static uint64_t decompress(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t in_size = ZSTD_DStreamInSize(), out_size = ZSTD_DStreamOutSize();
    char *in_bytes = malloc(in_size), *out_bytes = malloc(out_size);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    uint64_t total = 0;
    size_t n, left = 0;

    while (file != NULL && !ZSTD_isError(left) &&
           (n = fread(in_bytes, 1, in_size, file)) > 0) {
        ZSTD_inBuffer in = {in_bytes, n, 0};
        while (in.pos < in.size && !ZSTD_isError(left)) {
            ZSTD_outBuffer out = {out_bytes, out_size, 0};
            left = ZSTD_decompressStream(context, &out, &in);
            total += out.pos;
        }
    }
    ZSTD_freeDCtx(context);
    free(in_bytes);
    free(out_bytes);
    if (file != NULL)
        fclose(file);
    return left == 0 ? total : 0;
}

static int call(void *handle, enum m2_data_slot slot, void *args,
                struct m2_error *err)
{
    return m2_plugin_query_v1(NULL)->slots[slot].fn(handle, args, err);
}

static size_t set_defaults(struct m2_value *values, const char **texts,
                           const char *instrument)
{
    const struct m2_option *table = m2_plugin_query_v1(NULL)->options;
    size_t n = 0;

    for (; table[n].name != NULL; n++) {
        bool is_instrument = strcmp(table[n].name, "instrument") == 0;
        texts[n] = is_instrument ? instrument : table[n].initial;
        values[n] = (struct m2_value){.name = table[n].name,
                                      .texts = &texts[n],
                                      .n_texts = texts[n] != NULL};
    }
    return n;
}

/* Rows of all series, or 0 and a message. */
static uint64_t read_bars(const char *path, const char *instrument)
{
    struct m2_value values[32];
    const char *texts[32];
    struct m2_error err;
    struct m2_data_next next;
    uint64_t rows = 0;
    struct m2_data_open open = {.paths = &path,
                                .n_paths = 1,
                                .options = values,
                                .n_options =
                                    set_defaults(values, texts, instrument)};
    int status = call(NULL, M2_DATA_OPEN, &open, &err);

    if (status != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 0;
    }
    do {
        status = call(open.handle_out, M2_DATA_NEXT, &next, &err);
        rows += status == 0 ? next.n_rows_out : 0;
    } while (status == 0 && next.n_rows_out > 0);
    if (status != 0)
        fprintf(stderr, "%s\n", err.text);
    call(open.handle_out, M2_DATA_CLOSE, NULL, NULL);
    return status == 0 ? rows : 0;
}

int main(int argc, char **argv)
{
    double fastest_zstd = 1e9, fastest_read = 1e9;
    uint64_t bytes = 0, rows = 0;
    int rounds = argc > 3 ? atoi(argv[3]) : 5;
    struct rusage usage;

    if (argc < 3) {
        fprintf(stderr, "usage: bench_dbn FILE.dbn.zst INSTRUMENT [ROUNDS]\n");
        return 2;
    }
    for (int i = 0; i < rounds; i++) {
        double t0 = now();
        bytes = decompress(argv[1]);
        double t1 = now();
        rows = read_bars(argv[1], argv[2]);
        double t2 = now();
        if (bytes == 0 || rows == 0)
            return 1;
        fastest_zstd = t1 - t0 < fastest_zstd ? t1 - t0 : fastest_zstd;
        fastest_read = t2 - t1 < fastest_read ? t2 - t1 : fastest_read;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("decompress %" PRIu64 " bytes: %.3f s, %.0f MB/s\n", bytes,
           fastest_zstd, 1e-6 * (double)bytes / fastest_zstd);
    printf("read %" PRIu64 " bars: %.3f s, %.0f MB/s\n", rows, fastest_read,
           1e-6 * (double)bytes / fastest_read);
    printf("speed of reading / of decompressing alone: %.2f\n",
           fastest_zstd / fastest_read);
    printf("peak memory: %ld KiB\n", usage.ru_maxrss);
    return 0;
}
