/* Finding the ends of JSON values without parsing them.
 *
 * What is between the ends is not looked at: a value that was skipped may
 * still be no JSON.  Every function moves `at` only forward, to at most
 * `end`; false: there is no such thing there. */
#ifndef M2_RESULTS_JSON_CURSOR_H
#define M2_RESULTS_JSON_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

struct json_cursor {
    const char *at, *end;
};

void json_skip_blanks(struct json_cursor *cursor);

/* Blanks, and then this byte. */
bool json_skip_byte(struct json_cursor *cursor, char byte);

/* A string whose opening quote is at `at`. */
bool json_skip_string(struct json_cursor *cursor);

/* A value of any kind; an object or list by its brackets. */
bool json_skip_value(struct json_cursor *cursor);

/* May a number or word end before this byte? */
bool json_ends_value(char byte);

/* Is it a string, quotes included, without escapes and control characters? */
bool json_is_plain_string(const char *bytes, size_t size);

#endif
