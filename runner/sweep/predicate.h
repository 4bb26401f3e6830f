/* Predicates over a config: what sweep: exclude: is written in.
 *
 *     d_state == 64 && (d_model == 256 || lr >= 1e-3)
 *     !(loss == mse) && data.options.kind != "bars"
 *     tie_embedding && !conv_bias
 *
 *     expression: term { "||" term }
 *     term:       factor { "&&" factor }
 *     factor:     "!" factor | "(" expression ")" | KEY [ COMPARISON VALUE ]
 *
 * A key is a full name or a unique ending; one of true and false may stand
 * alone.  A value is read by the type of its key, with the key's range, so a
 * slip is an error and not a predicate that never holds: a word, a number,
 * text in quotes, or a list in brackets.  < <= > >= are for numbers.  What is
 * wrong is reported at the character where it stands. */
#ifndef M2_SWEEP_PREDICATE_H
#define M2_SWEEP_PREDICATE_H

#include "config/schema.h"
#include "config/tree.h"

struct predicate; /* opaque */

struct predicate_scope {
    const struct schema *schema;
    const struct config *base; /* complete; copied to read values into */
    struct tree *tree;         /* for the nodes of values */
    struct messages *messages;
};

/* Parses a scalar.  *out is NULL after an error in scope->messages.  Returns
 * M2_E_MEMORY or 0. */
int predicate_parse(const struct predicate_scope *scope,
                    const struct node *node, struct predicate **out,
                    struct m2_error *err);
void predicate_free(struct predicate *predicate);

/* Whether it holds for a config of the same schema.  A failed allocation is
 * left in *failed. */
bool predicate_holds(const struct predicate *predicate,
                     const struct config *config, bool *failed);

#endif
