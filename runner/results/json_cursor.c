/* Finding the ends of JSON values without parsing them. */
#include "results/json_cursor.h"

#include <string.h>

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

bool json_ends_value(char byte)
{
    return byte == ',' || byte == '}' || byte == ']' || is_blank(byte);
}

void json_skip_blanks(struct json_cursor *cursor)
{
    while (cursor->at < cursor->end && is_blank(*cursor->at))
        cursor->at++;
}

bool json_skip_byte(struct json_cursor *cursor, char byte)
{
    json_skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != byte)
        return false;
    cursor->at++;
    return true;
}

/* The closing quote comes after an even number of backslashes. */
bool json_skip_string(struct json_cursor *cursor)
{
    const char *start = cursor->at;

    for (;;) {
        const char *quote =
            memchr(cursor->at + 1, '"', (size_t)(cursor->end - cursor->at - 1));
        const char *p = quote;

        if (quote == NULL)
            return false;
        cursor->at = quote;
        while (p - 1 > start && p[-1] == '\\')
            p--;
        if ((quote - p) % 2 == 0)
            break;
    }
    cursor->at++;
    return true;
}

/* An object or list; what is between its brackets is for the parser. */
static bool skip_nested(struct json_cursor *cursor)
{
    size_t depth = 0;

    while (cursor->at < cursor->end) {
        char byte = *cursor->at;

        if (byte == '"') {
            if (!json_skip_string(cursor))
                return false;
            continue;
        }
        cursor->at++;
        if (byte == '{' || byte == '[')
            depth++;
        else if ((byte == '}' || byte == ']') && --depth == 0)
            return true;
    }
    return false;
}

bool json_skip_value(struct json_cursor *cursor)
{
    if (cursor->at == cursor->end)
        return false;
    if (*cursor->at == '"')
        return json_skip_string(cursor);
    if (*cursor->at == '{' || *cursor->at == '[')
        return skip_nested(cursor);
    while (cursor->at < cursor->end && !json_ends_value(*cursor->at))
        cursor->at++;
    return true;
}

bool json_is_plain_string(const char *bytes, size_t size)
{
    if (size < 2 || bytes[0] != '"')
        return false;
    for (size_t i = 1; i + 1 < size; i++)
        if ((unsigned char)bytes[i] < 0x20 || bytes[i] == '\\')
            return false;
    return true;
}
