/* Little-endian numbers at any address: no casts, so no alignment needed. */
#ifndef M2_PLUGINS_COMMON_BYTES_H
#define M2_PLUGINS_COMMON_BYTES_H

#include <stdint.h>

static inline uint16_t bytes_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t bytes_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
           (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t bytes_u64(const uint8_t *bytes)
{
    return (uint64_t)bytes_u32(bytes) | (uint64_t)bytes_u32(bytes + 4) << 32;
}

/* Two's complement, as every machine has it (C23 asks for it, too). */
static inline int64_t bytes_i64(const uint8_t *bytes)
{
    return (int64_t)bytes_u64(bytes);
}

#endif
