/* What an override says behind its "=": one value, several, or a range. */
#ifndef M2_CONFIG_OVERRIDE_VALUE_H
#define M2_CONFIG_OVERRIDE_VALUE_H

#include "config/override.h"

struct overriding {
    struct experiment *experiment;
    struct messages *messages;
    const struct source *source;
    int line; /* which override, from 1 */
};

/* The place of `size` bytes at `part` of the override `text`. */
struct place override_place(const struct overriding *o, const char *text,
                            const char *part, size_t size);

/* One line of UTF-8, without control characters. */
bool override_is_clean(const char *text);

/* The first bytes of a text as a plain scalar; NULL when out of memory. */
struct node *override_word(const struct overriding *o, struct place place,
                           const char *text, size_t size);

/* A value that begins with "range(", and the numbers it stands for, as a list;
 * NULL after a message. */
bool range_is(const char *value);
struct node *range_values(struct tree *tree, struct place place,
                          const char *value, struct messages *messages);

/* The values behind "=" are several, or a range. */
bool override_is_axis(const char *value);

/* One value; NULL after a message. */
struct node *override_value(const struct overriding *o, const char *text,
                            const char *value);

/* All of them as a list; NULL after a message. */
struct node *override_axis_values(const struct overriding *o, const char *text,
                                  const char *value);

#endif
