/* A chained hash over the numbers of every step. */
#include "train/trace.h"

#include <string.h>

#include "util/sha256.h"

static void put_u64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static void put_double(uint8_t *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_u64(out, bits);
}

int trace_step(uint8_t trace[TRACE_BYTES], int64_t step, double loss,
               double grad_norm, struct m2_error *err)
{
    uint8_t block[TRACE_BYTES + 24], digest[SHA256_SIZE];
    int code;

    memcpy(block, trace, TRACE_BYTES);
    put_u64(block + TRACE_BYTES, (uint64_t)step);
    put_double(block + TRACE_BYTES + 8, loss);
    put_double(block + TRACE_BYTES + 16, grad_norm);
    code = sha256_bytes(block, sizeof block, digest, err);
    if (code == 0)
        memcpy(trace, digest, TRACE_BYTES);
    return code;
}

void trace_print(const uint8_t trace[TRACE_BYTES], char out[TRACE_TEXT])
{
    for (int i = 0; i < TRACE_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", trace[i]);
}

int trace_parse(const char *text, uint8_t trace[TRACE_BYTES])
{
    if (strlen(text) != TRACE_TEXT - 1 ||
        strspn(text, "0123456789abcdef") != TRACE_TEXT - 1)
        return -1;
    for (int i = 0; i < TRACE_BYTES; i++) {
        unsigned byte;

        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return -1;
        trace[i] = (uint8_t)byte;
    }
    return 0;
}
