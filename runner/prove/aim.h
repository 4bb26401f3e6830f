/* When a worker is to be killed: by how far its metrics.csv has grown. */
#ifndef M2_PROVE_AIM_H
#define M2_PROVE_AIM_H

#include <stdbool.h>

#include "results/store.h"
#include "util/random.h"

struct aim_request {
    struct random_stream stream;
    int64_t final_bytes; /* of metrics.csv at the end */
    double step_s;       /* seconds of a step */
    size_t kills;
};

struct aim {
    struct aim_request request;
    size_t hits, workers; /* so far */
    int64_t furthest;     /* bytes at the hits so far */
    int64_t target;       /* bytes at which the next kill is due; -1: never */
    double delay_s, reached_s; /* after that; when that was, 0: not yet */
    int before;                /* the newest attempt when the worker began */
};

void aim_prepare(struct aim *aim, const struct aim_request *request);

/* A worker is about to be started: the next kill is drawn. */
void aim_begin(struct aim *aim, const struct run_place *place);

/* Is a kill due now?  Looks at what the worker has written. */
bool aim_is_due(struct aim *aim, const struct run_place *place);

/* The worker has died of the kill, its run is not done: the next one will be
 * further on.  True when it had rows, and rows were still to come. */
bool aim_hit(struct aim *aim, const struct run_place *place);

#endif
