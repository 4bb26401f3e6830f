/* Setting runs aside, so that they are run again and nothing is lost:
 *
 *   ROOT/<name>/.old/<run>.K/    K = 1, 2, ...
 *
 * holds a published folder, or the folder of an attempt, as it was.  Nothing
 * in the results folder looks there but a user who names the path. */
#ifndef M2_RESULTS_ASIDE_H
#define M2_RESULTS_ASIDE_H

#include "results/attempt.h"

/* Moves the published folder of a run aside, if its run.json carries this
 * token ("": none).  Two processes that have seen the same folder and want
 * the run again thus move it once, and never what the other has published
 * since: whoever moves a folder holds a lock on its run.json.  *path_out is
 * where it is now (the caller frees it), NULL when there was nothing to
 * move. */
int aside_published(const struct run_place *place, const char *token,
                    char **path_out, struct m2_error *err);

/* Moves all earlier attempts of a claimed run aside: there is nothing left to
 * go on from.  *n_out is their number. */
int aside_attempts(struct attempt *attempt, size_t *n_out,
                   struct m2_error *err);

#endif
