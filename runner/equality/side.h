/* One side of a comparison: an experiment on one device, trained step by step
 * with nothing between two steps: no evaluation, no checkpoint, no files. */
#ifndef M2_EQUALITY_SIDE_H
#define M2_EQUALITY_SIDE_H

#include "train/session.h"
#include "train/trace.h"
#include "train/update.h"

struct side {
    struct config config; /* the experiment's, with this side's device */
    struct session session;
    struct updater *updater;
    int64_t step, epoch, cursor; /* of the step to come, from 0 */
    uint8_t trace[TRACE_BYTES];  /* of the steps so far */
};

/* What both sides have in common. */
struct equality_request {
    const struct config *config; /* the device in it is not looked at */
    const char *devices[2];      /* words as of the key `device` */
    int threads;                 /* at least 1 */
    int64_t steps;               /* at least 1; no more than the run has */
};

/* Which devices were compared. */
struct equality_device {
    char label[64], name[96]; /* "cuda:1", what the device is */
};

/* Only backend and device: which of two cannot be opened is known before the
 * data are read. */
int side_open_device(const struct equality_request *request, int index,
                     struct side *out, struct m2_error *err);

/* Everything, with the first parameters, before step 1. */
int side_open(const struct equality_request *request, int index,
              struct side *out, struct m2_error *err);
void side_close(struct side *side); /* all members zero is allowed */

/* The request's steps, or those that the whole run has. */
int64_t side_steps(const struct side *side,
                   const struct equality_request *request);

/* One training step, as a run makes it.  M2_E_DIVERGED as updater_run. */
int side_step(struct side *side, struct update *out, struct m2_error *err);

void side_describe(const struct side *side, struct equality_device *out);

/* Whether both sides are the same device of the same backend. */
bool side_is_same(const struct side *a, const struct side *b);

#endif
