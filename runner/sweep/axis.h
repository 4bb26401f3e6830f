/* Axes of a sweep: a key and the values it takes. */
#ifndef M2_SWEEP_AXIS_H
#define M2_SWEEP_AXIS_H

#include "sweep/sweep.h"

struct sweep_axis {
    size_t row;                /* of the schema */
    const char *short_name;    /* unique ending of the key: "lr" */
    struct place place;        /* of the key */
    const struct node **nodes; /* (count) */
    char **texts;              /* (count) canonical text of each value */
    size_t count;
};

/* The axes of an experiment: of sweep: grid: and of the command line.  Values
 * are checked one by one, and doubles left out with a warning.  Errors go to
 * `messages`; the result is M2_E_MEMORY or 0. */
int axes_read(const struct experiment *experiment, struct sweep *sweep,
              struct messages *messages, struct m2_error *err);
void axes_free(struct sweep_axis *axes, size_t n_axes);

/* sweep: seeds:, 1 when absent or wrong. */
size_t axes_read_seeds(const struct experiment *experiment,
                       struct messages *messages);

/* Reports keys of the sweep block that are unknown or not supported. */
void axes_check_block(const struct experiment *experiment,
                      struct messages *messages);

#endif
