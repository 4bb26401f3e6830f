/* Formats that are taken for text by mistake, known by their first bytes. */
#include "csv/encoding.h"

#include <string.h>

static const struct {
    const char *bytes;
    size_t n;
    struct not_text what;
} formats[] = {
    {"\xff\xfe\0\0", 4, {"UTF-32 text", "convert it to UTF-8"}},
    {"\0\0\xfe\xff", 4, {"UTF-32 text", "convert it to UTF-8"}},
    {"\xff\xfe",
     2,
     {"UTF-16 text (little-endian)",
      "convert it: iconv -f UTF-16 -t UTF-8 FILE"}},
    {"\xfe\xff",
     2,
     {"UTF-16 text (big-endian)", "convert it: iconv -f UTF-16 -t UTF-8 FILE"}},
    {"\x1f\x8b", 2, {"gzip data", "decompress it first"}},
    {"\x28\xb5\x2f\xfd",
     4,
     {"zstd data", "Databento files are read by `source: dbn`, others "
                   "decompress first"}},
    {"\xfd"
     "7zXZ",
     5,
     {"xz data", "decompress it first"}},
    {"BZh", 3, {"bzip2 data", "decompress it first"}},
    {"PK\x03\x04",
     4,
     {"a zip archive, or a workbook (.xlsx)", "unpack it, or save it as CSV"}},
    {"\xd0\xcf\x11\xe0", 4, {"a workbook (.xls)", "save it as CSV"}},
    {"DBN", 3, {"DBN data", "read it with `source: dbn`"}},
    {"PAR1", 4, {"Parquet data", "convert it to CSV"}},
    {"%PDF", 4, {"a PDF document", "convert it to CSV"}},
};

static const struct not_text utf16 = {
    "UTF-16 text", "convert it: iconv -f UTF-16LE -t UTF-8 FILE"};

/* Without a mark, every second byte of ASCII in UTF-16 is 0. */
static int looks_like_utf16(const char *bytes, size_t n)
{
    size_t zeros[2] = {0, 0};

    if (n < 8)
        return 0;
    n = n < 64 ? n & ~(size_t)1 : 64;
    for (size_t i = 0; i < n; i++)
        zeros[i % 2] += bytes[i] == '\0';
    return zeros[0] + zeros[1] == n / 2 && zeros[0] * zeros[1] == 0;
}

const struct not_text *encoding_not_text(const char *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (n >= formats[i].n &&
            memcmp(bytes, formats[i].bytes, formats[i].n) == 0)
            return &formats[i].what;
    return looks_like_utf16(bytes, n) ? &utf16 : NULL;
}

static size_t utf8_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

size_t utf8_character(const char *bytes, size_t n)
{
    static const unsigned long smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = n > 0 ? utf8_length((unsigned char)bytes[0]) : 0;
    unsigned long code = 0;

    if (length == 1)
        return 1;
    if (length == 0 || length > n)
        return 0;
    code = (unsigned char)bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | ((unsigned char)bytes[i] & 0x3f);
    }
    bool valid = code >= smallest[length] && code <= 0x10ffff &&
                 (code < 0xd800 || code > 0xdfff);
    return valid ? length : 0;
}

bool utf8_is_name(const char *text, size_t n)
{
    size_t length;

    for (size_t i = 0; i < n; i += length) {
        length = utf8_character(text + i, n - i);
        if (length == 0 || (unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    }
    return true;
}
