/* The safetensors format: types and elements. */
#include "model/safetensors.h"

#include <math.h>
#include <string.h>

/* The format is little-endian and is used in place. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "safetensors data is little-endian");

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [ST_F64] = {"F64", 8},   [ST_F32] = {"F32", 4}, [ST_F16] = {"F16", 2},
    [ST_BF16] = {"BF16", 2}, [ST_I64] = {"I64", 8}, [ST_I32] = {"I32", 4},
    [ST_U8] = {"U8", 1},
};

static double widen_f16(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value;

    if (exponent == 31)
        value = fraction == 0 ? INFINITY : NAN;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double widen_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return value;
}

const char *st_dtype_name(enum st_dtype dtype)
{
    return dtypes[dtype].name;
}

size_t st_dtype_size(enum st_dtype dtype)
{
    return dtypes[dtype].size;
}

/* Reads one element; the data may lie at any address. */
#define ELEMENT(type, tensor, i)                                               \
    ({                                                                         \
        type element_;                                                         \
        memcpy(&element_,                                                      \
               (const char *)(tensor)->data + (size_t)(i) * sizeof element_,   \
               sizeof element_);                                               \
        element_;                                                              \
    })

double st_get(const struct st_tensor *tensor, int64_t i)
{
    switch (tensor->dtype) {
    case ST_F64:
        return ELEMENT(double, tensor, i);
    case ST_F32:
        return (double)ELEMENT(float, tensor, i);
    case ST_F16:
        return widen_f16(ELEMENT(uint16_t, tensor, i));
    case ST_BF16:
        return widen_bf16(ELEMENT(uint16_t, tensor, i));
    case ST_I64:
    case ST_I32:
    case ST_U8:
        break;
    }
    return (double)st_get_int(tensor, i);
}

int64_t st_get_int(const struct st_tensor *tensor, int64_t i)
{
    double value;

    switch (tensor->dtype) {
    case ST_I64:
        return ELEMENT(int64_t, tensor, i);
    case ST_I32:
        return ELEMENT(int32_t, tensor, i);
    case ST_U8:
        return ELEMENT(uint8_t, tensor, i);
    case ST_F64:
    case ST_F32:
    case ST_F16:
    case ST_BF16:
        break;
    }
    value = st_get(tensor, i);
    return fabs(value) < 0x1p63 ? (int64_t)value : 0;
}
