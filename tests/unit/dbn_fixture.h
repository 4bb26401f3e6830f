/* What the tests of the dbn plugin share: a directory, a file in the making,
 * and what was read from it. */
#ifndef M2_TESTS_DBN_FIXTURE_H
#define M2_TESTS_DBN_FIXTURE_H

#include "data_plugin.h"
#include "dbn_writer.h"
#include "unit.h"

struct fixture {
    char *dir;
    struct bytes bytes;
    struct read_data data;
    struct m2_error err;
};

static inline int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->dir = unit_make_dir();
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    unit_remove_dir(f->dir);
    bytes_free(&f->bytes);
    data_free(&f->data);
    free(f);
    return 0;
}

/* Reads the bytes as a file. */
static inline int read_bytes(struct fixture *f, const char *options)
{
    const char *path = unit_path(f->dir, "a.dbn");

    bytes_save(&f->bytes, path);
    data_free(&f->data);
    return data_read_file("dbn", path, options, &f->data, &f->err);
}

/* Saves the bytes as a file of the directory and starts with new ones. */
static inline void save_bytes(struct fixture *f, const char *name)
{
    bytes_save(&f->bytes, unit_path(f->dir, name));
    f->bytes.n = 0;
}

/* Reads two files. */
static inline int read_two(struct fixture *f, const char *first,
                           const char *second, const char *options)
{
    const char *paths[2] = {unit_path(f->dir, first),
                            unit_path(f->dir, second)};

    data_free(&f->data);
    return data_read("dbn", paths, 2, options, &f->data, &f->err);
}

/* A cell of what was read. */
static inline double cell(const struct fixture *f, const char *series,
                          size_t row, const char *column)
{
    const struct read_series *s = data_series(&f->data, series);

    assert_true(row < s->n);
    return s->values[row * f->data.n_columns + data_column(&f->data, column)];
}

/* The head of a file whose bars are called 6EH4 (id 11) and 6EM4 (id 12). */
static inline void add_two_names(struct bytes *bytes, unsigned version)
{
    static const struct dbn_name names[] = {
        {"6EH4", 20240102, 20240131, "11"},
        {"6EM4", 20240102, 20240131, "12"},
    };
    const struct dbn_head head = {.version = version,
                                  .start = DBN_JAN_2,
                                  .names = names,
                                  .n_names = COUNT_OF(names)};

    dbn_add_head(bytes, &head);
}

/* Three bars of each of the two. */
static inline void add_six_bars(struct bytes *bytes)
{
    for (int i = 0; i < 3; i++) {
        int64_t time = DBN_JAN_2 + i * DBN_MINUTE;
        dbn_add_simple(bytes, time, 12, 2000000000 + i, 20);
        dbn_add_simple(bytes, time, 11, 1000000000 + i, 10);
    }
}

#endif
