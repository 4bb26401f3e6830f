/* The safetensors format: the writer.
 *
 * The bytes are a function of what was added, in that order, alone; the data
 * is streamed from where it lies, because a copy of a large model with its
 * moments would double the memory of a run. */
#include "model/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/memory.h"
#include "util/sha256.h"

enum { LENGTH_BYTES = 8, MAX_DIMS = 8, ALIGNMENT = 64 };

struct entry {
    char *name;
    enum st_dtype dtype;
    int64_t shape[MAX_DIMS];
    int n_dims;
    const void *data;
    size_t bytes;
};

struct pair {
    char *key, *value;
};

struct st_writer {
    struct entry *entries;
    size_t n_entries, entries_capacity;
    struct pair *pairs;
    size_t n_pairs, pairs_capacity;
};

static int by_key(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    return strcmp(a->key, b->key);
}

static void add_metadata(struct st_writer *writer, struct text *out)
{
    if (writer->n_pairs == 0)
        return;
    qsort(writer->pairs, writer->n_pairs, sizeof *writer->pairs, by_key);
    text_add(out, "\"__metadata__\":");
    for (size_t i = 0; i < writer->n_pairs; i++) {
        text_add(out, i == 0 ? "{" : ",");
        text_add_json(out, writer->pairs[i].key);
        text_add_char(out, ':');
        text_add_json(out, writer->pairs[i].value);
    }
    text_add_char(out, '}');
}

static void add_entry(const struct entry *entry, size_t begin, struct text *out)
{
    text_add_json(out, entry->name);
    text_addf(out, ":{\"dtype\":\"%s\",\"shape\":[",
              st_dtype_name(entry->dtype));
    for (int i = 0; i < entry->n_dims; i++)
        text_addf(out, i == 0 ? "%lld" : ",%lld", (long long)entry->shape[i]);
    text_addf(out, "],\"data_offsets\":[%zu,%zu]}", begin,
              begin + entry->bytes);
}

/* Length and JSON, padded with spaces so that the data is aligned. */
static int build_header(struct st_writer *writer, struct text *out,
                        struct m2_error *err)
{
    unsigned char length[LENGTH_BYTES] = {0};
    size_t offset = 0;

    text_add_bytes(out, length, sizeof length);
    text_add_char(out, '{');
    add_metadata(writer, out);
    for (size_t i = 0; i < writer->n_entries; i++) {
        if (i > 0 || writer->n_pairs > 0)
            text_add_char(out, ',');
        add_entry(&writer->entries[i], offset, out);
        offset += writer->entries[i].bytes;
    }
    text_add_char(out, '}');
    text_add_repeated(out, ' ', -out->length % ALIGNMENT);
    if (text_check(out, err) != 0)
        return M2_E_MEMORY;
    for (int i = 0; i < LENGTH_BYTES; i++)
        out->bytes[i] = (char)((out->length - LENGTH_BYTES) >> (8 * i));
    return 0;
}

/* A model has many small tensors: they travel together. */
enum { OUTPUT_BLOCK = 32768 };

struct output {
    const struct st_writer *writer;
    const struct text *header;
    size_t used;
    unsigned char block[OUTPUT_BLOCK];
};

static bool flush_output(struct output *output, int fd)
{
    size_t used = output->used;

    output->used = 0;
    return file_write_bytes(fd, output->block, used);
}

static bool put_output(struct output *output, int fd, const void *bytes,
                       size_t size)
{
    if (size > OUTPUT_BLOCK - output->used && !flush_output(output, fd))
        return false;
    if (size > OUTPUT_BLOCK)
        return file_write_bytes(fd, bytes, size);
    if (size > 0)
        memcpy(output->block + output->used, bytes, size);
    output->used += size;
    return true;
}

static bool write_output(void *context, int fd)
{
    struct output *output = context;
    const struct st_writer *writer = output->writer;

    if (!put_output(output, fd, output->header->bytes, output->header->length))
        return false;
    for (size_t i = 0; i < writer->n_entries; i++) {
        if (!put_output(output, fd, writer->entries[i].data,
                        writer->entries[i].bytes))
            return false;
    }
    return flush_output(output, fd);
}

struct st_writer *st_writer_new(void)
{
    return calloc(1, sizeof(struct st_writer));
}

void st_writer_free(struct st_writer *writer)
{
    if (writer == NULL)
        return;
    for (size_t i = 0; i < writer->n_entries; i++)
        free(writer->entries[i].name);
    for (size_t i = 0; i < writer->n_pairs; i++) {
        free(writer->pairs[i].key);
        free(writer->pairs[i].value);
    }
    free(writer->entries);
    free(writer->pairs);
    free(writer);
}

