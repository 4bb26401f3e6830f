/* What becomes of a run that is met in a certain state: the one rule table of
 * `m2run run`, which `m2run plan` prints.
 *
 *   state         no option    --retry STATE    --fresh
 *   pending       start        start            start
 *   stopped       continue     continue         begin anew
 *   interrupted   continue     continue         begin anew
 *   running       wait         wait             wait
 *   done          skip         (refused)        run again
 *   failed        skip         run again        run again
 *   diverged      skip         run again        run again
 *   oom           skip         run again        run again
 *
 * Where it says wait, --no-wait leaves the run to the others, and --takeover
 * takes it from them.  "run again" moves the published folder to
 * .old/<run>.K, "begin anew" the folders of the attempts.  Where the checkpoint
 * to continue from is of other numerics, and without --mixed, the run is
 * refused (train/resume.h). */
#ifndef M2_SCHEDULE_POLICY_H
#define M2_SCHEDULE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "m2_plugin.h"

enum run_action {
    ACTION_START,
    ACTION_CONTINUE, /* from its last checkpoint */
    ACTION_ANEW,     /* its attempts are set aside */
    ACTION_AGAIN,    /* what is published is set aside */
    ACTION_SKIP,
    ACTION_WAIT,      /* somebody works on it */
    ACTION_LEAVE,     /* the same, and we do not wait */
    ACTION_TAKE_OVER, /* the same, and we do not care */
    ACTION_REFUSE,    /* of other numerics: not the state decides */
};

struct run_policy {
    unsigned retry; /* states of --retry, as policy_parse_retry made them */
    bool fresh, no_wait, takeover;
};

/* "failed,oom", "all"; M2_E_USAGE for a word that is no such state. */
int policy_parse_retry(const char *text, unsigned *out, struct m2_error *err);

/* A state that is not known (damaged) is skipped. */
enum run_action policy_action(const struct run_policy *policy,
                              const char *state);
const char *policy_action_name(enum run_action action);

/* --max-failures: "3" runs, or "20%" of all. */
struct failure_limit {
    int64_t value; /* 0: no limit */
    bool percent;
};
int policy_parse_limit(const char *text, struct failure_limit *out,
                       struct m2_error *err);
bool policy_limit_reached(const struct failure_limit *limit, uint64_t n_failed,
                          uint64_t n_runs);

#endif
