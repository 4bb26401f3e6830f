/* Evaluating an expression over the rows of one series. */
#include "data/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/expression_tree.h"
#include "util/memory.h"

static int evaluate(const struct expression *e,
                    const struct expression_rows *rows, double *out,
                    struct expression_refused *refused, struct m2_error *err);

/* Why the function has no value here: as "log_ratio(a,b): a is 1, b is 0". */
static void describe(const struct expression *e,
                     const struct function_point *point,
                     struct expression_refused *refused)
{
    struct text text = {0};
    const double *values[2] = {point->a, point->b};

    expression_print(e, &text);
    for (int i = 0; i < e->function->n_columns; i++) {
        text_add(&text, i == 0 ? ": " : ", ");
        expression_print(e->arguments[i], &text);
        text_addf(&text, " is %.17g", values[i][0]);
    }
    if (e->n > 0 && point->age >= e->n)
        text_addf(&text, " after %.17g", point->a[-e->n]);
    snprintf(refused->text, sizeof refused->text, "%s", text_string(&text));
    text_free(&text);
}

static void apply(const struct expression *e,
                  const struct expression_rows *rows,
                  const double *const *arguments, double *out,
                  struct expression_refused *refused)
{
    struct function_point point = {.n = e->n};

    for (size_t t = 0; t < rows->n; t++) {
        point.age = rows->starts[t] || t == 0 ? 0 : point.age + 1;
        point.time = rows->times[t];
        point.out = out + t;
        if (e->function->n_columns > 0)
            point.a = arguments[0] + t;
        if (e->function->n_columns > 1)
            point.b = arguments[1] + t;
        out[t] = e->function->kernel(&point);
        if (!isinf(out[t]))
            continue;
        if (refused->n++ == 0) {
            refused->row = t;
            describe(e, &point, refused);
        }
        out[t] = NAN;
    }
}

static int evaluate_function(const struct expression *e,
                             const struct expression_rows *rows, double *out,
                             struct expression_refused *refused,
                             struct m2_error *err)
{
    double *owned[2] = {NULL, NULL};
    const double *arguments[2] = {NULL, NULL};
    int rc = M2_OK;

    for (int i = 0; i < e->function->n_columns && rc == M2_OK; i++) {
        const struct expression *argument = e->arguments[i];
        if (argument->function == NULL) {
            arguments[i] = rows->values[argument->column];
            continue;
        }
        owned[i] = memory_zeroed(rows->n, sizeof(double), err);
        arguments[i] = owned[i];
        rc = owned[i] == NULL
                 ? M2_E_MEMORY
                 : evaluate(argument, rows, owned[i], refused, err);
    }
    if (rc == M2_OK)
        apply(e, rows, arguments, out, refused);
    free(owned[0]);
    free(owned[1]);
    return rc;
}

static int evaluate(const struct expression *e,
                    const struct expression_rows *rows, double *out,
                    struct expression_refused *refused, struct m2_error *err)
{
    if (e->function != NULL)
        return evaluate_function(e, rows, out, refused, err);
    memcpy(out, rows->values[e->column], rows->n * sizeof *out);
    return M2_OK;
}

int expression_evaluate(const struct expression *e,
                        const struct expression_rows *rows, double *out,
                        struct expression_refused *refused,
                        struct m2_error *err)
{
    *refused = (struct expression_refused){0};
    if (rows->n == 0)
        return M2_OK;
    return evaluate(e, rows, out, refused, err);
}
