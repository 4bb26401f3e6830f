/* Computing a run once more, beside the first.
 *
 * The new run is worked as `m2run run` works one, by a worker process, in
 * RUN.repro-K/.work, a results folder of its own, so that a crash, a lack of
 * memory and a stop do here what they do there.  When it has ended its files
 * move up: RUN.repro-K is then a run directory like any other, but with a name
 * that no list and no sweep takes for a run.  K is the first free number.
 *
 * What was stopped keeps its .work and is gone on from by the next call that
 * asks for the same with the same program. */
#ifndef M2_REPRODUCE_RERUN_H
#define M2_REPRODUCE_RERUN_H

#include "util/text.h"

/* All borrowed. */
struct rerun_request {
    const char *run;    /* directory of the recorded run */
    const char *into;   /* folder for RUN.repro-K; NULL: that of the run */
    const char *record; /* text of a sweep record with one run (sweep/record.h),
                           which has: */
    const char *name, *label, *identity;
    int threads;
    int64_t cut_after; /* ends as if killed after this step; 0: at its end */
    bool quiet;
};

enum rerun_end {
    RERUN_ENDED,   /* state says how */
    RERUN_CUT,     /* after the step that was asked for */
    RERUN_STOPPED, /* on request: the same call goes on */
    RERUN_ERROR,   /* could not run; code says why, and stderr has been told */
};

struct rerun {
    enum rerun_end end;
    char *path;   /* RUN.repro-K */
    char *dir;    /* where its files are: path, or below when stopped; NULL:
                     there are none */
    char *traces; /* its trace file (trace_file.h) */
    char state[16];
    char *reason; /* of a state that is not done; or of the error */
    int code;     /* of RERUN_ERROR: enum m2_code */
};

/* Tells on stderr what earlier calls have left.  Free *out whatever the
 * result. */
int rerun_work(const struct rerun_request *request, struct rerun *out,
               struct m2_error *err);
void rerun_free(struct rerun *rerun);

#endif
