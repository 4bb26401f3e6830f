/* sweep: exclude: - reading and counting. */
#include "sweep/exclude.h"

#include <stdlib.h>

#include "config/scalar.h"
#include "util/memory.h"

/* One condition, or a list of them. */
static const struct node *first_of(const struct node *exclude, size_t *n)
{
    *n = exclude->kind == NODE_LIST ? exclude->n_children : 1;
    return exclude->kind == NODE_LIST ? exclude->first : exclude;
}

static int read_one(const struct predicate_scope *scope,
                    const struct node *node, struct exclusions *out,
                    struct m2_error *err)
{
    struct exclusion *item = &out->items[out->n];
    int code;

    if (node->kind != NODE_SCALAR) {
        message_error(scope->messages, node->place,
                      "a condition is text, as \"d_state == 64 && d_model == "
                      "256\", not %s",
                      node_kind_name(node));
        return 0;
    }
    code = predicate_parse(scope, node, &item->predicate, err);
    item->node = node;
    if (code == 0 && item->predicate != NULL)
        out->n++;
    return code;
}

int exclusions_read(const struct experiment *experiment, struct tree *tree,
                    struct messages *messages, struct exclusions *out,
                    struct m2_error *err)
{
    const struct predicate_scope scope = {&experiment->schema,
                                          &experiment->config, tree, messages};
    const struct node *block = experiment->sweep;
    const struct node *exclude =
        block == NULL ? NULL : node_get(block, "exclude");
    const struct node *node;
    size_t n;
    int code = 0;

    *out = (struct exclusions){0};
    if (exclude == NULL || scalar_is_null(exclude))
        return 0;
    node = first_of(exclude, &n);
    out->items = memory_zeroed(n, sizeof *out->items, err);
    if (out->items == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; code == 0 && i < n; i++, node = node->next)
        code = read_one(&scope, node, out, err);
    return code;
}

void exclusions_free(struct exclusions *exclusions)
{
    for (size_t i = 0; i < exclusions->n; i++)
        predicate_free(exclusions->items[i].predicate);
    free(exclusions->items);
    *exclusions = (struct exclusions){0};
}

bool exclusions_apply(struct exclusions *exclusions,
                      const struct config *config, struct messages *messages)
{
    bool is_excluded = false;

    for (size_t i = 0; i < exclusions->n; i++) {
        struct exclusion *item = &exclusions->items[i];

        if (!predicate_holds(item->predicate, config, &messages->failed))
            continue;
        item->n_excluded++;
        is_excluded = true;
    }
    return is_excluded;
}

void exclusions_report(const struct exclusions *exclusions, size_t n_points,
                       size_t n_left, struct messages *messages)
{
    for (size_t i = 0; i < exclusions->n; i++) {
        const struct exclusion *item = &exclusions->items[i];

        if (item->n_excluded == 0)
            message_warning(messages, item->node->place,
                            "this excludes none of the %zu points", n_points);
        else if (n_left == 0)
            message_error(messages, item->node->place,
                          "no run is left: this excludes %zu of %zu point%s",
                          item->n_excluded, n_points, n_points == 1 ? "" : "s");
    }
}
