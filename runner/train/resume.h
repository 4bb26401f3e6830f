/* Finding the checkpoint a new attempt goes on from. */
#ifndef M2_TRAIN_RESUME_H
#define M2_TRAIN_RESUME_H

#include <jansson.h>

#include "results/attempt.h"
#include "train/trainer.h"

struct resume_point {
    struct train_resume resume;
    struct st_file file; /* what resume.file points to */
    char *dir;
    json_t *attempts; /* entries of the earlier attempts, or NULL */
    char *started;    /* of the first attempt, or NULL */
    bool found;
};

/* Looks through the earlier attempts, newest first, for the valid checkpoint
 * with the most steps; a damaged one is passed over, with a word.  Copies its
 * best checkpoint and log into the new attempt's folder.  numerics: of this
 * process; another one is refused (M2_E_RESULTS) unless mixed. */
int resume_find(const struct attempt *attempt, const char *identity,
                const char *numerics, bool mixed, struct resume_point *out,
                struct m2_error *err);
void resume_free(struct resume_point *point);

#endif
