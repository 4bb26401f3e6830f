/* The functions of expressions: one pointwise kernel each. */
#ifndef M2_DATA_FUNCTIONS_H
#define M2_DATA_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/dataset.h"

/* One row as a kernel sees it.  a and b point at the row's value of the
 * arguments, with `age` older rows of the piece before them; out likewise
 * points past the function's own earlier values. */
struct function_point {
    const double *a, *b, *out;
    int64_t age;
    int64_t n;
    int64_t time;
};

struct function {
    const char *name;
    int n_columns;     /* arguments that are expressions: 0, 1, 2 */
    int64_t n_low;     /* smallest n; 0: the function takes no n */
    int64_t n_default; /* 0: n must be given */
    /* Rows of history as a multiple of n, minus `less`; -1: unlimited. */
    int history, less;
    enum target_transform transform; /* with n = 1, of a column */
    bool is_return;
    /* NaN: no value; infinite: refused (domain). */
    double (*kernel)(const struct function_point *point);
    const char *help;
};

/* Ends with a NULL name. */
extern const struct function function_table[];

enum { FUNCTION_MAX_LENGTH = 1000000 };

#endif
