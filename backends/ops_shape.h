/* Dimensions and the small expressions of the contracts over them. */
#ifndef M2_BACKENDS_OPS_SHAPE_H
#define M2_BACKENDS_OPS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHAPE_MAX_DIMS = 16 };

/* A piece of a contract's text. */
struct shape_text {
    const char *start;
    size_t length;
};

struct dimension {
    struct shape_text name;
    int64_t value;
    const char *from; /* the argument it was read off; NULL: a member */
};

struct dimensions {
    struct dimension items[SHAPE_MAX_DIMS];
    size_t n;
};

void dims_bind(struct dimensions *dims, struct shape_text name, int64_t value,
               const char *from);
const struct dimension *dims_find(const struct dimensions *dims,
                                  struct shape_text name);

/* Splits "rows,columns" and takes the branch of a choice. */
void shape_sides(const char *shape, const struct dimensions *dims,
                 struct shape_text sides[2]);

/* Whether the expression is one name that has no value yet. */
bool shape_is_free(struct shape_text expression, const struct dimensions *dims);

/* The value of a product of dimensions and numbers; false when it does not
 * fit in an int64_t.  Every name must have a value. */
bool shape_value(struct shape_text expression, const struct dimensions *dims,
                 int64_t *out);

/* The expectation in words: "4", "I = 4 (from x)", "2*O = 6 (O = 3 from
 * targets)". */
void shape_words(struct shape_text expression, const struct dimensions *dims,
                 int64_t value, char *out, size_t size);

#endif
