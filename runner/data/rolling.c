/* Expressions one row at a time. */
#include "data/rolling.h"

#include <math.h>
#include <stdlib.h>

#include "data/expression_tree.h"
#include "util/memory.h"

/* One sub-expression, after its arguments in the list.  Every value is
 * written twice, `capacity` apart, so that the last `capacity` values always
 * lie one after the other, ending at at + capacity. */
struct node {
    const struct function *function; /* NULL: a column */
    size_t column;
    size_t arguments[2]; /* nodes */
    int64_t n;
    const struct expression *root; /* the expression it is a part of */
    double *values;                /* (2 * capacity) */
    size_t capacity, at;
};

struct rolling {
    struct node *nodes;
    size_t n_nodes, capacity;
    size_t *roots; /* (n) nodes */
    size_t n;
    int64_t age; /* rows of the piece before the last one; -1: none yet */
};

/* Adds e after its arguments.  history: values before the newest one that
 * whoever reads e looks at. */
static int add_node(struct rolling *rolling, const struct expression *e,
                    const struct expression *root, size_t history,
                    struct m2_error *err)
{
    struct node node = {.function = e->function,
                        .column = e->column,
                        .n = e->n,
                        .root = root,
                        .capacity = history < 1 ? 2 : history + 1};
    int n_columns = e->function != NULL ? e->function->n_columns : 0;

    for (int i = 0; i < n_columns; i++) {
        int code = add_node(rolling, e->arguments[i], root, (size_t)e->n, err);

        if (code != M2_OK)
            return code;
        node.arguments[i] = rolling->n_nodes - 1;
    }
    if (array_reserve(&rolling->nodes, &rolling->capacity, rolling->n_nodes + 1,
                      sizeof node, err) != 0)
        return M2_E_MEMORY;
    node.values = memory_zeroed(node.capacity, 2 * sizeof(double), err);
    if (node.values == NULL)
        return M2_E_MEMORY;
    rolling->nodes[rolling->n_nodes++] = node;
    return M2_OK;
}

int rolling_create(const struct expression *const *expressions, size_t n,
                   struct rolling **out, struct m2_error *err)
{
    struct rolling *rolling = memory_zeroed(1, sizeof *rolling, err);
    int code = M2_OK;

    if (rolling == NULL)
        return M2_E_MEMORY;
    rolling->n = n;
    rolling->age = -1;
    rolling->roots = memory_zeroed(n, sizeof *rolling->roots, err);
    if (rolling->roots == NULL)
        code = M2_E_MEMORY;
    for (size_t i = 0; i < n && code == M2_OK; i++) {
        code = add_node(rolling, expressions[i], expressions[i], 0, err);
        rolling->roots[i] = rolling->n_nodes - 1;
    }
    if (code != M2_OK) {
        rolling_free(rolling);
        return code;
    }
    *out = rolling;
    return M2_OK;
}

void rolling_free(struct rolling *rolling)
{
    if (rolling == NULL)
        return;
    for (size_t i = 0; i < rolling->n_nodes; i++)
        free(rolling->nodes[i].values);
    free(rolling->nodes);
    free(rolling->roots);
    free(rolling);
}

static double *newest(const struct node *node)
{
    return node->values + node->at + node->capacity;
}

static double evaluate(const struct rolling *rolling, const struct node *node,
                       int64_t time)
{
    struct function_point point = {
        .age = rolling->age, .n = node->n, .time = time, .out = newest(node)};

    if (node->function->n_columns > 0)
        point.a = newest(&rolling->nodes[node->arguments[0]]);
    if (node->function->n_columns > 1)
        point.b = newest(&rolling->nodes[node->arguments[1]]);
    return node->function->kernel(&point);
}

const struct expression *rolling_push(struct rolling *rolling, bool start,
                                      int64_t time, const double *values,
                                      double *out)
{
    const struct expression *refused = NULL;

    rolling->age = start ? 0 : rolling->age + 1;
    for (size_t i = 0; i < rolling->n_nodes; i++) {
        struct node *node = &rolling->nodes[i];
        double value;

        node->at = node->at + 1 < node->capacity ? node->at + 1 : 0;
        value = node->function == NULL ? values[node->column]
                                       : evaluate(rolling, node, time);
        if (node->function != NULL && isinf(value)) {
            value = NAN;
            refused = refused == NULL ? node->root : refused;
        }
        node->values[node->at] = *newest(node) = value;
    }
    for (size_t i = 0; i < rolling->n; i++)
        out[i] = *newest(&rolling->nodes[rolling->roots[i]]);
    return refused;
}
