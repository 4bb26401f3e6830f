/* The sum of microbatch gradients as a fixed binary tree.
 *
 * Leaf i is the gradient of microbatch i, computed from zero.  Node (l, j) is
 * the sum (l-1, 2j) + (l-1, 2j+1); a last node without partner is passed up
 * unchanged.  The shape depends on the number of microbatches alone, so the
 * bits of the sum do not depend on the order in which leaves arrive.  Those
 * that arrive in order find room in gradient_tree_arenas(n) arenas, allocated
 * when the tree is created; leaves out of order need more and take them when
 * they come. */
#ifndef M2_TRAIN_GRADIENT_TREE_H
#define M2_TRAIN_GRADIENT_TREE_H

#include "backends/ops.h"

struct gradient_tree; /* opaque */

/* floor(log2(n_leaves)) + 1: with the leaf that has just come, at most one
 * node of each level waits. */
int gradient_tree_arenas(int64_t n_leaves);

/* n elements of the device's real type per gradient. */
int gradient_tree_create(struct m2_device *device, int64_t n,
                         int64_t n_leaves_max, struct gradient_tree **out,
                         struct m2_error *err);
void gradient_tree_free(struct gradient_tree *tree);

/* Forgets everything and expects n_leaves leaves. */
void gradient_tree_begin(struct gradient_tree *tree, int64_t n_leaves);

/* Takes a copy of leaf i. */
int gradient_tree_add(struct gradient_tree *tree, int64_t i,
                      const struct m2_view *gradient, struct m2_error *err);

/* Copies the root into `sum`; every leaf must have been added. */
int gradient_tree_finish(struct gradient_tree *tree, const struct m2_view *sum,
                         struct m2_error *err);

#endif
