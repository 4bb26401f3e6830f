/* A binary tree of gradient arenas, reduced as soon as two siblings meet. */
#include "train/gradient_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "util/memory.h"

/* A node that waits for its sibling; level -1: the arena is free. */
struct node {
    struct m2_buffer *buffer;
    int level;
    int64_t index;
};

struct gradient_tree {
    struct m2_device *device;
    int64_t n;
    int64_t n_leaves;
    struct node *nodes;
    size_t n_nodes, capacity;
};

static struct m2_view node_view(const struct gradient_tree *tree,
                                const struct node *node)
{
    return view_matrix(node->buffer, 0, 1, tree->n, tree->n,
                       device_real(tree->device));
}

static int grow(struct gradient_tree *tree, struct m2_error *err)
{
    struct m2_buffer *buffer;
    size_t bytes;
    int code = array_reserve(&tree->nodes, &tree->capacity, tree->n_nodes + 1,
                             sizeof *tree->nodes, err);

    if (code != 0)
        return code;
    if (!size_multiply((size_t)tree->n,
                       m2_dtype_size(device_real(tree->device)), &bytes))
        return m2_fail(err, M2_E_MEMORY, "gradient arena: size overflow");
    code = buffer_alloc(tree->device, bytes, &buffer, err);
    if (code == 0)
        tree->nodes[tree->n_nodes++] = (struct node){buffer, -1, 0};
    return code;
}

int gradient_tree_arenas(int64_t n_leaves)
{
    int arenas = 0;

    for (; n_leaves > 0; n_leaves /= 2)
        arenas++;
    return arenas;
}

int gradient_tree_create(struct m2_device *device, int64_t n,
                         int64_t n_leaves_max, struct gradient_tree **out,
                         struct m2_error *err)
{
    struct gradient_tree *tree = memory_zeroed(1, sizeof *tree, err);
    int arenas = gradient_tree_arenas(n_leaves_max), code = 0;

    if (tree == NULL)
        return M2_E_MEMORY;
    tree->device = device;
    tree->n = n;
    for (int i = 0; code == 0 && i < arenas; i++)
        code = grow(tree, err);
    if (code != 0) {
        gradient_tree_free(tree);
        return code;
    }
    *out = tree;
    return 0;
}

void gradient_tree_free(struct gradient_tree *tree)
{
    if (tree == NULL)
        return;
    for (size_t i = 0; i < tree->n_nodes; i++)
        buffer_free(tree->device, tree->nodes[i].buffer);
    free(tree->nodes);
    free(tree);
}

void gradient_tree_begin(struct gradient_tree *tree, int64_t n_leaves)
{
    tree->n_leaves = n_leaves;
    for (size_t i = 0; i < tree->n_nodes; i++)
        tree->nodes[i].level = -1;
}

static struct node *find(struct gradient_tree *tree, int level, int64_t index)
{
    for (size_t i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i].level == level && tree->nodes[i].index == index)
            return &tree->nodes[i];
    return NULL;
}

/* Level -1 marks free arenas, whatever their index. */
static struct node *find_free(struct gradient_tree *tree)
{
    for (size_t i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i].level == -1)
            return &tree->nodes[i];
    return NULL;
}

static int64_t level_width(const struct gradient_tree *tree, int level)
{
    int64_t width = tree->n_leaves;

    while (level-- > 0)
        width = (width + 1) / 2;
    return width;
}

/* Moves a node up as far as its siblings are there; the left one is always
 * the first term of the sum. */
static int reduce(struct gradient_tree *tree, struct node *node,
                  struct m2_error *err)
{
    while (level_width(tree, node->level) > 1) {
        int64_t sibling_index = node->index ^ 1;
        struct node *sibling = find(tree, node->level, sibling_index);
        struct node *left = node, *right = sibling;

        if (sibling_index < level_width(tree, node->level)) {
            struct m2_add add;
            int code;

            if (sibling == NULL)
                return 0;
            if (node->index & 1) {
                left = sibling;
                right = node;
            }
            add.a = node_view(tree, left);
            add.b = node_view(tree, right);
            add.y = add.a;
            code = op_call(tree->device, M2_OP_add, &add, err);
            if (code != 0)
                return code;
            right->level = -1;
        }
        node = left;
        node->level++;
        node->index /= 2;
    }
    return 0;
}

int gradient_tree_add(struct gradient_tree *tree, int64_t i,
                      const struct m2_view *gradient, struct m2_error *err)
{
    struct node *node = find_free(tree);
    struct m2_copy copy;
    int code = 0;

    assert(i >= 0 && i < tree->n_leaves);
    if (node == NULL) {
        code = grow(tree, err);
        node = find_free(tree);
    }
    if (code != 0)
        return code;
    copy.x = *gradient;
    copy.y = node_view(tree, node);
    code = op_call(tree->device, M2_OP_copy, &copy, err);
    if (code != 0)
        return code;
    node->level = 0;
    node->index = i;
    return reduce(tree, node, err);
}

int gradient_tree_finish(struct gradient_tree *tree, const struct m2_view *sum,
                         struct m2_error *err)
{
    int level = 0;
    struct node *root;
    struct m2_copy copy;

    while (level_width(tree, level) > 1)
        level++;
    root = find(tree, level, 0);
    assert(root != NULL);
    copy.x = node_view(tree, root);
    copy.y = *sum;
    return op_call(tree->device, M2_OP_copy, &copy, err);
}
