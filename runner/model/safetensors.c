/* The safetensors format: the reader.
 *
 * The file is read whole: a mapping would turn a file that somebody shortens
 * meanwhile into a bus error instead of a message. */
#include "model/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "util/memory.h"

enum { LENGTH_BYTES = 8, MAX_DIMS = 8, SHOWN = 96 };

/* The format's own limit: a longer header is an attack or another format. */
static const uint64_t MAX_HEADER = 100000000;

struct reader {
    const char *path;
    const unsigned char *bytes;
    size_t size;
    size_t data_start; /* byte of the file at which the data begins */
    struct st_file *out;
    struct m2_error *err;
};

/* A name from the file, fit for a message: cut, and nothing in it that a
 * terminal would obey. */
static const char *shown(const char *text, char buffer[SHOWN])
{
    size_t n = 0;

    for (; n < SHOWN - 1 && text[n] != '\0'; n++)
        buffer[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
    buffer[n] = '\0';
    return buffer;
}

/* "FILE: tensor NAME: what" */
__attribute__((format(printf, 3, 4))) static int
refuse(const struct reader *reader, const char *tensor, const char *format, ...)
{
    char what[1024], name[SHOWN];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (tensor == NULL)
        return m2_fail(reader->err, M2_E_DATA, "%.800s: %s", reader->path,
                       what);
    return m2_fail(reader->err, M2_E_DATA, "%.800s: tensor %s: %s",
                   reader->path, shown(tensor, name), what);
}

static int parse_dtype(const struct reader *reader, const json_t *value,
                       struct st_tensor *tensor)
{
    const char *text = json_string_value(value);
    char buffer[SHOWN];

    if (text == NULL)
        return refuse(reader, tensor->name, "dtype is not a string");
    for (int i = ST_F64; i <= ST_U8; i++) {
        if (strcmp(text, st_dtype_name((enum st_dtype)i)) == 0) {
            tensor->dtype = (enum st_dtype)i;
            return 0;
        }
    }
    return refuse(reader, tensor->name,
                  "dtype %s is not one of F64 F32 F16 BF16 I64 I32 U8",
                  shown(text, buffer));
}

/* Shape, number of elements and bytes, all in range. */
static int parse_shape(const struct reader *reader, const json_t *value,
                       struct st_tensor *tensor)
{
    size_t n = 1, n_dims = json_array_size(value);

    if (!json_is_array(value))
        return refuse(reader, tensor->name, "shape is not a list");
    if (n_dims > MAX_DIMS)
        return refuse(reader, tensor->name,
                      "shape has %zu dimensions, at most %d are read", n_dims,
                      MAX_DIMS);
    for (size_t i = 0; i < n_dims; i++) {
        const json_t *item = json_array_get(value, i);
        json_int_t extent = json_integer_value(item);

        if (!json_is_integer(item) || extent < 0)
            return refuse(reader, tensor->name,
                          "dimension %zu of shape is not a whole number from 0",
                          i);
        if (!size_multiply(n, (size_t)extent, &n))
            return refuse(reader, tensor->name, "shape overflows");
        tensor->shape[i] = extent;
    }
    if (!size_multiply(n, st_dtype_size(tensor->dtype), &tensor->bytes) ||
        tensor->bytes > INT64_MAX)
        return refuse(reader, tensor->name, "shape overflows");
    tensor->n_dims = (int)n_dims;
    tensor->n = (int64_t)n;
    return 0;
}

static int parse_offsets(const struct reader *reader, const json_t *value,
                         struct st_tensor *tensor)
{
    const json_t *first = json_array_get(value, 0);
    const json_t *second = json_array_get(value, 1);
    json_int_t begin = json_integer_value(first);
    json_int_t end = json_integer_value(second);
    size_t data_size = reader->size - reader->data_start;

    if (json_array_size(value) != 2 || !json_is_integer(first) ||
        !json_is_integer(second) || begin < 0 || end < begin)
        return refuse(
            reader, tensor->name,
            "data_offsets is not [begin, end] with 0 <= begin <= end");
    if ((uint64_t)end > data_size)
        return refuse(reader, tensor->name,
                      "its data ends at byte %llu of the data, but the file "
                      "has only %zu bytes of data (is it cut short?)",
                      (unsigned long long)end, data_size);
    if ((size_t)(end - begin) != tensor->bytes)
        return refuse(reader, tensor->name,
                      "data_offsets [%lld, %lld] span %lld bytes, dtype and "
                      "shape need %zu",
                      (long long)begin, (long long)end,
                      (long long)(end - begin), tensor->bytes);
    tensor->data = reader->bytes + reader->data_start + begin;
    return 0;
}

static int parse_tensor(const struct reader *reader, const char *name,
                        json_t *value, struct st_tensor *tensor)
{
    int result;

    tensor->name = memory_string(name, reader->err);
    if (tensor->name == NULL)
        return M2_E_MEMORY;
    for (const char *c = name; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return refuse(reader, name, "its name holds a control character");
    }
    if (!json_is_object(value) || json_object_size(value) != 3)
        return refuse(reader, name,
                      "its entry is not an object of dtype, shape and "
                      "data_offsets");
    result = parse_dtype(reader, json_object_get(value, "dtype"), tensor);
    if (result == 0)
        result = parse_shape(reader, json_object_get(value, "shape"), tensor);
    if (result == 0)
        result = parse_offsets(reader, json_object_get(value, "data_offsets"),
                               tensor);
    return result;
}

static int parse_metadata(const struct reader *reader, json_t *object)
{
    struct st_file *out = reader->out;
    char buffer[SHOWN];
    const char *key;
    json_t *value;

    if (!json_is_object(object))
        return refuse(reader, NULL, "__metadata__ is not an object");
    out->metadata = memory_zeroed(2 * json_object_size(object) + 1,
                                  sizeof *out->metadata, reader->err);
    if (out->metadata == NULL)
        return M2_E_MEMORY;
    json_object_foreach (object, key, value) {
        char **pair = &out->metadata[2 * out->n_metadata];

        if (!json_is_string(value))
            return refuse(reader, NULL,
                          "__metadata__: the value of %s is not a string",
                          shown(key, buffer));
        pair[0] = memory_string(key, reader->err);
        pair[1] = memory_string(json_string_value(value), reader->err);
        out->n_metadata++;
        if (pair[0] == NULL || pair[1] == NULL)
            return M2_E_MEMORY;
    }
    return 0;
}

static int in_file_order(const void *left, const void *right)
{
    const struct st_tensor *a = left, *b = right;

    if (a->data != b->data)
        return (const char *)a->data < (const char *)b->data ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Each tensor begins where the one before ends, and the last one ends the
 * file: no byte is used twice or not at all. */
static int check_contiguous(const struct reader *reader)
{
    const struct st_file *out = reader->out;
    size_t end = reader->data_start;

    for (size_t i = 0; i < out->n_tensors; i++) {
        const struct st_tensor *tensor = &out->tensors[i];
        size_t begin =
            (size_t)((const unsigned char *)tensor->data - reader->bytes);

        if (begin != end)
            return refuse(reader, tensor->name,
                          "its data begins at byte %zu of the file, %s byte "
                          "%zu, where the tensor before ends",
                          begin,
                          begin < end ? "overlapping" : "leaving a hole from",
                          end);
        end = begin + tensor->bytes;
    }
    if (end != reader->size)
        return refuse(reader, NULL,
                      "the data ends at byte %zu, but the file has %zu bytes",
                      end, reader->size);
    return 0;
}

static int parse_entries(const struct reader *reader, json_t *root)
{
    struct st_file *out = reader->out;
    const char *name;
    json_t *value;
    int result = 0;

    out->tensors = memory_zeroed(json_object_size(root) + 1,
                                 sizeof *out->tensors, reader->err);
    if (out->tensors == NULL)
        return M2_E_MEMORY;
    json_object_foreach (root, name, value) {
        if (strcmp(name, "__metadata__") == 0)
            result = parse_metadata(reader, value);
        else
            result = parse_tensor(reader, name, value,
                                  &out->tensors[out->n_tensors++]);
        if (result != 0)
            return result;
    }
    qsort(out->tensors, out->n_tensors, sizeof *out->tensors, in_file_order);
    return check_contiguous(reader);
}

static int parse_file(struct reader *reader)
{
    uint64_t length;
    json_error_t error;
    json_t *root;
    int result;

    if (reader->size < LENGTH_BYTES)
        return refuse(reader, NULL,
                      "not a safetensors file: it has %zu bytes, the header "
                      "alone needs %d",
                      reader->size, LENGTH_BYTES);
    memcpy(&length, reader->bytes, sizeof length);
    if (length > MAX_HEADER || length > reader->size - LENGTH_BYTES)
        return refuse(reader, NULL,
                      "byte 0: the header would have %llu bytes, the file has "
                      "%zu (not a safetensors file, or cut short?)",
                      (unsigned long long)length, reader->size);
    if (length == 0 || reader->bytes[LENGTH_BYTES] != '{')
        return refuse(reader, NULL,
                      "byte %d: the header does not begin with '{'",
                      LENGTH_BYTES);
    root = json_loadb((const char *)reader->bytes + LENGTH_BYTES,
                      (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        return refuse(reader, NULL, "byte %d: the header is not valid JSON: %s",
                      LENGTH_BYTES + error.position, error.text);
    reader->data_start = LENGTH_BYTES + (size_t)length;
    result = parse_entries(reader, root);
    json_decref(root);
    return result;
}

static int fail_errno(const char *path, struct m2_error *err)
{
    return m2_fail(err, M2_E_DATA, "%s: %s", path, strerror(errno));
}

/* All of an open file; *size is what was read. */
static int read_whole(int fd, const char *path, void **memory, size_t *size,
                      struct m2_error *err)
{
    struct stat facts;
    char *bytes;
    size_t done = 0;

    if (fstat(fd, &facts) != 0)
        return fail_errno(path, err);
    if (!S_ISREG(facts.st_mode))
        return m2_fail(err, M2_E_DATA, "%s: not a regular file", path);
    bytes = memory_zeroed((size_t)facts.st_size + 1, 1, err);
    if (bytes == NULL)
        return M2_E_MEMORY;
    while (done < (size_t)facts.st_size) {
        ssize_t n = read(fd, bytes + done, (size_t)facts.st_size - done);

        if (n == 0)
            break; /* shortened meanwhile: the parser will say what lacks */
        if (n < 0 && errno != EINTR) {
            free(bytes);
            return fail_errno(path, err);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    *memory = bytes;
    *size = done;
    return 0;
}

int st_parse(const char *path, const void *bytes, size_t size,
             struct st_file *out, struct m2_error *err)
{
    struct st_file file = {.path = memory_string(path, err), .size = size};
    struct reader reader = {
        .path = path, .bytes = bytes, .size = size, .out = &file, .err = err};
    int result = file.path == NULL ? M2_E_MEMORY : parse_file(&reader);

    if (result != 0) {
        st_free(&file);
        return result;
    }
    *out = file;
    return 0;
}

int st_read(const char *path, struct st_file *out, struct m2_error *err)
{
    void *memory = NULL;
    size_t size = 0;
    int result;
    /* A pipe must not be waited for; read_whole refuses it. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return fail_errno(path, err);
    result = read_whole(fd, path, &memory, &size, err);
    close(fd);
    if (result == 0)
        result = st_parse(path, memory, size, out, err);
    if (result != 0) {
        free(memory);
        return result;
    }
    out->memory = memory;
    return 0;
}

void st_free(struct st_file *file)
{
    for (size_t i = 0; i < file->n_tensors; i++)
        free(file->tensors[i].name);
    for (size_t i = 0; i < 2 * file->n_metadata; i++)
        free(file->metadata[i]);
    free(file->tensors);
    free(file->metadata);
    free(file->memory);
    free(file->path);
    *file = (struct st_file){0};
}

const struct st_tensor *st_find(const struct st_file *file, const char *name)
{
    for (size_t i = 0; i < file->n_tensors; i++) {
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    }
    return NULL;
}

const char *st_metadata(const struct st_file *file, const char *key)
{
    for (size_t i = 0; i < file->n_metadata; i++) {
        if (strcmp(file->metadata[2 * i], key) == 0)
            return file->metadata[2 * i + 1];
    }
    return NULL;
}
