/* SHA-256 of bytes and files. */
#ifndef M2_UTIL_SHA256_H
#define M2_UTIL_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "m2_plugin.h"

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 65 }; /* hex: with the NUL */

/* A digest in the making. sha256_start, any number of sha256_add, then
 * sha256_finish, or sha256_abandon to give up. */
struct sha256 {
    void *context; /* libcrypto's */
};

int sha256_start(struct sha256 *sha, struct m2_error *err);
int sha256_add(struct sha256 *sha, const void *bytes, size_t size,
               struct m2_error *err);
int sha256_finish(struct sha256 *sha, uint8_t out[SHA256_SIZE],
                  struct m2_error *err);
void sha256_abandon(struct sha256 *sha);

int sha256_bytes(const void *bytes, size_t size, uint8_t out[SHA256_SIZE],
                 struct m2_error *err);

/* `code` is what a failing read is reported as, and what is no regular file:
 * a pipe could not be read again, a device never ends. */
int sha256_file(const char *path, int code, uint8_t out[SHA256_SIZE],
                struct m2_error *err);

/* 64 lower-case digits. Returns out. */
char *sha256_hex(const uint8_t digest[SHA256_SIZE], char out[SHA256_HEX_SIZE]);

#endif
