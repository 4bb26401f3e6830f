/* Proving that a safetensors file holds the bytes that were sealed. */
#include <stdlib.h>
#include <string.h>

#include "model/safetensors.h"
#include "util/memory.h"
#include "util/sha256.h"

enum { LENGTH_BYTES = 8, HEX = SHA256_HEX_SIZE - 1 };

/* Where the header's text ends. */
static size_t header_end(const struct st_file *file)
{
    const unsigned char *bytes = file->memory;
    uint64_t length = 0;

    for (int i = 0; i < LENGTH_BYTES; i++)
        length |= (uint64_t)bytes[i] << (8 * i);
    return LENGTH_BYTES + (size_t)length;
}

/* The header with the digits of the seal as zeros; NULL when the text does
 * not hold KEY and VALUE as the writer puts them. */
static char *unsealed_header(const struct st_file *file, const char *key,
                             const char *value, struct m2_error *err)
{
    size_t end = header_end(file);
    char *header = memory_zeroed(end + 1, 1, err), *place;
    struct text pair = {0};

    if (header == NULL)
        return NULL;
    memcpy(header, file->memory, end);
    text_addf(&pair, "\"%s\":\"%s\"", key, value);
    place = memmem(header + LENGTH_BYTES, end - LENGTH_BYTES,
                   text_string(&pair), pair.length);
    if (place == NULL) {
        m2_fail(err, M2_E_RESULTS, "%s: the seal %s is not where it was put",
                file->path, key);
        free(header);
        header = NULL;
    } else {
        memset(place + pair.length - HEX - 1, '0', HEX);
    }
    text_free(&pair);
    return header;
}

static int hash_unsealed(const struct st_file *file, const char *header,
                         uint8_t digest[SHA256_SIZE], struct m2_error *err)
{
    size_t end = header_end(file);
    struct sha256 sha;
    int result = sha256_start(&sha, err);

    if (result != 0)
        return result;
    result = sha256_add(&sha, header, end, err);
    if (result == 0)
        result = sha256_add(&sha, (const char *)file->memory + end,
                            file->size - end, err);
    if (result != 0) {
        sha256_abandon(&sha);
        return result;
    }
    return sha256_finish(&sha, digest, err);
}

int st_verify_seal(const struct st_file *file, const char *key,
                   struct m2_error *err)
{
    const char *value = st_metadata(file, key);
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE], *header;
    int result;

    if (value == NULL || strlen(value) != HEX)
        return m2_fail(err, M2_E_RESULTS, "%s: has no seal %s", file->path,
                       key);
    header = unsealed_header(file, key, value, err);
    if (header == NULL)
        return M2_E_RESULTS;
    result = hash_unsealed(file, header, digest, err);
    free(header);
    if (result == 0 && strcmp(sha256_hex(digest, hex), value) != 0)
        result = m2_fail(err, M2_E_RESULTS,
                         "%s: damaged: its SHA-256 is %s, expected %s",
                         file->path, hex, value);
    return result;
}
