/* Growable strings and lists of strings. */
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* Makes room for `more` bytes and the NUL; false when that fails. */
static bool text_reserve(struct text *text, size_t more)
{
    size_t needed;

    if (text->failed || !size_add(text->length, more, &needed) ||
        !size_add(needed, 1, &needed) ||
        array_reserve(&text->bytes, &text->capacity, needed, 1, NULL) != 0) {
        text->failed = true;
        return false;
    }
    return true;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void text_init(struct text *text)
{
    *text = (struct text){0};
}

void text_free(struct text *text)
{
    free(text->bytes);
    text_init(text);
}

void text_clear(struct text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_add_bytes(text, string, strlen(string));
}

void text_add_bytes(struct text *text, const void *bytes, size_t size)
{
    if (!text_reserve(text, size))
        return;
    if (size > 0)
        memcpy(text->bytes + text->length, bytes, size);
    text->length += size;
    text->bytes[text->length] = '\0';
}

void text_add_char(struct text *text, char byte)
{
    text_add_bytes(text, &byte, 1);
}

void text_add_repeated(struct text *text, char byte, size_t count)
{
    if (!text_reserve(text, count))
        return;
    memset(text->bytes + text->length, byte, count);
    text->length += count;
    text->bytes[text->length] = '\0';
}

void text_addf(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_addv(text, format, arguments);
    va_end(arguments);
}

void text_addv(struct text *text, const char *format, va_list arguments)
{
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if (!text_reserve(text, (size_t)length))
        return;
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format,
              arguments);
    text->length += (size_t)length;
}

/* The Unicode Standard, table 3-7: neither overlong forms nor surrogates. */
size_t text_character_size(const char *string)
{
    const unsigned char *p = (const unsigned char *)string;
    unsigned char low = *p == 0xE0 ? 0xA0 : *p == 0xF0 ? 0x90 : 0x80;
    unsigned char high = *p == 0xED ? 0x9F : *p == 0xF4 ? 0x8F : 0xBF;
    size_t size = *p >= 0xC2 && *p <= 0xDF   ? 2
                  : *p >= 0xE0 && *p <= 0xEF ? 3
                  : *p >= 0xF0 && *p <= 0xF4 ? 4
                                             : 0;

    if (*p < 0x80)
        return *p != '\0';
    if (size == 0 || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

bool text_is_utf8(const char *string)
{
    size_t size;

    while ((size = text_character_size(string)) > 0)
        string += size;
    return *string == '\0';
}

static void add_json_ascii(struct text *text, char byte)
{
    if (byte == '"' || byte == '\\')
        text_addf(text, "\\%c", byte);
    else if (byte == '\n')
        text_add(text, "\\n");
    else if (byte == '\t')
        text_add(text, "\\t");
    else if (byte < 0x20)
        text_addf(text, "\\u%04x", (unsigned)byte);
    else
        text_add_char(text, byte);
}

void text_add_json(struct text *text, const char *string)
{
    text_add_char(text, '"');
    while (*string != '\0') {
        size_t size = text_character_size(string);

        if (size == 0)
            text_add(text, "\xEF\xBF\xBD");
        else if (size == 1)
            add_json_ascii(text, *string);
        else
            text_add_bytes(text, string, size);
        string += size > 0 ? size : 1;
    }
    text_add_char(text, '"');
}

const char *text_string(const struct text *text)
{
    return text->bytes != NULL ? text->bytes : "";
}

int text_check(const struct text *text, struct m2_error *err)
{
    if (!text->failed)
        return 0;
    return m2_fail(err, M2_E_MEMORY, "out of memory in a text of %zu bytes",
                   text->length);
}

char *text_steal(struct text *text, struct m2_error *err)
{
    char *bytes;

    text_add_bytes(text, "", 0); /* an empty text, too, becomes a string */
    if (text_check(text, err) != 0) {
        text_free(text);
        return NULL;
    }
    bytes = text->bytes;
    text_init(text);
    return bytes;
}

void string_list_init(struct string_list *list)
{
    *list = (struct string_list){0};
}

void string_list_free(struct string_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    string_list_init(list);
}

int string_list_add(struct string_list *list, const char *string,
                    struct m2_error *err)
{
    return string_list_add_owned(list, memory_string(string, err), err);
}

int string_list_add_owned(struct string_list *list, char *string,
                          struct m2_error *err)
{
    if (string == NULL)
        return M2_E_MEMORY;
    if (array_reserve(&list->items, &list->capacity, list->count + 1,
                      sizeof *list->items, err) != 0) {
        free(string);
        return M2_E_MEMORY;
    }
    list->items[list->count++] = string;
    return 0;
}

size_t string_list_find(const struct string_list *list, const char *string)
{
    size_t i = 0;

    while (i < list->count && strcmp(list->items[i], string) != 0)
        i++;
    return i;
}

void string_list_sort(struct string_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_strings);
}
