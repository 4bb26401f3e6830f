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

void text_add_json(struct text *text, const char *string)
{
    text_add_char(text, '"');
    for (const char *s = string; *s != '\0'; s++) {
        unsigned char byte = (unsigned char)*s;

        if (byte == '"' || byte == '\\')
            text_addf(text, "\\%c", byte);
        else if (byte == '\n')
            text_add(text, "\\n");
        else if (byte == '\t')
            text_add(text, "\\t");
        else if (byte < 0x20)
            text_addf(text, "\\u%04x", byte);
        else
            text_add_char(text, *s);
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
