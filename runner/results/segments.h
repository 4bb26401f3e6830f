/* The stretches of steps that a run is made of: an attempt goes on from the
 * checkpoint of an earlier one, and what that one did beyond it is not part of
 * the result. */
#ifndef M2_RESULTS_SEGMENTS_H
#define M2_RESULTS_SEGMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct segment {
    int64_t attempt;
    int64_t from_step;
    int64_t to_step;      /* -1: not known */
    const json_t *entry;  /* of the attempt, borrowed from the list */
    const char *numerics; /* borrowed; NULL: not known */
};

/* Calls visit for every segment by the "attempts" of a run.json, the last one
 * first, as long as it returns true; false when one has not. */
bool segments_walk(const json_t *attempts,
                   bool (*visit)(void *context, const struct segment *segment),
                   void *context);

/* Were two of them computed under different numerics? */
bool segments_are_mixed(const json_t *attempts);

#endif
