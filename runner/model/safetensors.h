/* The safetensors format: reader and writer.
 *
 * File: 8 bytes little-endian header length, a JSON object
 * {name: {dtype, shape, data_offsets}, "__metadata__": {string: string}},
 * then the data.  The reader trusts nothing: header length, JSON, shapes,
 * offsets, overlaps and holes are checked against the file's size, and an
 * error names the file, the tensor and the byte.  The writer orders tensors
 * as they were added, aligns the data to 64 bytes, writes __metadata__ first
 * with its keys sorted, and is a pure function of its input. */
#ifndef M2_MODEL_SAFETENSORS_H
#define M2_MODEL_SAFETENSORS_H

#include <stdbool.h>

#include "m2_plugin.h"
#include "util/file.h"
#include "util/text.h"

enum st_dtype { ST_F64, ST_F32, ST_F16, ST_BF16, ST_I64, ST_I32, ST_U8 };

struct st_tensor {
    char *name;
    enum st_dtype dtype;
    int64_t shape[8];
    int n_dims;
    int64_t n;        /* elements */
    const void *data; /* inside the file's memory; may be unaligned */
    size_t bytes;
};

struct st_file {
    char *path;
    void *memory;
    size_t size;
    struct st_tensor *tensors; /* in file order */
    size_t n_tensors;
    char **metadata;   /* key, value, key, value */
    size_t n_metadata; /* pairs */
};

/* "F32" and 4, for messages and for sizes. */
const char *st_dtype_name(enum st_dtype dtype);
size_t st_dtype_size(enum st_dtype dtype);

/* Errors of the reader are M2_E_DATA or M2_E_MEMORY. */
int st_read(const char *path, struct st_file *out, struct m2_error *err);
/* The same from memory that the caller keeps (for tests and fuzzing). */
int st_parse(const char *path, const void *bytes, size_t size,
             struct st_file *out, struct m2_error *err);
void st_free(struct st_file *file);
const struct st_tensor *st_find(const struct st_file *file, const char *name);
const char *st_metadata(const struct st_file *file, const char *key);

/* Element i as a double (F16 and BF16 widened) or as an int64 (a number with
 * a fraction is cut, one that does not fit gives 0). */
double st_get(const struct st_tensor *tensor, int64_t i);
int64_t st_get_int(const struct st_tensor *tensor, int64_t i);

/* Names and metadata are copied.  A name or a key given twice is
 * M2_E_INTERNAL; failures of the disk are M2_E_RESULTS. */
struct st_writer; /* opaque; nothing reaches the disk before st_write */
struct st_writer *st_writer_new(void); /* NULL: out of memory */
void st_writer_free(struct st_writer *writer);
int st_add_metadata(struct st_writer *writer, const char *key,
                    const char *value, struct m2_error *err);
/* data is not copied and must live until st_write. */
int st_add(struct st_writer *writer, const char *name, enum st_dtype dtype,
           const int64_t *shape, int n_dims, const void *data,
           struct m2_error *err);
/* Atomically: temporary file, fsync, rename, fsync of the directory.  After a
 * failure of the disk errno is its cause. */
int st_write(struct st_writer *writer, const char *path, struct m2_error *err);
int st_write_at(struct st_writer *writer, const struct file_at *file,
                struct m2_error *err);

/* A seal: metadata KEY holds the SHA-256 of the whole file with the 64 digits
 * of the seal itself taken as zeros.  st_seal is called after everything else
 * was added; st_verify_seal refuses a file whose bytes are not those that
 * were sealed (M2_E_RESULTS). */
int st_seal(struct st_writer *writer, const char *key, struct m2_error *err);
int st_verify_seal(const struct st_file *file, const char *key,
                   struct m2_error *err);

#endif
