/* sweep: exclude: - which points of the product are runs. */
#ifndef M2_SWEEP_EXCLUDE_H
#define M2_SWEEP_EXCLUDE_H

#include "sweep/predicate.h"
#include "sweep/sweep.h"

struct exclusion {
    const struct node *node;
    struct predicate *predicate;
    size_t n_excluded; /* points for which it holds */
};

struct exclusions {
    struct exclusion *items;
    size_t n;
};

/* Reads the list.  M2_E_MEMORY or 0; errors go to `messages`. */
int exclusions_read(const struct experiment *experiment, struct tree *tree,
                    struct messages *messages, struct exclusions *out,
                    struct m2_error *err);
void exclusions_free(struct exclusions *exclusions);

/* Whether one of them holds for a point; counts for each. */
bool exclusions_apply(struct exclusions *exclusions,
                      const struct config *config, struct messages *messages);

/* Reports those that excluded nothing; when no point is left, all the others
 * as the reason. */
void exclusions_report(const struct exclusions *exclusions, size_t n_points,
                       size_t n_left, struct messages *messages);

#endif
