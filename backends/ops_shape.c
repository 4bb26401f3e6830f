/* Dimensions and the small expressions of the contracts over them. */
#include "ops_shape.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool same_text(struct shape_text a, struct shape_text b)
{
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

const struct dimension *dims_find(const struct dimensions *dims,
                                  struct shape_text name)
{
    for (size_t i = 0; i < dims->n; i++) {
        if (same_text(dims->items[i].name, name))
            return &dims->items[i];
    }
    return NULL;
}

void dims_bind(struct dimensions *dims, struct shape_text name, int64_t value,
               const char *from)
{
    assert(dims->n < SHAPE_MAX_DIMS);
    dims->items[dims->n++] = (struct dimension){name, value, from};
}

/* The part of text before the first `stop`, which is dropped from text; all
 * of it when there is none. */
static struct shape_text take(struct shape_text *text, char stop)
{
    struct shape_text part = *text;
    const char *at = memchr(text->start, stop, text->length);

    if (at == NULL) {
        text->length = 0;
        return part;
    }
    part.length = (size_t)(at - text->start);
    text->length -= part.length + 1;
    text->start = at + 1;
    return part;
}

/* "flag?a:b" is a when the member is not 0. */
static struct shape_text choose(struct shape_text text,
                                const struct dimensions *dims)
{
    const struct dimension *flag;
    struct shape_text yes;

    if (memchr(text.start, '?', text.length) == NULL)
        return text;
    flag = dims_find(dims, take(&text, '?'));
    assert(flag != NULL);
    yes = take(&text, ':');
    return flag->value != 0 ? yes : text;
}

void shape_sides(const char *shape, const struct dimensions *dims,
                 struct shape_text sides[2])
{
    struct shape_text text = {shape, strlen(shape)};
    struct shape_text rows = take(&text, ',');

    sides[0] = choose(rows, dims);
    sides[1] = choose(text, dims);
}

bool shape_is_free(struct shape_text expression, const struct dimensions *dims)
{
    return memchr(expression.start, '*', expression.length) == NULL &&
           !isdigit((unsigned char)expression.start[0]) &&
           dims_find(dims, expression) == NULL;
}

bool shape_value(struct shape_text expression, const struct dimensions *dims,
                 int64_t *out)
{
    int64_t product = 1;

    while (expression.length > 0) {
        struct shape_text factor = take(&expression, '*');
        const struct dimension *dim = dims_find(dims, factor);
        int64_t value;

        assert(dim != NULL || isdigit((unsigned char)factor.start[0]));
        value = dim != NULL ? dim->value : factor.start[0] - '0';
        if (__builtin_mul_overflow(product, value, &product))
            return false;
    }
    *out = product;
    return true;
}

/* Appends to a text that may already be full. */
__attribute__((format(printf, 3, 4))) static void
append(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(out + used, size - used, format, arguments);
    va_end(arguments);
}

/* " (O = 3 from targets)": where the names that no member gives come from. */
static void append_sources(struct shape_text expression,
                           const struct dimensions *dims, char *out,
                           size_t size)
{
    bool single = memchr(expression.start, '*', expression.length) == NULL;
    const char *separator = " (";

    while (expression.length > 0) {
        struct shape_text factor = take(&expression, '*');
        const struct dimension *dim = dims_find(dims, factor);

        if (dim == NULL || dim->from == NULL)
            continue;
        append(out, size, "%s", separator);
        if (!single)
            append(out, size, "%.*s = %" PRId64 " ", (int)factor.length,
                   factor.start, dim->value);
        append(out, size, "from %s", dim->from);
        separator = ", ";
    }
    if (separator[0] == ',')
        append(out, size, ")");
}

void shape_words(struct shape_text expression, const struct dimensions *dims,
                 int64_t value, char *out, size_t size)
{
    out[0] = '\0';
    if (!isdigit((unsigned char)expression.start[0]) ||
        memchr(expression.start, '*', expression.length) != NULL)
        append(out, size, "%.*s = ", (int)expression.length, expression.start);
    append(out, size, "%" PRId64, value);
    append_sources(expression, dims, out, size);
}
