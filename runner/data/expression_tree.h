/* Inside of an expression: shared by its parser and its evaluation. */
#ifndef M2_DATA_EXPRESSION_TREE_H
#define M2_DATA_EXPRESSION_TREE_H

#include "data/expression.h"
#include "data/functions.h"

struct expression {
    const struct function *function; /* NULL: a column */
    size_t column;                   /* of the source */
    char *name;                      /* of the column */
    struct expression *arguments[2];
    int64_t n;
};

#endif
