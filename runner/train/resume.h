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
    int attempt;      /* the number of whose checkpoint it is */
    json_t *attempts; /* entries of the earlier attempts, or NULL */
    char *started;    /* of the first attempt, or NULL */
    bool found;
};

/* Begins *out with what the earlier attempts wrote of themselves: attempts and
 * started.  To be asked before this attempt's first run.json, which hands it
 * on.  resume_free also after an error. */
int resume_history(const struct attempt *attempt, struct resume_point *out,
                   struct m2_error *err);

/* Looks through the earlier attempts, newest first, for the valid checkpoint
 * with the most steps.  One that is damaged, or lacks the metric rows or the
 * best checkpoint that belong to it, is passed over, with a word.  Copies the
 * best checkpoint into the new attempt's folder.  Other numerics are refused
 * (M2_E_RESULTS) unless mixed.  *out comes from resume_history. */
struct resume_request {
    const struct attempt *attempt;
    const char *identity;
    const char *numerics; /* of this process */
    bool mixed;           /* go on under other numerics */
    bool needs_best;      /* the best checkpoint is kept */
};
int resume_find(const struct resume_request *request, struct resume_point *out,
                struct m2_error *err);

/* Would the next attempt be refused as resume_find refuses it?  `active` is the
 * run's folder of attempts; request->attempt is not used, nothing is changed.
 * M2_E_RESULTS with the same reason. */
int resume_check(const struct resume_request *request, const char *active,
                 struct m2_error *err);
void resume_free(struct resume_point *point);

#endif
