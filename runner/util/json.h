/* JSON in the making: text of any kind, and objects whose failures are met
 * once, at the end. */
#ifndef M2_UTIL_JSON_H
#define M2_UTIL_JSON_H

#include <jansson.h>
#include <stdbool.h>

/* A new string.  JSON is UTF-8, file names and what quotes them need not be:
 * in a text that is not, every byte beyond ASCII becomes a '?'.  NULL only
 * when out of memory. */
json_t *json_any_text(const char *text);

/* A number, or null where it is not finite: JSON has no NaN. */
json_t *json_number_or_null(double value);

/* An object being built.  A value that is NULL, or that cannot be added, is
 * what running out of memory looks like; it is remembered, and json_built then
 * gives nothing, so that no object ever lacks keys in silence.
 *
 *     struct json_builder builder = json_build();
 *     json_add_text(&builder, "name", name);
 *     json_add(&builder, "parts", parts_object());
 *     return json_built(&builder);                                        */
struct json_builder {
    json_t *object;
    bool failed;
};
struct json_builder json_build(void);
/* Takes the value, also on failure. */
void json_add(struct json_builder *builder, const char *key, json_t *value);
/* Any text; null for NULL. */
void json_add_text(struct json_builder *builder, const char *key,
                   const char *text);
void json_add_integer(struct json_builder *builder, const char *key,
                      int64_t value);
/* Adds every key of another object, in place of those there are. */
void json_add_all(struct json_builder *builder, const json_t *from);
/* The new object, or NULL when out of memory; ends the builder. */
json_t *json_built(struct json_builder *builder);

/* Gives a value up: NULL, for `return ok ? list : json_drop(list)`. */
json_t *json_drop(json_t *value);

/* Adds to an array what would be added to an object: takes the value; false
 * when out of memory. */
bool json_append(json_t *array, json_t *value);

#endif
