/* The bars of the shared files add up to what an independent reader found
 * (expected-dbn.csv): number, first, last, extremes, sums per instrument. */
#include <inttypes.h>
#include <math.h>

#include "data_plugin.h"
#include "unit.h"

/* What is expected of one instrument of one file. */
struct sums {
    char file[128], symbol[64];
    size_t records;
    int64_t first_time, last_time;
    double first_open, last_close, min_low, max_high;
    int64_t volume, close; /* close in units of 1e-9 */
};

enum { MAX_SUMS = 400 };

/* A symbol that changed its id has a line for each id: one after the other. */
static void merge(struct sums *to, const struct sums *more)
{
    to->records += more->records;
    to->volume += more->volume;
    to->close += more->close;
    to->min_low = fmin(to->min_low, more->min_low);
    to->max_high = fmax(to->max_high, more->max_high);
    if (more->first_time < to->first_time) {
        to->first_time = more->first_time;
        to->first_open = more->first_open;
    }
    if (more->last_time > to->last_time) {
        to->last_time = more->last_time;
        to->last_close = more->last_close;
    }
}

static size_t read_expected(const char *dir, struct sums *all)
{
    FILE *file = fopen(unit_path(dir, "expected-dbn.csv"), "r");
    char line[512];
    size_t n = 0;

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); /* the header */
    while (fgets(line, sizeof line, file) != NULL) {
        struct sums s;
        size_t i = 0;
        assert_int_equal(sscanf(line,
                                "%127[^,],%*u,%*u,%63[^,],%zu,%" SCNd64
                                ",%" SCNd64 ",%lf,%lf,%lf,%lf,%" SCNd64
                                ",%" SCNd64,
                                s.file, s.symbol, &s.records, &s.first_time,
                                &s.last_time, &s.first_open, &s.last_close,
                                &s.min_low, &s.max_high, &s.volume, &s.close),
                         11);
        while (i < n && (strcmp(all[i].file, s.file) != 0 ||
                         strcmp(all[i].symbol, s.symbol) != 0))
            i++;
        assert_true(i < MAX_SUMS);
        if (i < n)
            merge(&all[i], &s);
        else
            all[n++] = s;
    }
    fclose(file);
    return n;
}

static struct sums add_up(const struct read_data *data,
                          const struct read_series *series)
{
    struct sums s = {.records = series->n,
                     .first_time = series->times[0],
                     .last_time = series->times[series->n - 1],
                     .first_open = series->values[0],
                     .min_low = INFINITY,
                     .max_high = -INFINITY};

    for (size_t i = 0; i < series->n; i++) {
        const double *bar = series->values + i * data->n_columns;
        s.max_high = fmax(s.max_high, bar[1]);
        s.min_low = fmin(s.min_low, bar[2]);
        s.last_close = bar[3];
        s.close += llrint(bar[3] * 1e9);
        s.volume += llrint(bar[4]);
    }
    return s;
}

static void check(const struct sums *expected, const struct sums *found)
{
    print_message("# %s %s\n", expected->file, expected->symbol);
    assert_int_equal(found->records, expected->records);
    assert_int_equal(found->first_time, expected->first_time);
    assert_int_equal(found->last_time, expected->last_time);
    assert_true(found->first_open == expected->first_open);
    assert_true(found->last_close == expected->last_close);
    assert_true(found->min_low == expected->min_low);
    assert_true(found->max_high == expected->max_high);
    assert_int_equal(found->volume, expected->volume);
    assert_int_equal(found->close, expected->close);
}

static void sums_equal_those_of_an_independent_reader(void **state)
{
    struct sums *all = calloc(MAX_SUMS, sizeof *all);
    const char *dir = shared_data();
    struct m2_error err;
    struct read_data data = {0};
    size_t matched = 0;

    (void)state;
    if (dir == NULL) {
        print_message("# shared test data is not there\n");
        free(all);
        skip();
    }
    size_t n = read_expected(dir, all);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && strcmp(all[i].file, all[i - 1].file) == 0)
            continue; /* read together with the line before */
        assert_ok(data_read_file("dbn", unit_path(dir, all[i].file),
                                 "instrument: *", &data, &err),
                  &err);
        for (size_t k = i; k < n && strcmp(all[k].file, all[i].file) == 0;
             k++) {
            struct sums found =
                add_up(&data, data_series(&data, all[k].symbol));
            check(&all[k], &found);
            matched++;
        }
        data_free(&data);
    }
    assert_int_equal(matched, n);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_equal_those_of_an_independent_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
