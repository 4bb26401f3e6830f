/* SHA-256 of bytes and files, by libcrypto. */
#include "util/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "util/file.h"

enum { FILE_BLOCK = 1 << 18 };

static int crypto_failed(struct m2_error *err)
{
    return m2_fail(err, M2_E_INTERNAL, "libcrypto cannot compute SHA-256");
}

static int add_file(struct sha256 *sha, int fd, const char *path, int code,
                    struct m2_error *err)
{
    char *block = malloc(FILE_BLOCK);
    int result = 0;

    if (block == NULL)
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", path);
    while (result == 0) {
        ssize_t n = read(fd, block, FILE_BLOCK);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            result = m2_fail(err, code, "%s: %s", path, strerror(errno));
        if (n <= 0)
            break;
        result = sha256_add(sha, block, (size_t)n, err);
    }
    free(block);
    return result;
}

int sha256_start(struct sha256 *sha, struct m2_error *err)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    if (context == NULL ||
        EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(context);
        return crypto_failed(err);
    }
    sha->context = context;
    return 0;
}

int sha256_add(struct sha256 *sha, const void *bytes, size_t size,
               struct m2_error *err)
{
    if (EVP_DigestUpdate(sha->context, bytes, size) != 1)
        return crypto_failed(err);
    return 0;
}

int sha256_finish(struct sha256 *sha, uint8_t out[SHA256_SIZE],
                  struct m2_error *err)
{
    int ok = EVP_DigestFinal_ex(sha->context, out, NULL);

    sha256_abandon(sha);
    return ok == 1 ? 0 : crypto_failed(err);
}

void sha256_abandon(struct sha256 *sha)
{
    EVP_MD_CTX_free(sha->context);
    sha->context = NULL;
}

int sha256_bytes(const void *bytes, size_t size, uint8_t out[SHA256_SIZE],
                 struct m2_error *err)
{
    struct sha256 sha;
    int result = sha256_start(&sha, err);

    if (result != 0)
        return result;
    result = sha256_add(&sha, bytes, size, err);
    if (result != 0) {
        sha256_abandon(&sha);
        return result;
    }
    return sha256_finish(&sha, out, err);
}

int sha256_file(const char *path, int code, uint8_t out[SHA256_SIZE],
                struct m2_error *err)
{
    struct sha256 sha = {NULL};
    int result = file_check_regular(path, code, err);
    int fd;

    if (result != 0)
        return result;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return m2_fail(err, code, "%s: %s", path, strerror(errno));
    result = sha256_start(&sha, err);
    if (result == 0)
        result = add_file(&sha, fd, path, code, err);
    if (result == 0)
        result = sha256_finish(&sha, out, err);
    else
        sha256_abandon(&sha);
    close(fd);
    return result;
}

char *sha256_hex(const uint8_t digest[SHA256_SIZE], char out[SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SHA256_SIZE; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[SHA256_HEX_SIZE - 1] = '\0';
    return out;
}
