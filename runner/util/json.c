/* Text that may not be UTF-8; objects in the making. */
#include "util/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_any_text(const char *text)
{
    json_t *string = json_string(text);
    char *plain;

    if (string != NULL)
        return string;
    plain = strdup(text);
    if (plain == NULL)
        return NULL;
    for (char *c = plain; *c != '\0'; c++)
        if ((unsigned char)*c > 0x7f)
            *c = '?';
    string = json_string(plain);
    free(plain);
    return string;
}

json_t *json_number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

struct json_builder json_build(void)
{
    return (struct json_builder){.object = json_object()};
}

void json_add(struct json_builder *builder, const char *key, json_t *value)
{
    if (json_object_set_new(builder->object, key, value) != 0)
        builder->failed = true;
}

void json_add_text(struct json_builder *builder, const char *key,
                   const char *text)
{
    json_add(builder, key, text != NULL ? json_any_text(text) : json_null());
}

void json_add_integer(struct json_builder *builder, const char *key,
                      int64_t value)
{
    json_add(builder, key, json_integer((json_int_t)value));
}

void json_add_all(struct json_builder *builder, const json_t *from)
{
    json_t *other = json_deep_copy(from);

    if (other == NULL || json_object_update(builder->object, other) != 0)
        builder->failed = true;
    json_decref(other);
}

json_t *json_built(struct json_builder *builder)
{
    json_t *object = builder->object;

    builder->object = NULL;
    return builder->failed ? json_drop(object) : object;
}

json_t *json_drop(json_t *value)
{
    json_decref(value);
    return NULL;
}

bool json_append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) == 0;
}
