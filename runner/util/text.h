/* Growable strings and lists of strings.
 *
 * A text remembers a failed allocation and ignores what is added afterwards,
 * so that a long text is built without a check per line and checked once, by
 * text_check or text_steal. `struct text t = {0}` is a valid empty text. */
#ifndef M2_UTIL_TEXT_H
#define M2_UTIL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "m2_plugin.h"

struct text {
    char *bytes;     /* NUL-terminated; NULL while empty: see text_string */
    size_t length;   /* without the NUL; the bytes may hold NULs, too */
    size_t capacity; /* bytes allocated */
    bool failed;     /* an allocation failed: the text is incomplete */
};

void text_init(struct text *text);
void text_free(struct text *text); /* leaves it empty, ready for use */

/* Forgets the contents, keeps the memory. */
void text_clear(struct text *text);

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const void *bytes, size_t size);
void text_add_char(struct text *text, char byte);
void text_add_repeated(struct text *text, char byte, size_t count);
__attribute__((format(printf, 2, 3))) void text_addf(struct text *text,
                                                     const char *format, ...);
__attribute__((format(printf, 2, 0))) void
text_addv(struct text *text, const char *format, va_list arguments);

/* Bytes of the UTF-8 character that the string begins with; 0 at its end, and
 * where there is none. */
size_t text_character_size(const char *string);
bool text_is_utf8(const char *string);

/* Adds the string as a JSON string, quotes included.  JSON is UTF-8: a byte
 * that begins no character becomes U+FFFD. */
void text_add_json(struct text *text, const char *string);

/* The contents; never NULL; valid until the text changes. */
const char *text_string(const struct text *text);

/* 0, or M2_E_MEMORY when the text is incomplete. */
int text_check(const struct text *text, struct m2_error *err);

/* The contents as a string that the caller frees, leaving the text empty;
 * NULL and M2_E_MEMORY when the text is incomplete. */
char *text_steal(struct text *text, struct m2_error *err);

/* A list that owns its strings. `struct string_list l = {0}` is empty. */
struct string_list {
    char **items;
    size_t count;
    size_t capacity;
};

void string_list_init(struct string_list *list);
void string_list_free(struct string_list *list);

/* Adds a copy. Returns 0 or M2_E_MEMORY. */
int string_list_add(struct string_list *list, const char *string,
                    struct m2_error *err);

/* Adds a malloc'ed string, which belongs to the list from now on (it is freed
 * when adding fails). NULL is handed through as M2_E_MEMORY, with the err of
 * whoever could not make it. */
int string_list_add_owned(struct string_list *list, char *string,
                          struct m2_error *err);

/* Index of the first equal string, or list->count. */
size_t string_list_find(const struct string_list *list, const char *string);

/* Bytewise order, the same in every locale. */
void string_list_sort(struct string_list *list);

#endif
