/* libFuzzer: any bytes as a CSV file, read to the end.  The first three bytes
 * choose the options, the rest is the file; or, when the first is 255, a zone
 * file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* One of the values that an option has here, by a byte of the input. */
struct choice {
    const char *name;
    const char *values[8]; /* the first one is the default */
};

static const struct choice choices[] = {
    {"delimiter", {"auto", ",", ";", "space"}},
    {"header", {"auto", "yes", "no"}},
    {"columns", {NULL, "time", "a"}},
    {"time", {"auto", "none", "time"}},
    {"time_format", {"auto", "%d.%m.%Y %H:%M:%S.%f", "epoch_ms", "%F %T%z"}},
    {"step", {"1m", "auto"}},
    {"decimal", {".", ","}},
    {"thousands", {NULL, ",", " "}},
    {"duplicates", {"error", "first", "last"}},
    {"sort", {"false", "true"}},
    {"skip_repeated_header", {"true", "false"}},
    {"instrument", {NULL, "s"}},
    {"timezone", {"UTC", "-05:00"}},
};

enum { MAX_OPTIONS = 40 };

/* Defaults of the plugin's table, with the choices of the input. */
static size_t choose(const uint8_t *bytes, struct m2_value *values,
                     const char **texts)
{
    uint32_t bits =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
    size_t n = 0;

    for (; csv_options[n].name != NULL; n++) {
        texts[n] = csv_options[n].initial;
        for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++) {
            size_t count = 1;
            if (strcmp(choices[k].name, csv_options[n].name) != 0)
                continue;
            while (choices[k].values[count] != NULL)
                count++;
            texts[n] = choices[k].values[(bits >> (2 * k % 23)) % count];
        }
        values[n] = (struct m2_value){.name = csv_options[n].name,
                                      .texts = &texts[n],
                                      .n_texts = texts[n] != NULL};
        if (csv_options[n].type == M2_OPTION_BOOL)
            values[n].integer = strcmp(texts[n], "true") == 0;
    }
    return n;
}

/* What the runner relies on. */
static void check_block(const struct csv_source *source,
                        const struct m2_data_next *next)
{
    if (next->series_out >= source->n_series)
        abort();
    for (size_t i = 1; i < next->n_rows_out; i++)
        if (next->times_out[i] <= next->times_out[i - 1])
            abort();
    for (size_t i = 0; i < next->n_rows_out * source->n_columns; i++)
        if (isinf(next->values_out[i]))
            abort();
}

static void read_csv(const uint8_t *bytes, size_t size)
{
    struct m2_value values[MAX_OPTIONS];
    const char *texts[MAX_OPTIONS];
    struct m2_error err;
    struct settings settings;
    struct csv_source *source;
    struct m2_data_next next;
    struct m2_data_counts counts;
    const struct input_source input = {
        .path = "fuzz", .bytes = bytes + 3, .n_bytes = size - 3};
    int status =
        settings_read(values, choose(bytes, values, texts), &settings, &err);

    if (status == 0)
        status = csv_open(&input, 1, &settings, &source, &err);
    settings_free(&settings);
    if (status != 0)
        return;
    do {
        status = csv_next(source, &next, &err);
        if (status == 0)
            check_block(source, &next);
    } while (status == 0 && next.n_rows_out > 0);
    counts_show(&source->counts, &counts, &err);
    csv_close(source);
}

static void read_zone(const uint8_t *bytes, size_t size)
{
    struct zone zone = {0};
    struct m2_error err;
    int64_t utc;
    char name[] = "fuzz";

    zone.name = name;
    if (zone_parse(&zone, bytes, size, &err) == 0)
        for (int64_t t = -2000000000; t < 7000000000; t += 12345678)
            zone_to_utc(&zone, t, &utc, &err);
    free(zone.spans);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 3)
        return 0;
    if (bytes[0] == 255)
        read_zone(bytes + 1, size - 1);
    else
        read_csv(bytes, size);
    return 0;
}
