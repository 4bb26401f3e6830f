/* safetensors files into the tensors of golden cases. */
#include "model/golden_file.h"

#include <string.h>

#include "model/safetensors.h"
#include "util/memory.h"
#include "util/sha256.h"

static int check_digest(const char *path, const char *sha256,
                        struct m2_error *err)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    int code = sha256_file(path, M2_E_DATA, digest, err);
    if (code)
        return code;
    if (strcmp(sha256_hex(digest, hex), sha256) != 0)
        return m2_fail(err, M2_E_DATA,
                       "%s: SHA-256 is %s, the manifest says %s", path, hex,
                       sha256);
    return M2_OK;
}

static int convert(const struct st_tensor *from, struct golden_tensor *to,
                   struct m2_error *err)
{
    to->name = memory_string(from->name, err);
    to->values = memory_zeroed((size_t)from->n, sizeof *to->values, err);
    if (to->name == NULL || (to->values == NULL && from->n > 0))
        return M2_E_MEMORY;
    to->n_dims = from->n_dims;
    to->n = from->n;
    memcpy(to->shape, from->shape, sizeof to->shape);
    for (int64_t i = 0; i < from->n; i++)
        to->values[i] = from->dtype == ST_I64 || from->dtype == ST_I32
                            ? (double)st_get_int(from, i)
                            : st_get(from, i);
    return M2_OK;
}

int golden_file_read(const char *path, const char *sha256,
                     struct golden_file *out, struct m2_error *err)
{
    struct st_file file;
    int code = sha256 ? check_digest(path, sha256, err) : M2_OK;
    if (code == M2_OK)
        code = st_read(path, &file, err);
    if (code)
        return code;
    out->tensors = memory_zeroed(file.n_tensors, sizeof *out->tensors, err);
    out->n = file.n_tensors;
    if (out->tensors == NULL) {
        out->n = 0;
        code = M2_E_MEMORY;
    }
    for (size_t i = 0; code == M2_OK && i < out->n; i++)
        code = convert(&file.tensors[i], &out->tensors[i], err);
    st_free(&file);
    if (code)
        golden_file_free(out);
    return code;
}