int st_add_metadata(struct st_writer *writer, const char *key,
                    const char *value, struct m2_error *err)
{
    struct pair pair;

    for (size_t i = 0; i < writer->n_pairs; i++) {
        if (strcmp(writer->pairs[i].key, key) == 0)
            return m2_fail(err, M2_E_INTERNAL,
                           "safetensors: metadata %s given twice", key);
    }
    if (array_reserve(&writer->pairs, &writer->pairs_capacity,
                      writer->n_pairs + 1, sizeof *writer->pairs, err) != 0)
        return M2_E_MEMORY;
    pair.key = memory_string(key, err);
    pair.value = memory_string(value, err);
    if (pair.key == NULL || pair.value == NULL) {
        free(pair.key);
        free(pair.value);
        return M2_E_MEMORY;
    }
    writer->pairs[writer->n_pairs++] = pair;
    return 0;
}

int st_add(struct st_writer *writer, const char *name, enum st_dtype dtype,
           const int64_t *shape, int n_dims, const void *data,
           struct m2_error *err)
{
    struct entry entry = {.dtype = dtype, .n_dims = n_dims, .data = data};

    if (n_dims < 0 || n_dims > MAX_DIMS || strcmp(name, "__metadata__") == 0)
        return m2_fail(err, M2_E_INTERNAL,
                       "safetensors: %s: bad name or number of dimensions",
                       name);
    for (size_t i = 0; i < writer->n_entries; i++) {
        if (strcmp(writer->entries[i].name, name) == 0)
            return m2_fail(err, M2_E_INTERNAL,
                           "safetensors: tensor %s given twice", name);
    }
    entry.bytes = st_dtype_size(dtype);
    for (int i = 0; i < n_dims; i++) {
        entry.shape[i] = shape[i];
        if (shape[i] < 0 ||
            !size_multiply(entry.bytes, (size_t)shape[i], &entry.bytes))
            return m2_fail(err, M2_E_INTERNAL, "safetensors: %s: bad shape",
                           name);
    }
    if (array_reserve(&writer->entries, &writer->entries_capacity,
                      writer->n_entries + 1, sizeof *writer->entries, err) != 0)
        return M2_E_MEMORY;
    entry.name = memory_string(name, err);
    if (entry.name == NULL)
        return M2_E_MEMORY;
    writer->entries[writer->n_entries++] = entry;
    return 0;
}

int st_write_at(struct st_writer *writer, const struct file_at *file,
                struct m2_error *err)
{
    struct text header = {0};
    struct output output = {.writer = writer, .header = &header};
    int saved, result = build_header(writer, &header, err);

    if (result == 0)
        result =
            file_replace_at(file, write_output, &output, M2_E_RESULTS, err);
    saved = errno;
    text_free(&header);
    errno = saved;
    return result;
}

int st_write(struct st_writer *writer, const char *path, struct m2_error *err)
{
    const struct file_at file = {AT_FDCWD, "", path};

    return st_write_at(writer, &file, err);
}

/* SHA-256 of what st_write would write now. */
static int hash_file(struct st_writer *writer, uint8_t digest[SHA256_SIZE],
                     struct m2_error *err)
{
    struct text header = {0};
    struct sha256 sha;
    int result = build_header(writer, &header, err);

    if (result == 0)
        result = sha256_start(&sha, err);
    if (result != 0) {
        text_free(&header);
        return result;
    }
    result = sha256_add(&sha, header.bytes, header.length, err);
    for (size_t i = 0; result == 0 && i < writer->n_entries; i++)
        result = sha256_add(&sha, writer->entries[i].data,
                            writer->entries[i].bytes, err);
    text_free(&header);
    if (result != 0)
        sha256_abandon(&sha);
    else
        result = sha256_finish(&sha, digest, err);
    return result;
}

int st_seal(struct st_writer *writer, const char *key, struct m2_error *err)
{
    char hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE] = {0};
    int result = st_add_metadata(writer, key, sha256_hex(digest, hex), err);

    if (result == 0)
        result = hash_file(writer, digest, err);
    for (size_t i = 0; result == 0 && i < writer->n_pairs; i++) {
        if (strcmp(writer->pairs[i].key, key) == 0)
            sha256_hex(digest, writer->pairs[i].value);
    }
    return result;
}
