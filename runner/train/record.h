/* run.json: what a run was, what it was made with, and what came out. */
#ifndef M2_TRAIN_RECORD_H
#define M2_TRAIN_RECORD_H

#include <jansson.h>

#include "results/attempt.h"
#include "train/evaluate.h"
#include "train/session.h"
#include "train/trainer.h"

#define RUN_SCHEMA 1

/* What a record is made from; members may be NULL while not yet known. */
struct record_facts {
    const char *name, *identity;
    const char *state;  /* running, done, ... */
    const char *reason; /* "" for a plain end */
    const struct attempt *attempt;
    const json_t *earlier_attempts; /* list of the earlier attempts' entries */
    const char *started;            /* of the first attempt, RFC 3339 */
    int64_t from_step;              /* where this attempt began */
    int from_attempt;               /* whose checkpoint that was; 0: none */
    int threads;
    const json_t *sheet;           /* fact_sheet.h, of this process */
    const struct session *session; /* NULL: not opened */
    const struct config *config;
    const json_t *settings;  /* {key: canonical text} of the resolved config */
    const char *fingerprint; /* data files and their SHA-256 */
    const struct train_outcome *outcome;
    struct evaluator *evaluator; /* baselines */
    const struct score *best;    /* validation score of the best step */
    const struct score *test;    /* n 0: no test part */
};

/* A new object (json_decref), or NULL when out of memory: a record never lacks
 * keys in silence. */
json_t *record_make(const struct record_facts *facts);

#endif
