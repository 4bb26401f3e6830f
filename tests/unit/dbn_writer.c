/* Tiny DBN files, for tests. */
#include "dbn_writer.h"

#include <zstd.h>

#include "unit.h"

void bytes_add(struct bytes *bytes, const void *data, size_t n)
{
    while (bytes->n + n > bytes->capacity) {
        bytes->capacity = bytes->capacity * 2 + 1024;
        bytes->data = realloc(bytes->data, bytes->capacity);
        assert_non_null(bytes->data);
    }
    if (n > 0)
        memcpy(bytes->data + bytes->n, data, n);
    bytes->n += n;
}

void bytes_add_number(struct bytes *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++, value >>= 8) {
        uint8_t byte = (uint8_t)value;
        bytes_add(bytes, &byte, 1);
    }
}

static void add_text(struct bytes *bytes, const char *text, size_t size)
{
    size_t n = strlen(text);

    assert_true(n < size);
    bytes_add(bytes, text, n);
    for (; n < size; n++)
        bytes_add_number(bytes, 0, 1);
}

void bytes_save(const struct bytes *bytes, const char *path)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->n, file), bytes->n);
    assert_int_equal(fclose(file), 0);
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

static void add_names(struct bytes *bytes, const struct dbn_head *head,
                      size_t symbol_size)
{
    bytes_add_number(bytes, head->n_names, 4);
    for (size_t i = 0; i < head->n_names; i++) {
        const struct dbn_name *name = &head->names[i];
        add_text(bytes, name->name, symbol_size);
        bytes_add_number(bytes, 1, 4);
        bytes_add_number(bytes, name->first, 4);
        bytes_add_number(bytes, name->end, 4);
        add_text(bytes, name->id, symbol_size);
    }
}

void dbn_add_head(struct bytes *bytes, const struct dbn_head *head)
{
    unsigned version = head->version != 0 ? head->version : 3;
    size_t symbol_size = version == 1 ? 22 : 71, begin = bytes->n;

    bytes_add(bytes, "DBN", 3);
    bytes_add_number(bytes, version, 1);
    bytes_add_number(bytes, 0, 4); /* length: below */
    add_text(bytes, "GLBX.MDP3", 16);
    bytes_add_number(bytes, head->schema != 0 ? head->schema : 6, 2);
    bytes_add_number(bytes, head->start, 8);
    bytes_add_number(bytes, UINT64_MAX, 8);
    bytes_add_number(bytes, 0, 8);
    if (version == 1)
        bytes_add_number(bytes, UINT64_MAX, 8);
    bytes_add_number(bytes, head->stype_in, 1);
    bytes_add_number(bytes, head->stype_out, 1);
    bytes_add_number(bytes, head->ts_out, 1);
    if (version > 1)
        bytes_add_number(bytes, symbol_size, 2);
    while (bytes->n < begin + 108)
        bytes_add_number(bytes, 0, 1);
    for (int i = 0; i < 4; i++) /* schema definition, three empty lists */
        bytes_add_number(bytes, 0, 4);
    add_names(bytes, head, symbol_size);
    while (version >= 3 && (bytes->n - begin) % 8 != 0)
        bytes_add_number(bytes, 0, 1);
    size_t length = bytes->n - begin - 8;
    for (int i = 0; i < 4; i++)
        bytes->data[begin + 4 + i] = (uint8_t)(length >> 8 * i);
}

void dbn_add_bar(struct bytes *bytes, const struct dbn_bar *bar)
{
    bytes_add_number(bytes, 14, 1);
    bytes_add_number(bytes, bar->rtype != 0 ? bar->rtype : 0x21, 1);
    bytes_add_number(bytes, bar->publisher != 0 ? bar->publisher : 1, 2);
    bytes_add_number(bytes, bar->id, 4);
    bytes_add_number(bytes, (uint64_t)bar->time, 8);
    for (int i = 0; i < 4; i++)
        bytes_add_number(bytes, (uint64_t)bar->prices[i], 8);
    bytes_add_number(bytes, bar->volume, 8);
}

void dbn_add_simple(struct bytes *bytes, int64_t time, uint32_t id,
                    int64_t close, uint64_t volume)
{
    const struct dbn_bar bar = {.time = time,
                                .id = id,
                                .prices = {close, close, close, close},
                                .volume = volume};

    dbn_add_bar(bytes, &bar);
}

void dbn_add_other(struct bytes *bytes, unsigned rtype, size_t size)
{
    bytes_add_number(bytes, size / 4, 1);
    bytes_add_number(bytes, rtype, 1);
    for (size_t i = 2; i < size; i++)
        bytes_add_number(bytes, 0xee, 1);
}

void zstd_add_frame(struct bytes *bytes, const void *data, size_t n)
{
    size_t bound = ZSTD_compressBound(n);
    uint8_t *packed = malloc(bound);
    ZSTD_CCtx *context = ZSTD_createCCtx();

    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    size_t size = ZSTD_compress2(context, packed, bound, data, n);
    assert_false(ZSTD_isError(size));
    bytes_add(bytes, packed, size);
    ZSTD_freeCCtx(context);
    free(packed);
}

void zstd_add_skippable(struct bytes *bytes, const void *data, size_t n)
{
    bytes_add_number(bytes, 0x184D2A53, 4);
    bytes_add_number(bytes, n, 4);
    bytes_add(bytes, data, n);
}
